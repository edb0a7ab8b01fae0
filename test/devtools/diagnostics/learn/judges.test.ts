import { describe, expect, it } from 'vitest';
import { signingKey } from '../../../../src/credentials/signing-key.ts';
import { defineDeployment } from '../../../../src/deployment/define-deployment.ts';
import { orderIdDigest } from '../../../../src/deployment/reply-shape.ts';
import { learn } from '../../../../src/devtools/diagnostics/learn/learn-from-samples.ts';
import type { JsonObject } from '../../../../src/internal/json.ts';
import { signBody } from '../../../../src/signature/sign-body.ts';
import { partnerCredentials } from '../../../drawn/partner.ts';
import { buyInitBody } from '../../../support/bodies.ts';

type Samples = Omit<Parameters<typeof learn>[0], 'credentials' | 'deliveries'> & {
  readonly deliveries?: Parameters<typeof learn>[0]['deliveries'];
};

async function verdictOf(id: string, { deliveries = [], ...samples }: Samples) {
  const { rows } = await learn({ deliveries, ...samples, credentials: partnerCredentials });
  return rows.find((row) => row.id === id)?.verdict;
}

function delivery(members: JsonObject, headers: Record<string, string> = {}) {
  const key = signingKey(partnerCredentials, 'order', {});
  return { body: signBody(buyInitBody(members), { key }).text, headers: Object.entries(headers) };
}

/** With one letter in another case, so that its checksum is wrong. */
const misspelt = 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7Lp';
const evm = '0x52908400098527886E0F7030069857D2E4169EE7';

describe('addresses', () => {
  it.each([
    ['a wrong checksum', misspelt],
    ['another chain', evm],
    ['another form', 'T123'],
  ])('with %s refute the form of the chain', async (_, buyer_crypto_address) => {
    const deliveries = ['A', 'B', 'C'].map((partner_order_id) =>
      delivery({ partner_order_id, chain: 'usdt-trc20', buyer_crypto_address }),
    );
    expect(await verdictOf('address-form', { deliveries })).toBe('refuted');
  });
});

it('close events, which have any chain, say nothing of the form of addresses', async () => {
  const deliveries = ['A', 'B', 'C'].map((partner_order_id) =>
    delivery({
      partner_order_id,
      event_name: 'buy.event.close',
      chain: 'eusd-mob',
      buyer_crypto_address: evm,
    }),
  );
  expect(await verdictOf('address-form', { deliveries })).toBe('not-seen');
});

describe('three events without platform_order_ref', () => {
  const referenceOf = async (members: JsonObject) => {
    const deliveries = ['A', 'B', 'C'].map((id) => {
      const { platform_order_ref: _, ...body } = buyInitBody({ partner_order_id: id, ...members });
      return { body: signBody(body, { key: signingKey(partnerCredentials, 'order', {}) }).text };
    });
    const { deployment } = await learn({ deliveries, credentials: partnerCredentials });
    return deployment.wireNames?.platform_order_ref;
  };

  it.each([
    ['acme_order_ref', { acme_order_ref: 'P-1' }],
    ['acmeReference', { acmeReference: 'P-1' }],
    ['acme_id', { acme_id: '0a1b', sent_at: '2026-01-01T00:00:00Z', fee: 1 }],
    ['acme_ref', { acme_ref: 'P-1', note: 'for you', event_id: 'e-1' }],
  ])('name it in the one member that can be it: %s', async (name, members) => {
    expect(await referenceOf(members)).toBe(name);
  });

  it.each([
    { event_id: 'e-1', acme_id: 'P-1' },
    { note: 'of several words' },
    { created_at: '2026-01-01T00:00:00Z' },
    { acme_ref: 'P-1', other_ref: 'P-2' },
    { message: 'P-1' },
    { event_name: 'event.sell.init', acme_id: 'P-1' },
  ])('settle nothing where several can be it, or none: %j', async (members) => {
    expect(await referenceOf(members)).toBeUndefined();
  });
});

it('one encoded event refutes that events are not encoded', async () => {
  const deliveries = [delivery({}, { 'Content-Encoding': 'gzip' })];
  expect(await verdictOf('event-content-type', { deliveries })).toBe('refuted');
});

describe('replies to messages', () => {
  const replies = (...shapes: unknown[]) =>
    shapes.map((shape, at) => ({
      operation: 'sendMessage',
      status: 200,
      shape,
      at: `2026-01-01T00:0${at}:00Z`,
    }));
  const plain = { message: 'The message was sent.' };

  it.each<[string, unknown[], string]>([
    ['three that deny nothing prove', [plain, {}, undefined], 'proven'],
    ['two prove nothing of', [plain, plain], 'not-seen'],
    ['one that denies leaves open', [plain, plain, plain, { success: false }], 'not-seen'],
    ['three texts that are not JSON refute', ['OK', 'OK', 'OK'], 'refuted'],
  ])('%s what sends one', async (_, shapes, verdict) => {
    expect(await verdictOf('message-reply', { replies: replies(...shapes) })).toBe(verdict);
  });

  it('are read as the deployment reads them', async () => {
    const deployment = defineDeployment<unknown>({ readMessageReply: () => 'accepted' });
    expect(await verdictOf('message-reply', { replies: replies('OK', 'OK', 'OK'), deployment })).toBe(
      'proven',
    );
  });
});

describe('orders, with the replies to them,', () => {
  const reply = (id: string, status: number, shape: unknown = { ref: 'text' }) => ({
    operation: 'createOrder',
    status,
    order: orderIdDigest(id),
    shape,
  });
  const event = (id: string, reference = id) =>
    delivery({ partner_order_id: id, platform_order_ref: reference });
  const learnOf = async (id: string, samples: Samples) => {
    const { rows } = await learn({ deliveries: [], ...samples, credentials: partnerCredentials });
    return rows.find((row) => row.id === id);
  };

  it.each([
    ['errors', 400],
    ['order-rate-limit', 429],
  ])(
    'refute %s by one with status %i that the service has, and say to set it to unknown',
    async (id, status) => {
      const replies = [reply('A', status)];
      const row = await learnOf(id, { replies, deliveries: [event('A')] });
      expect(row).toMatchObject({ verdict: 'refuted', set: { orderStatuses: { [status]: 'unknown' } } });
      expect(await learnOf(id, { replies })).toMatchObject({ verdict: 'not-seen', samples: 0 });
    },
  );

  it('say nothing of a status where an attempt before it had no reply', async () => {
    const lost = { operation: 'createOrder', code: 'timeout', order: orderIdDigest('A') };
    const replies = [lost, reply('A', 400)];
    expect(await verdictOf('errors', { replies, deliveries: [event('A')] })).toBe('not-seen');
  });

  it.each([
    ['unknown', 'proven'],
    ['same-order', 'refuted'],
  ] as const)(
    'with a second reference, and duplicateIds %j, leave it %s that an id twice is two orders',
    async (duplicateIds, verdict) => {
      const replies = [reply('A', 200), reply('A', 200)];
      const deliveries = [event('A', 'first'), event('A', 'second')];
      const deployment = defineDeployment<unknown>({ duplicateIds });
      expect(await verdictOf('partner-order-id', { replies, deliveries, deployment })).toBe(verdict);
      const once = { replies, deliveries: deliveries.slice(0, 1), deployment };
      expect(await verdictOf('partner-order-id', once)).toBe('not-seen');
    },
  );

  const ids = ['A', 'B', 'C'];
  const texts = (text: (id: string) => unknown, more: readonly string[] = []) => ({
    replies: [...ids, ...more].map((id) => reply(id, 200, text(id))),
    deliveries: ids.map((id) => event(id)),
  });

  it.each<[string, Samples, object]>([
    ['of objects prove', texts(() => ({ ref: 'text' })), { verdict: 'proven' }],
    [
      'that are lists refute, with what to set,',
      texts(() => []),
      { verdict: 'refuted', set: { readOrderReply: { accepted: [{ status: 200, body: 'list' }] } } },
    ],
    [
      'that your own rule refuses, yet have events, refute, without anything to set,',
      {
        ...texts(() => ({ ref: 'text' })),
        deployment: defineDeployment<unknown>({ readOrderReply: () => 'refused' }),
      },
      { verdict: 'refuted', set: undefined },
    ],
    [
      'that differ in their text refute, without anything to set,',
      texts((id) => id),
      { verdict: 'refuted', set: undefined },
    ],
    [
      'leave open, as long as an order with the same reply has no event,',
      texts(() => 'OK', ['D']),
      { verdict: 'not-seen' },
    ],
  ])('three replies %s how an acceptance looks', async (_, samples, expected) => {
    const { verdict, set } = (await learnOf('order-reply', samples)) ?? {};
    expect({ verdict, set }).toMatchObject(expected);
  });
});
