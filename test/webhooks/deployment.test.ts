import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type DeploymentOptions, defineDeployment } from '../../src/deployment/define-deployment.ts';
import type { OrderEvent } from '../../src/events/order-event.ts';
import type { UnrecognizedEvent } from '../../src/events/parse-order-event.ts';
import { defaultScheme, type SignatureScheme } from '../../src/signature/signature-scheme.ts';
import { allSchemes, schemeName, signatureOf } from '../signature/vector-schemes.ts';
import { buyCreditedBody, buyInitBody, orderKey, signedText } from '../support/bodies.ts';
import { refusal } from '../support/refusal.ts';
import { delivery, quietWebhooks, unsignedText } from './deliveries.ts';

function deployment(options: Partial<DeploymentOptions>) {
  return defineDeployment({
    onboardingBaseUrl: 'https://onboarding.example',
    stagingUrl: 'https://staging.example',
    messengerBaseUrl: 'https://messenger.example',
    ...options,
  });
}

/** A body in which the order of members is that of their names, so that every serialisation gives one text. */
const sorted = JSON.stringify(
  Object.fromEntries(
    Object.entries({
      ...JSON.parse(unsignedText(buyInitBody())),
      payer_into_account: { account_name: 'A', account_number: '1', bank_name: 'B' },
      transactional_kyc: { email: '', first_name: '', last_name: '', phone: '' },
    }).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  ),
);

describe.each(allSchemes)(`a deployment that signs by ${schemeName}`, (scheme) => {
  const webhooks = () =>
    quietWebhooks({ deployment: deployment({ signature: scheme }) }).on('event.buy.init', () => {});

  it('has its events accepted', async () => {
    const sent = signedText(sorted, signatureOf(sorted, orderKey, scheme));
    expect(await webhooks().receive(sent)).toMatchObject({ kind: 'handled' });
  });

  it('has those of every other scheme refused', async () => {
    const others = allSchemes.filter(
      ({ construction, encoding }) => construction !== scheme.construction || encoding !== scheme.encoding,
    );
    for (const other of others) {
      const sent = signedText(sorted, signatureOf(sorted, orderKey, other));
      expect(await webhooks().receive(sent)).toMatchObject({ kind: 'refused', status: 401 });
    }
  });
});

describe('a deployment with a status of its own', () => {
  it('has its credit handled with the published status, and no other', async () => {
    const eventStatuses = { 'event.buy.credited.crypto': { crypto_payment_status: ['SETTLED'] } };
    const seen: unknown[] = [];
    const webhooks = quietWebhooks({ deployment: deployment({ eventStatuses }) }).on(
      'event.buy.credited.crypto',
      (event, { body }) => void seen.push([event.crypto_payment_status, body.crypto_payment_status]),
    );
    const credited = (status: string) => delivery(buyCreditedBody({ crypto_payment_status: status }));
    expect(await webhooks.receive(credited('SETTLED'))).toMatchObject({ kind: 'handled' });
    expect(await webhooks.receive(credited('FAILED'))).toMatchObject({ kind: 'unrecognized', status: 500 });
    expect(seen).toEqual([['PAID', 'SETTLED']]);
  });
});

describe('a deployment that signs joined values', () => {
  const scheme = { ...defaultScheme, serialization: 'query' } as const;
  const signature = createHmac('sha512', orderKey).update('event_name=x&order=A1&zed=7').digest('hex');

  it('has a body whose borders were moved taken for another one, not for a repetition', async () => {
    const seen: unknown[] = [];
    const webhooks = quietWebhooks({ deployment: deployment({ signature: scheme }) }).onUnrecognized(
      (event) => {
        seen.push(event.body.order);
      },
    );
    await webhooks.receive(`{"event_name":"x","order":"A1&zed=7","signature":"${signature}"}`);
    await webhooks.receive(`{"event_name":"x","order":"A1","zed":7,"signature":"${signature}"}`);
    expect(seen).toEqual(['A1&zed=7', 'A1']);
  });
});

describe('a deployment that signs the sorted text', () => {
  const options = { deployment: deployment({ signature: { ...defaultScheme, serialization: 'sorted' } }) };
  const text = '{"amount":10,"event_name":"event.sell.init"}';
  const signature = createHmac('sha512', orderKey).update(text).digest('hex');

  it('may send it in any order and spelling, and all of these are one delivery', async () => {
    let calls = 0;
    const webhooks = quietWebhooks(options).onUnrecognized(() => {
      calls++;
    });
    for (const sent of [
      `{"event_name":"event.sell.init","signature":"${signature}","amount":10.0}`,
      `{ "amount" : 1e1, "event_name" : "event.sell.init", "signature" : "${signature}" }`,
    ]) {
      expect(await webhooks.receive(sent)).toMatchObject({ status: 200 });
    }
    expect(calls).toBe(1);
  });

  it('gives the handler the text that was verified', async () => {
    let seen: string | undefined;
    const webhooks = quietWebhooks(options).onUnrecognized((_, context) => {
      seen = context.text;
    });
    await webhooks.receive(`{"event_name":"event.sell.init","signature":"${signature}","amount":10.0}`);
    expect(seen).toBe(text);
  });
});

describe('a deployment with names of its own', () => {
  const options = { deployment: deployment({ wireNames: { platform_order_ref: 'acme_order_ref' } }) };
  const { platform_order_ref, ...rest } = buyInitBody();
  const own = { ...rest, acme_order_ref: 'ref-9' };

  async function handled(body: Parameters<typeof delivery>[0]): Promise<OrderEvent> {
    let seen: OrderEvent | undefined;
    const webhooks = quietWebhooks(options).onAny((event) => {
      seen = event;
    });
    expect(await webhooks.receive(delivery(body))).toMatchObject({ kind: 'handled' });
    if (seen === undefined) throw new Error('No handler was called.');
    return seen;
  }

  it('has its events handled under the published names', async () => {
    const event = await handled(own);
    expect(event.platform_order_ref).toBe('ref-9');
    expect(event).not.toHaveProperty('acme_order_ref');
  });

  it('may send the published name all the same', async () => {
    expect((await handled({ ...rest, platform_order_ref: 'ref-8' })).platform_order_ref).toBe('ref-8');
  });

  it('loses neither when it sends both', async () => {
    const event = await handled({ ...own, platform_order_ref: 'ref-8' });
    expect(event).toMatchObject({ platform_order_ref: 'ref-8', acme_order_ref: 'ref-9' });
  });

  it('has them mapped in unrecognized events too', async () => {
    let seen: UnrecognizedEvent | undefined;
    const webhooks = quietWebhooks(options).onUnrecognized((event) => {
      seen = event;
    });
    await webhooks.receive(delivery({ event_name: 'event.sell.init', acme_order_ref: 'ref-9' }));
    expect(seen?.body).toMatchObject({ event_name: 'event.sell.init', platform_order_ref: 'ref-9' });
  });

  it('leaves the verified text as the service wrote it', async () => {
    let text: string | undefined;
    const webhooks = quietWebhooks(options).onAny((_, context) => {
      text = context.text;
    });
    await webhooks.receive(delivery(own));
    expect(text).toBe(unsignedText(own));
  });

  it('is nonconforming to webhooks that do not know them', async () => {
    let kind: string | undefined;
    const webhooks = quietWebhooks().onUnrecognized((event) => {
      kind = event.kind;
    });
    await webhooks.receive(delivery(own));
    expect(kind).toBe('nonconforming');
  });
});

describe('a deployment given in parts', () => {
  it('may have a scheme alone', async () => {
    const signature: SignatureScheme = { ...defaultScheme, encoding: 'base64' };
    const webhooks = quietWebhooks({ deployment: { signature, wireNames: {} } });
    const text = unsignedText(buyInitBody());
    const sent = signedText(text, createHmac('sha512', orderKey).update(text).digest('base64'));
    expect(await webhooks.receive(sent)).toMatchObject({ status: 200 });
  });

  it('is refused with a scheme that does not exist', () => {
    const signature = { ...defaultScheme, construction: 'md5' } as unknown as SignatureScheme;
    const options = { deployment: { signature, wireNames: {} } };
    expect(refusal(() => quietWebhooks(options))).toBe('ConfigurationError invalid_scheme');
  });
});
