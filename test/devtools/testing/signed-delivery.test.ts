import { createHmac } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { defineDeployment } from '../../../src/deployment/define-deployment.ts';
import { eventBody } from '../../../src/devtools/testing/event-body.ts';
import { refusedDeliveries, signedDelivery } from '../../../src/devtools/testing/signed-delivery.ts';
import { orderEventNames } from '../../../src/events/event-names.ts';
import { defaultScheme, type SignatureScheme, schemeParts } from '../../../src/signature/signature-scheme.ts';
import { orderKey } from '../../support/bodies.ts';
import { refusal } from '../../support/refusal.ts';
import { credentials, quietWebhooks, recordingWebhooks } from '../../webhooks/deliveries.ts';

const spellings = ['awkward', 'compact'] as const;
const credited = eventBody('event.buy.credited.crypto');

/** Every part of a scheme in all its values, one at a time. */
const schemes: SignatureScheme[] = [
  ...schemeParts.serialization.map((serialization) => ({ ...defaultScheme, serialization })),
  ...schemeParts.encoding.map((encoding) => ({ ...defaultScheme, encoding })),
  ...schemeParts.construction.map((construction) => ({ ...defaultScheme, construction })),
  ...schemeParts.orderKey.map((orderKey) => ({ ...defaultScheme, orderKey })),
];

describe('signedDelivery', () => {
  it.each(orderEventNames)('is handled by a receiver, as it was built: %s', async (name) => {
    for (const spelling of spellings) {
      const { events, webhooks } = recordingWebhooks();
      const body = eventBody(name);
      const response = await webhooks.fetch(signedDelivery(body, { credentials, spelling }).request());
      expect(response.status).toBe(200);
      expect(events).toMatchObject([body]);
    }
  });

  it('is signed over the text without its signature, as node:crypto has it', () => {
    const { body } = signedDelivery(credited, { credentials, spelling: 'compact' });
    const unsigned = JSON.stringify(credited);
    const signature = createHmac('sha512', orderKey).update(unsigned).digest('hex');
    expect(body).toBe(`${unsigned.slice(0, -1)},"signature":"${signature}"}`);
  });

  it('has the names of the deployment', async () => {
    const deployment = defineDeployment({ wireNames: { platform_order_ref: 'acme_ref' } });
    const { body } = signedDelivery(credited, { credentials, deployment });
    expect(body).toContain('"acme_ref"');
    expect(body).not.toContain('platform_order_ref');
    const { events, webhooks } = recordingWebhooks({ deployment });
    expect((await webhooks.receive(body)).status).toBe(200);
    expect(events).toMatchObject([{ platform_order_ref: credited.platform_order_ref }]);
  });

  it('is signed by the merchant that is named', async () => {
    const { merchantSecretKey: _, ...keys } = credentials;
    const several = { ...keys, merchantSecretKeys: { NGN: 'sk_merchant_ngn', GHS: 'sk_merchant_ghs' } };
    const { body } = signedDelivery(credited, { credentials: several, merchant: 'GHS' });
    const ghs = { ...keys, merchantSecretKey: 'sk_merchant_ghs' };
    expect((await quietWebhooks({ credentials: ghs }).receive(body)).status).toBe(200);
    expect(refusal(() => signedDelivery(credited, { credentials: several }))).toBe(
      'ConfigurationError invalid_credentials',
    );
  });

  it('replaces a signature, and leaves out what is undefined', () => {
    const { body } = signedDelivery({ ...credited, signature: 'ab', note: undefined }, { credentials });
    expect(body).toBe(signedDelivery(credited, { credentials }).body);
  });

  it('goes to the callback URL of the body, to another, or to an example', () => {
    const to = (partner_callback_url: string) =>
      signedDelivery(eventBody('event.buy.init', { partner_callback_url }), { credentials }).url;
    expect(to('https://acme.example/hooks')).toBe('https://acme.example/hooks');
    expect([to(''), to('/hooks'), to('javascript:alert(1)')]).toEqual(
      Array(3).fill('https://partner.example/orders'),
    );
    const delivery = signedDelivery({}, { credentials });
    expect(delivery.request('https://acme.example/').url).toBe('https://acme.example/');
    expect(delivery.request().url).toBe('https://partner.example/orders');
  });

  it('shows no secret', () => {
    const delivery = signedDelivery(credited, { credentials });
    expect(inspect(delivery, { showHidden: true, depth: 9 }) + JSON.stringify(delivery)).not.toMatch(/sk_/);
  });

  it('refuses options and bodies that are wrong', () => {
    const wrong = [
      // @ts-expect-error misspelt
      () => signedDelivery(credited, { credentials, deploymnt: 1 }),
      // @ts-expect-error missing
      () => signedDelivery(credited, {}),
      // @ts-expect-error not made by defineDeployment
      () => signedDelivery(credited, { credentials, deployment: { signature: defaultScheme } }),
    ];
    expect(wrong.map(refusal)).toEqual([
      'ConfigurationError invalid_option',
      'ConfigurationError invalid_credentials',
      'ConfigurationError invalid_deployment',
    ]);
    for (const body of [[], new Map(), { a: Number.NaN }, { a: new Date(0) }, { a: 1n }]) {
      expect(refusal(() => signedDelivery(body, { credentials }))).toMatch(/^ValidationError/);
    }
  });
});

describe('refusedDeliveries', () => {
  const outcomesOfAll = {
    genuine: 200,
    forged: 'signature_mismatch',
    tampered: 'signature_mismatch',
    unsigned: 'signature_missing',
    wrongKey: 'signature_mismatch',
  };

  it.each(schemes)(
    'are refused where the genuine one is handled: $construction $serialization $encoding $orderKey',
    async (signature) => {
      const deployment = defineDeployment({ signature });
      for (const spelling of spellings) {
        const options = { credentials, deployment, spelling };
        const deliveries = {
          genuine: signedDelivery(credited, options),
          ...refusedDeliveries(credited, options),
        };
        const outcomes: Record<string, unknown> = {};
        for (const [name, delivery] of Object.entries(deliveries)) {
          const outcome = await quietWebhooks({ deployment }).receive(delivery.body);
          outcomes[name] = outcome.kind === 'refused' ? outcome.code : outcome.status;
        }
        expect(outcomes).toEqual(outcomesOfAll);
      }
    },
  );

  it('are the genuine delivery but for what is wrong with them', () => {
    const genuine = signedDelivery(credited, { credentials, spelling: 'compact' });
    const refused = refusedDeliveries(credited, { credentials, spelling: 'compact' });
    const { signature, ...body } = JSON.parse(genuine.body);
    expect(JSON.parse(refused.unsigned.body)).toEqual(body);
    expect(JSON.parse(refused.tampered.body)).toEqual({
      ...body,
      buyer_crypto_address: expect.not.stringMatching(body.buyer_crypto_address),
      signature,
    });
    for (const delivery of [refused.forged, refused.wrongKey]) {
      expect(JSON.parse(delivery.body)).toEqual({ ...body, signature: expect.not.stringMatching(signature) });
    }
    for (const { headers, url } of Object.values(refused))
      expect({ headers, url }).toEqual({ headers: genuine.headers, url: genuine.url });
  });
});
