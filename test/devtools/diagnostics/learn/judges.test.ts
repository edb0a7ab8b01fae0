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

describe('old keys that work hours after new ones were asked for', () => {
  const regeneration = { operation: 'regenerateKeys', status: 200, at: '2026-01-01T00:00:00Z', key: 'old' };
  const later = { operation: 'createOrder', status: 200, at: '2026-01-01T03:00:00Z', key: 'old' };
  const byNew = { operation: 'createOrder', status: 200, at: '2026-01-01T01:00:00Z', key: 'new' };

  it('say nothing while no newer key has worked: nobody may have opened the link', async () => {
    expect(await verdictOf('old-keys-die', { replies: [regeneration, later] })).toBe('not-seen');
  });

  it('refute that they die, once a newer one has', async () => {
    expect(await verdictOf('old-keys-die', { replies: [regeneration, byNew, later] })).toBe('refuted');
  });
});

describe('404 for three orders', () => {
  const missing = Array.from({ length: 3 }, () => ({ operation: 'createOrder', status: 404 }));

  it('says nothing of the path while the address may not be whitelisted', async () => {
    expect(await verdictOf('order-path', { replies: missing })).toBe('not-seen');
  });

  it('refutes the path once it is', async () => {
    const replies = [{ operation: 'whitelistIp', status: 200 }, ...missing];
    expect(await verdictOf('order-path', { replies })).toBe('refuted');
  });
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

describe('an order that is answered with 409, and has no event', () => {
  const at = (hours: number) => new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000).toISOString();
  const reply = (id: string, hours: number, status = 200) => ({
    operation: 'createOrder',
    status,
    at: at(hours),
    order: orderIdDigest(id),
    shape: { ref: 'text' },
  });
  const event = (id: string, hours: number, members: JsonObject = {}) => ({
    ...delivery({ partner_order_id: id, ...members }),
    receivedAt: at(hours),
    answered: 500,
  });
  const silent = Array.from({ length: 5 }, (_, index) => reply(`S-${index}`, 1, 409));
  const earlier = { replies: [reply('earlier', 0), ...silent], deliveries: [event('earlier', 0.5)] };

  it.each([
    ['an old event that is posted again', [event('earlier', 9)]],
    [
      'an old event that is written again',
      [event('earlier', 9, { payment_link: 'https://pay.example/again' })],
    ],
    [
      'an event of an order that was sent before',
      [
        event('earlier', 9, {
          event_name: 'event.buy.received.fiat',
          fiat_payment_status: 'PAID',
          crypto_payment_status: 'STARTED',
        }),
      ],
    ],
    ['an event of an order that nobody sent', [event('stranger', 9)]],
    ['an event of a later order that is posted again', [event('later', 1.6), event('later', 9)]],
    ['an event of a later order within the hour', [event('later', 1.9)]],
  ])('is not said to be refused by %s', async (_, more) => {
    const replies = [...earlier.replies, reply('later', 1.5)];
    const deliveries = [...earlier.deliveries, ...more];
    expect(await verdictOf('order-conflict', { replies, deliveries })).toBe('not-seen');
  });

  it('is said to be refused by an event of a later order, an hour later', async () => {
    const replies = [...earlier.replies, reply('later', 1.5)];
    const deliveries = [...earlier.deliveries, event('later', 2.1)];
    expect(await verdictOf('order-conflict', { replies, deliveries })).toBe('refuted');
  });
});

describe('three events that are answered with 500', () => {
  const event = (id: string, minutes: number) => ({
    ...delivery({ partner_order_id: id }),
    receivedAt: new Date(Date.UTC(2026, 0, 1) + minutes * 60_000).toISOString(),
    answered: 500,
  });
  const first = ['A', 'B', 'C', 'D'].map((id) => event(id, 0));

  it('are not said to be never sent again when an old one is posted again', async () => {
    const deliveries = [...first, event('D', 120)];
    expect(await verdictOf('callback-retry', { deliveries })).toBe('not-seen');
  });

  it('are said to be never sent again when a new one comes', async () => {
    expect(await verdictOf('callback-retry', { deliveries: [...first, event('E', 120)] })).toBe('proven');
  });
});
