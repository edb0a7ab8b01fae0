import { describe, expect, it } from 'vitest';
import { signingKey } from '../../../src/credentials/signing-key.ts';
import { assumptions } from '../../../src/deployment/assumptions.ts';
import { defineDeployment } from '../../../src/deployment/define-deployment.ts';
import { type CapturedDelivery, learn } from '../../../src/diagnostics/learn/learn.ts';
import { createSandbox } from '../../../src/sandbox/create-sandbox.ts';
import { drawService } from '../../../src/sandbox/drawn/draw-service.ts';
import type { ServiceOptions } from '../../../src/sandbox/drawn/service-traits.ts';
import { eventFaultNames } from '../../../src/sandbox/faults/event-faults.ts';
import { signBody } from '../../../src/signature/sign-body.ts';
import { defaultScheme } from '../../../src/signature/signature-scheme.ts';
import { createWebhooks } from '../../../src/webhooks/create-webhooks.ts';
import { partnerCredentials } from '../../drawn/partner.ts';
import { bearer, order, post } from '../../sandbox/support.ts';
import { buyInitBody } from '../../support/bodies.ts';

const courses = [
  ['fiat_received', 'credited'],
  ['no_kyc', 'third_party_payment', 'third_party_error', 'refunded'],
] as const;

/** What a partner captures of a service on a day. */
async function capture(options: ServiceOptions = {}, days = 3): Promise<CapturedDelivery[]> {
  const captured: CapturedDelivery[] = [];
  const sandbox = createSandbox({
    ...options,
    seed: 'learn',
    whitelist: 'off',
    clock: 'manual',
    now: () => 1_700_000_000_000,
    partners: [{ credentials: partnerCredentials }],
    faults: Object.fromEntries(
      Object.entries(options.faults ?? {}).filter(([name]) => eventFaultNames.some((each) => each === name)),
    ),
    async fetch(_, init) {
      const receivedAt = new Date(1_704_067_200_000 + captured.length).toISOString();
      captured.push({ body: String(init?.body), headers: new Headers(init?.headers), receivedAt });
      return new Response(null, { status: 200 });
    },
  });
  for (let day = 0; day < days; day++) {
    for (const [index, steps] of courses.entries()) {
      const partner_order_id = `D-${day}-${index}`;
      const partner_callback_url = 'https://partner.example/orders/P-1';
      const { signature } = sandbox.deployment;
      const { text } = signBody(
        { ...order, partner_order_id, partner_callback_url },
        { key: signingKey(partnerCredentials, 'order', { scheme: signature }), scheme: signature },
      );
      await post(sandbox, 'createOrder', text, { authorization: bearer(partnerCredentials) });
      await sandbox.idle();
      for (const step of steps) {
        await sandbox.advance(partner_order_id, step);
        await sandbox.idle();
      }
    }
  }
  for (let round = 0; round < 20 && sandbox.clock.nextAt !== undefined; round++) {
    await sandbox.clock.advance(sandbox.clock.nextAt - sandbox.clock.now());
    await sandbox.idle();
  }
  await sandbox.close();
  return captured;
}

async function learnt(options?: ServiceOptions, days?: number) {
  const report = await learn({ deliveries: await capture(options, days), credentials: partnerCredentials });
  return { ...report, row: (id: string) => report.rows.find((row) => row.id === id) };
}

const change = (name: string, member: string, value: string | number): ServiceOptions => ({
  event: (body) => (body.event_name === name ? { ...body, [member]: value } : body),
});
const scheme = (part: object): ServiceOptions => ({ signature: { ...defaultScheme, ...part } });

const merchants = { ngn: 'sk_merchant_ngn', ghs: 'sk_merchant_ghs' };

it.each([
  [['ngn', 'ngn', 'ngn'], 'not-seen'],
  [['ngn', 'ghs', 'ngn'], 'proven'],
])(
  'events under the keys of %j leave it %s that a partner has several merchants',
  async (signers, verdict) => {
    const { merchantSecretKey: _, ...partner } = partnerCredentials;
    const credentials = { ...partner, merchantSecretKeys: merchants };
    const deliveries = signers.map((merchant, index) => {
      const key = signingKey(credentials, 'order', { merchant });
      return { body: signBody(buyInitBody({ partner_order_id: `M-${index}` }), { key }).text };
    });
    const { rows } = await learn({ deliveries, credentials });
    expect(rows.find(({ id }) => id === 'several-merchants')).toMatchObject({ verdict });
  },
);

describe('a service as assumed', () => {
  it('proves what its events can show, has nothing to set, and leaves the rest open with a way to see it', async () => {
    const { rows, deployment, deliveries } = await learnt();
    expect(rows.map(({ id }) => id)).toEqual(assumptions.map(({ id }) => id));
    expect(rows.filter(({ verdict }) => verdict === 'refuted')).toEqual([]);
    expect(rows.flatMap(({ id, verdict }) => (verdict === 'proven' ? id : []))).toEqual([
      'signature-construction',
      'signature-serialization',
      'signature-encoding',
      'signature-key',
      'merchant-concatenation',
      'terminal-crypto-status',
      'third-party-spelling',
      'third-party-error-body',
      'timestamp-form',
      'close-status',
      'event-shape',
      'event-content-type',
      'event-replay',
    ]);
    expect(rows.every(({ verdict, howToSee }) => (verdict === 'not-seen') === (howToSee !== undefined))).toBe(
      true,
    );
    expect(deployment).toEqual({});
    expect(deliveries).toEqual({ genuine: 24, others: 0 });
  });

  it('says since when, and names a sample', async () => {
    const { row } = await learnt();
    expect(row('event-shape')).toMatchObject({
      since: '2024-01-01T00:00:00.000Z',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('proves nothing about events by one day alone', async () => {
    const { row } = await learnt({}, 1);
    for (const id of ['terminal-crypto-status', 'close-status', 'event-shape', 'event-replay'])
      expect(row(id)?.verdict).toBe('not-seen');
  });
});

describe('a service with the other habit is refuted', () => {
  it.each<[string, ServiceOptions]>([
    ['signature-construction', scheme({ construction: 'hash-suffix' })],
    ['signature-serialization', scheme({ serialization: 'python-sorted' })],
    ['signature-encoding', scheme({ encoding: 'base64' })],
    ['signature-key', scheme({ orderKey: 'partner+merchant' })],
    ['merchant-concatenation', scheme({ keySeparator: ':' })],
    ['branded-names', { wireNames: { platform_order_ref: 'acme_order_ref' } }],
  ])('%s, and its override makes a receiver accept its events', async (id, options) => {
    const deliveries = await capture(options);
    const { rows, deployment } = await learn({ deliveries, credentials: partnerCredentials });
    const row = rows.find((each) => each.id === id);
    expect(row).toMatchObject({ verdict: 'refuted', set: expect.anything(), digest: expect.any(String) });
    expect(rows.filter(({ verdict }) => verdict === 'refuted').map((each) => each.id)).toEqual([id]);
    const webhooks = createWebhooks({
      credentials: partnerCredentials,
      deployment: defineDeployment(deployment),
    });
    const seen: string[] = [];
    webhooks.onAny(({ event_name }) => void seen.push(event_name));
    for (const { body } of deliveries) await webhooks.receive(body);
    expect(seen).toHaveLength(deliveries.length);
  });

  it.each<[string, ServiceOptions, string]>([
    [
      'terminal-crypto-status',
      change('event.buy.credited.crypto', 'crypto_payment_status', 'SETTLED'),
      'SETTLED',
    ],
    [
      'third-party-spelling',
      change('event.buy.received.fiat_kyc_error', 'kyc_error_type', 'PAYER_MISMATCH'),
      'PAYER_MISMATCH',
    ],
    [
      'timestamp-form',
      change('event.buy.received.fiat_kyc_error', 'created_at', '23/11/2026 10:00'),
      'a text in another form',
    ],
    [
      'timestamp-form',
      change('event.buy.received.fiat_kyc_error', 'created_at', 1_795_428_000_000),
      'a number',
    ],
    ['event-shape', change('event.buy.init', 'fiat_payment_status', 'CREATED'), 'fiat_payment_status'],
    ['event-replay', { event: (body) => ({ ...body, sent_at: 1_795_428_000 }) }, 'sent_at'],
    [
      'third-party-error-body',
      change('event.buy.third_party_error', 'partner_order_id', 7),
      'partner_order_id',
    ],
  ])('%s, which a person has to settle', async (id, options, found) => {
    const { rows, row, deployment } = await learnt(options);
    expect(row(id)).toMatchObject({ verdict: 'refuted', person: expect.any(String) });
    expect(row(id)?.found.join()).toContain(found);
    expect(rows.filter(({ verdict }) => verdict === 'refuted').map((each) => each.id)).toEqual([id]);
    expect(deployment).toEqual({});
  });

  it('close-status', async () => {
    const { row } = await learnt({
      event: (body) =>
        body.event_name === 'buy.event.close' && typeof body.meta_data === 'object'
          ? { ...body, meta_data: { ...body.meta_data, status: 'closed' } }
          : body,
    });
    expect(row('close-status')).toMatchObject({ verdict: 'refuted', found: ['closed'] });
  });
});

it('sees repetitions, events of other names, and members that had to be read', async () => {
  const { row } = await learnt({ faults: { duplicate: 1, sell_side: 0.5 } });
  expect(row('event-order')).toMatchObject({ verdict: 'proven', found: expect.arrayContaining(['twice']) });
  expect(row('other-events')?.verdict).toBe('proven');
  const read = await learnt(change('event.buy.credited.crypto', 'crypto_payment_status', 'paid'));
  expect(read.row('event-readings')?.verdict).toBe('proven');
  expect(read.row('terminal-crypto-status')?.verdict).toBe('not-seen');
});

it('does not settle what the samples cannot tell apart', async () => {
  const { row, deployment } = await learnt({ eventSpelling: 'compact' });
  expect(row('signature-serialization')?.verdict).not.toBe('refuted');
  expect(deployment).toEqual({});
});

it('counts apart what no key has signed, and whatever is no delivery', async () => {
  const genuine = await capture();
  const forged = genuine.map(({ body }) => ({ body: String(body).replace('pair', 'pear') }));
  // Sound: what a program without types can pass.
  const odd = [{ body: '' }, { body: '[]' }, { body: '{"a":' }, { body: 7 }] as CapturedDelivery[];
  const deliveries = [...odd, forged[0] ?? { body: '' }, ...genuine, ...forged];
  const report = await learn({ deliveries, credentials: partnerCredentials });
  const alone = await learn({ deliveries: genuine, credentials: partnerCredentials });
  expect(report.deliveries).toEqual({ genuine: genuine.length, others: 5 + forged.length });
  expect(report.rows).toEqual(alone.rows);
});

it('holds no value of a buyer, and no key', async () => {
  const deliveries = await capture(change('event.buy.init', 'fiat_payment_status', 'CREATED'));
  const text = JSON.stringify(await learn({ deliveries, credentials: partnerCredentials }));
  const allowed =
    /^(event_name|fiat_payment_status|crypto_payment_status|kyc_error_type|status|pair|chain|fiat_currency)$/;
  const values = deliveries.flatMap(({ body }) => valuesOf(JSON.parse(String(body)), allowed));
  expect(values.length).toBeGreaterThan(100);
  expect(values.filter((value) => text.includes(value))).toEqual([]);
  for (const key of Object.values(partnerCredentials).filter((each) => each.includes('_')))
    expect(text).not.toContain(key);
});

function valuesOf(value: unknown, allowed: RegExp, name = ''): string[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([each, inner]) => valuesOf(inner, allowed, each));
  const text = String(value);
  return allowed.test(name) || text.length < 5 ? [] : [text];
}

it.each(Array.from({ length: 20 }, (_, seed) => seed))(
  'says no wrong word of drawn service %i',
  async (seed) => {
    const { options, assumptions: broken } = drawService(seed, {
      // Whether there is an order, and whose keys sign; changed members break rows that the draw does not name.
      asDocumented: [
        'merchants',
        'keyLifetime',
        'orderPath',
        'allowedValues',
        'whitelist',
        'partnerId',
        'duplicateOrders',
        'members',
      ],
    });
    const { rows, row, deployment } = await learnt({ ...options, merchants: undefined });
    const refuted = rows.flatMap(({ id, verdict }) => (verdict === 'refuted' ? id : []));
    const wrong = refuted.filter((id) => !broken.includes(id));
    // An event of another name proves that there are others, also where it stands for a published one.
    const blind = broken.filter((id) => row(id)?.verdict === 'proven' && id !== 'other-events');
    expect({ wrong, blind }).toEqual({ wrong: [], blind: [] });
    expect(defineDeployment(deployment).signature).toBeDefined();
  },
);

it('reads 3,000 deliveries of one service one by one', async () => {
  const day = await capture();
  let given = 0;
  async function* deliveries() {
    for (; given < 3_000; given++) yield day[given % day.length] ?? { body: '' };
  }
  const report = await learn({ deliveries: deliveries(), credentials: partnerCredentials });
  expect(report.deliveries).toEqual({ genuine: 3_000, others: 0 });
});

it('refuses options that it cannot read', async () => {
  // Sound: what a program without types can pass.
  await expect(learn({ deliveries: 7, credentials: partnerCredentials } as never)).rejects.toMatchObject({
    code: 'invalid_option',
  });
});
