import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import type { KeySets } from '../../src/credentials/key-ring.ts';
import { type DeploymentOptions, defineDeployment } from '../../src/deployment/define-deployment.ts';
import type { OrderJournalOptions, OrderSender } from '../../src/orders/journal-options.ts';
import type { CreatedOrder, OrderJournal } from '../../src/orders/journal-types.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { generation } from '../credentials/keys.ts';
import { bases } from '../deployment/bases.ts';

export const credentials = {
  partnerPublicKey: 'pk_partner_4f1d20',
  partnerSecretKey: 'sk_partner_9c2e71',
  merchantSecretKey: 'sk_merchant_7b3a55',
  merchantSecretKeys: { ngn: 'sk_merchant_ngn', ghs: 'sk_merchant_ghs' },
  partnerId: 'P-1',
} as const;

export const order = {
  partner_order_id: 'A-1001',
  fiat_amount: '15000.50',
  fiat_currency: 'NGN',
  chain: 'usdt-trc20',
  buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  partner_callback_url: 'https://partner.example/orders',
  buyer_phone: '+2348012345678',
  buyer_email: 'ada.obi@example.com',
  first_name: 'Adaeze',
  last_name: 'Obiagwu',
  refund_bank: 'Guaranty',
  refund_account: '0123498765',
} as const;

/** What the service does with a request. */
export type Answer =
  | 'ok'
  | 'not-sent'
  | 'lost'
  | { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  | (() => Promise<Response>);

/** A service that answers as it is told; what it is not told is taken. */
export interface FakeService {
  readonly fetch: (request: Request) => Promise<Response>;
  /** The ids of the orders that came, in their order. */
  readonly requests: string[];
  /** The answers to the next requests. */
  readonly next: Answer[];
}

export function fakeService(): FakeService {
  const requests: string[] = [];
  const next: Answer[] = [];
  return {
    requests,
    next,
    async fetch(request) {
      const answer = next.shift() ?? 'ok';
      if (answer === 'not-sent') throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      const { partner_order_id } = await request.json();
      requests.push(partner_order_id);
      if (answer === 'lost') throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
      if (typeof answer === 'function') return await answer();
      const { body, ...init } = answer === 'ok' ? { status: 200, body: { ok: true } } : answer;
      return Response.json(body ?? { ok: true }, init);
    },
  };
}

export function exchangeOf(
  service: Pick<FakeService, 'fetch'>,
  options: DeploymentOptions = {},
): ExchangeClient {
  return new ExchangeClient({
    deployment: defineDeployment({ ...bases, ...options }),
    credentials,
    fetch: service.fetch,
    maxAttempts: 1,
  });
}

/** A client without its time limits: a test may take a shorter lease. */
export function senderOf(exchange: ExchangeClient): OrderSender {
  return {
    deployment: exchange.deployment,
    prepareOrder: (given, options) => exchange.prepareOrder(given, options),
  };
}

/** A journal over a fake service, with a clock that only the test moves. */
export interface Bench {
  readonly journal: OrderJournal;
  readonly service: FakeService;
  readonly store: RecordStore;
  readonly clock: { now: number };
  /** Another process with the same store. */
  readonly another: (options?: Partial<OrderJournalOptions>) => OrderJournal;
}

export function bench(
  options: Partial<OrderJournalOptions> = {},
  open: (now: () => number) => RecordStore = (now) => memoryStore({ now }),
): Bench {
  const clock = { now: 1_700_000_000_000 };
  const now = () => clock.now;
  const service = fakeService();
  const store = open(now);
  const another = (other: Partial<OrderJournalOptions> = {}) =>
    createOrderJournal({ exchange: senderOf(exchangeOf(service)), store, now, ...options, ...other });
  return { journal: another(), service, store, clock, another };
}

/** A journal whose client has a ring over keys that the test changes. */
export function ringBench(status: 401 | 403, valid: { key: string }, keys: { now: KeySets | Error }) {
  const time = { now: 1_000_000 };
  const ring = createKeyRing({
    load: () => {
      if (keys.now instanceof Error) throw keys.now;
      return keys.now;
    },
    now: () => time.now,
    onError: () => {},
  });
  const tried: string[] = [];
  /** What happens while the service has the next requests. */
  const meanwhile: (() => Promise<void>)[] = [];
  const exchange = new ExchangeClient({
    deployment: defineDeployment(bases),
    credentials: ring,
    maxAttempts: 1,
    fetch: async (request) => {
      const key = request.headers.get('authorization')?.replace('Bearer pk_partner_', '') ?? '';
      tried.push(key);
      await meanwhile.shift()?.();
      return Response.json({ ok: true }, { status: key === valid.key ? 200 : status });
    },
  });
  return { ...bench({ exchange }), exchange, ring, tried, time, meanwhile };
}

/** Keys that sign and verify, and what the ring knows beside them. */
export const keySets = (name: string, more: Partial<KeySets> = {}): KeySets => ({
  signing: generation(name),
  verifying: [generation(name)],
  ...more,
});

export const named = (partner_order_id: string) => ({ ...order, partner_order_id });

export async function idsOf(orders: AsyncIterable<{ readonly partner_order_id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { partner_order_id } of orders) ids.push(partner_order_id);
  return ids;
}

/** Every record of a store. */
export async function allRecords(store: RecordStore, prefix = '') {
  return await store.list({ prefix, limit: 1000 });
}

export const event = (id: string = order.partner_order_id) => ({
  event_name: 'event.buy.init',
  partner_order_id: id,
  platform_order_ref: 'ref_7d41',
});

/** The error of a result of `create`; fails when it has none, and when `create` throws. */
export async function errorOf(creating: Promise<CreatedOrder> | undefined): Promise<unknown> {
  const { error } = (await creating) ?? {};
  if (error === undefined) throw new Error('The result of create has no error.');
  return error;
}
