import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import type { KeySets } from '../../src/credentials/key-ring.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { type BuyOrder, reportedBuyOrder } from '../../src/deployment/order-schema.ts';
import { StoreError } from '../../src/errors/errors.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import type { OrderSender } from '../../src/orders/journal-options.ts';
import type { CreatedOrder, CreateOrderOptions, OrderJournal } from '../../src/orders/journal-types.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import type { OrderState } from '../../src/orders/order-state.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { generation } from '../credentials/keys.ts';
import { tether } from '../deployment/addresses/vectors.ts';
import { bases } from '../deployment/bases.ts';
import { rejected } from '../support/refusal.ts';
import { untilTestEnds } from '../support/until-test-ends.ts';
import {
  allRecords,
  bench,
  credentials,
  errorOf,
  exchangeOf,
  fakeService,
  idsOf,
  keySets,
  named,
  order,
  ringBench,
} from './service.ts';

const changed = { ...order, fiat_amount: '16000' };

/** Orders of a client of one's own, whose requests end as `send` does. */
const senderWith = (send: () => Promise<never>, more: JsonObject = {}): OrderSender => ({
  prepareOrder: async () => ({ payload: { ...order, ...more }, partnerId: undefined, send }),
});

describe('create', () => {
  it.each([
    ['ok', 'accepted', undefined],
    ['not-sent', 'not-sent', 'connection_failed'],
    [{ status: 429 }, 'waiting', 'rate_limited'],
    [{ status: 422 }, 'refused', 'http_error'],
    ['lost', 'unknown', 'network_error'],
    [{ status: 503 }, 'unknown', 'http_error'],
  ] as const)(
    'after %j resolves with the state %s of the record, and the error',
    async (answer, state, code) => {
      const { journal, service } = bench();
      service.next.push(answer);
      const created = await journal.create(order);
      expect(created).toEqual({
        state,
        order: await journal.get('A-1001'),
        ...(code === undefined
          ? { reply: expect.objectContaining({ status: 200, body: { ok: true } }) }
          : { error: expect.objectContaining({ code }) }),
      });
      expect(created.order).toMatchObject({ partner_order_id: 'A-1001', state, attempts: 1 });
    },
  );

  it.each([
    ['ok', 'accepted', undefined],
    [{ status: 422 }, 'refused', 'order_refused'],
    ['lost', 'unknown', 'outcome_unknown'],
  ] as const)('sends nothing again of an order that was answered %j', async (answer, state, code) => {
    const { journal, service, another, clock } = bench();
    service.next.push(answer);
    await journal.create(order);
    clock.now += 10 * 86_400_000;
    const turned = Object.fromEntries(Object.entries(order).reverse()) as typeof order;
    expect(await another().create({ ...turned, markup_fee: undefined })).toEqual({
      ...{ state, order: await journal.get('A-1001') },
      ...(code !== undefined && { error: expect.objectContaining({ code, state }) }),
    });
    expect(service.requests).toHaveLength(1);
  });

  it('commits the intent before the request, and says in_progress to another process', async () => {
    const { journal, service, another, clock } = bench();
    let second: CreatedOrder | undefined;
    service.next.push(async () => {
      clock.now += 20_000;
      second = await another().create(order);
      return Response.json({ ok: true });
    });
    await journal.create(order);
    expect(second).toMatchObject({
      ...{ state: 'sending', order: { attempts: 1, leaseUntil: clock.now + 100_000 } },
      error: { code: 'in_progress', retryAfterMs: 100_000 },
    });
    expect(service.requests).toHaveLength(1);
  });

  it('leaves an order unknown once the lease of a process that died is over, and sends it no more', async () => {
    const { journal, service, another, clock } = bench({ leaseMs: 5000 });
    service.next.push(untilTestEnds);
    journal.create(order).catch(() => {});
    await expect.poll(() => service.requests.length).toBe(1);
    clock.now += 4999;
    expect(await another().get('A-1001')).toMatchObject({ state: 'sending' });
    clock.now += 1;
    const created = await another().create(order);
    expect(created).toMatchObject({ state: 'unknown', error: { code: 'outcome_unknown', state: 'unknown' } });
    expect(created.order).not.toHaveProperty('leaseUntil');
    expect(service.requests).toHaveLength(1);
  });

  it.each<[string, unknown, object, string]>([
    ['another payload', changed, {}, 'different_order'],
    ['another merchant', order, { merchant: 'ngn' }, 'different_order'],
    ['invalid input', { ...order, fiat_amount: 15000.5 }, {}, 'invalid_input'],
    ['no id', { ...order, partner_order_id: undefined }, {}, 'invalid_input'],
    ['a refused address', { ...order, buyer_crypto_address: tether }, {}, 'address_refused'],
    ['a merchant without a key', order, { merchant: 'none' }, 'invalid_credentials'],
    ['a merchant that is none', order, { merchant: 7 }, 'invalid_option'],
    ['a timeoutMs that is none', order, { timeoutMs: -1 }, 'invalid_option'],
    ['a signal that is none', order, { signal: {} }, 'invalid_option'],
    ['a schema that is none', order, { schema: {} }, 'invalid_option'],
    ['an option that does not exist', order, { agian: true }, 'invalid_option'],
    [
      'a reason for the address that is too long',
      order,
      { acceptAddress: 'x'.repeat(1001) },
      'invalid_option',
    ],
  ])('throws for %s under the id of any order, and changes nothing', async (_, given, options, code) => {
    for (const answer of ['ok', 'not-sent', 'lost'] as const) {
      const { journal, service, store } = bench();
      service.next.push(answer);
      await journal.create(order);
      const before = await allRecords(store);
      // Sound: they are refused.
      const made = journal.create(given as BuyOrder, options as CreateOrderOptions);
      expect(await rejected(made)).toMatchObject({ code });
      expect(await allRecords(store)).toEqual(before);
    }
  });

  it.each([
    [
      'no address of the service',
      () => exchangeOf(fakeService(), { onboardingBaseUrl: undefined }),
      'not_configured',
    ],
    [
      'keys that cannot be read',
      () => ringBench(401, { key: '' }, { now: new Error('down') }).exchange,
      'keys_unavailable',
    ],
    ['an id that is no text', () => senderWith(untilTestEnds, { partner_order_id: 7 }), 'invalid_input'],
  ])('throws for %s, and writes nothing', async (_, exchange, code) => {
    const { another, store } = bench();
    expect(await rejected(another({ exchange: exchange() }).create(order))).toMatchObject({ code });
    expect(await allRecords(store)).toEqual([]);
  });

  it.each([
    ['of its own', new Error('mine'), 'other'],
    [
      'of a store, which may fail after the order was sent,',
      new StoreError('store_failed', 'x'),
      'store_failed',
    ],
  ])(
    'takes an error of your own client %s for unknown, and sends the order no more',
    async (_, failure, code) => {
      let requests = 0;
      const exchange = senderWith(() => {
        requests++;
        return Promise.reject(failure);
      });
      const journal = bench().another({ exchange });
      expect(await journal.create(order)).toMatchObject({ state: 'unknown', order: { failure: code } });
      expect(await errorOf(journal.create(order))).toMatchObject({ code: 'outcome_unknown' });
      expect(requests).toBe(1);
    },
  );

  it('takes any text for an id', async () => {
    const { journal, service } = bench();
    const ids = ['ä 🚀 "\\', '\ud800', '\ud801', 'x'.repeat(5000), '\0', '__proto__'];
    for (const id of ids) await journal.create(named(id));
    expect(service.requests).toEqual(ids);
    for (const id of ids) expect(await journal.get(id)).toMatchObject({ partner_order_id: id });
  });

  it('knows an order by what its schema makes of it, whatever the wire names', async () => {
    const service = fakeService();
    const { another } = bench();
    const orderSchema = reportedBuyOrder.extend({ fee: z.string().default('0') });
    const journalWith = (wireNames: { platform_merchant_id?: string }) => {
      const deployment = defineDeployment({ ...bases, orderSchema, wireNames });
      return another({ exchange: new ExchangeClient({ deployment, credentials, fetch: service.fetch }) });
    };
    const withMerchant = { ...order, platform_merchant_id: 'm-1' };
    await journalWith({}).create(withMerchant);
    const renamed = journalWith({ platform_merchant_id: 'acme_merchant' });
    const withFee = (fee: string) => renamed.create({ ...withMerchant, fee } as typeof order);
    expect(await withFee('0')).toMatchObject({ state: 'accepted' });
    expect(await rejected(withFee('1'))).toMatchObject({ code: 'different_order' });
  });

  it('keeps the orders of two prefixes apart', async () => {
    const { journal, service, another } = bench();
    await journal.create(order);
    await another({ prefix: 'other-partner:' }).create(order);
    expect(service.requests).toHaveLength(2);
  });

  it('writes the result by a clock with fractions, and works without this', async () => {
    const { another, clock } = bench();
    const { create } = another({ now: () => clock.now + 0.5 });
    await create(order);
    expect(await another().get('A-1001')).toMatchObject({ state: 'accepted', changedAt: clock.now });
  });

  it('sends an order whose address a person accepts, and keeps the reason', async () => {
    const { journal, service } = bench();
    const moved = { ...order, buyer_crypto_address: tether };
    expect(await rejected(journal.prepare(moved))).toMatchObject({ code: 'address_refused' });
    const acceptAddress = 'x'.repeat(1_000);
    expect(await journal.prepare(moved, { acceptAddress: 'Ours' })).toMatchObject({ acceptAddress: 'Ours' });
    expect((await journal.create(moved, { acceptAddress })).order).toMatchObject({ acceptAddress });
    expect(service.requests).toEqual(['A-1001']);
  });
});

describe('an order whose lease is over before it leaves', () => {
  /** A store whose process is suspended after its first commit, while something else happens. */
  function suspending(store: RecordStore, meanwhile: () => Promise<unknown>): RecordStore {
    let isFirst = true;
    return {
      ...store,
      async transact(keys, change) {
        const result = await store.transact(keys, change);
        if (isFirst) {
          isFirst = false;
          await meanwhile();
        }
        return result;
      },
    };
  }

  it('is not sent, and stays given up', async () => {
    const { service, store, another, clock } = bench();
    const giveUp = async () => {
      clock.now += 120_000;
      await another().settle('A-1001', 'abandoned', 'The service has none.');
    };
    const journal = another({ store: suspending(store, giveUp) });
    const error = await errorOf(journal.create(order));
    expect(error).toMatchObject({ code: 'timeout', outcome: 'not-sent', attempts: 0 });
    expect(String(error)).toContain('the time in which it may leave was over');
    expect(service.requests).toEqual([]);
    expect(await journal.get('A-1001')).toMatchObject({ state: 'abandoned', note: 'The service has none.' });
    expect(await errorOf(journal.create(order))).toMatchObject({ code: 'order_abandoned' });
  });

  it('is known not to be sent if nobody has given it up, and is sent by the next create', async () => {
    const { service, store, another, clock } = bench();
    const pass = async () => {
      clock.now += 120_000;
    };
    const journal = another({ store: suspending(store, pass) });
    expect(await journal.create(order)).toMatchObject({ state: 'not-sent', error: { outcome: 'not-sent' } });
    expect(await journal.create(order)).toMatchObject({ order: { state: 'accepted' } });
    expect(service.requests).toHaveLength(1);
  });
});

describe('an order that the service may recognize (duplicateIds)', () => {
  it.each([
    ['same-order', 'ok', 'reply'],
    ['refused', 'ok', 'reply'],
    ['refused', { status: 409 }, 'duplicate'],
  ] as const)(
    'under %j is sent again after a lost reply, and %j settles it',
    async (duplicateIds, answer, evidence) => {
      const { journal, service } = bench({ duplicateIds });
      service.next.push('lost', answer);
      await journal.create(order);
      const created = await journal.create(order);
      expect(created.order).toMatchObject({ state: 'accepted', attempts: 2, evidence });
      expect('reply' in created).toBe(evidence === 'reply');
      expect(created).not.toHaveProperty('error');
    },
  );

  it.each([
    ['refused', 409, 'accepted'],
    ['refused', 422, 'unknown'],
    [{ refused: [422] }, 422, 'accepted'],
    [{ refused: [422] }, 409, 'unknown'],
  ] as const)('under %j of the deployment: %i makes a lost one %s', async (duplicateIds, status, state) => {
    const service = fakeService();
    const { journal, another } = bench({ exchange: exchangeOf(service, { duplicateIds }) });
    service.next.push('lost', { status });
    await journal.create(order);
    // The option of the journal comes first.
    const strict = another({ duplicateIds: 'unknown' });
    expect(await errorOf(strict.create(order))).toMatchObject({ code: 'outcome_unknown' });
    expect(await journal.create(order)).toMatchObject({ state });
  });

  it('is refused if the service knows its id at the first request: the id is that of somebody else', async () => {
    const { journal, service } = bench({ duplicateIds: 'refused' });
    service.next.push({ status: 409 });
    expect(await journal.create(order)).toMatchObject({
      ...{ state: 'refused', error: { code: 'order_refused', cause: { status: 409 } } },
    });
  });
});

describe.each([401, 403] as const)('an order that is refused with %s', (status) => {
  it('waits while the ring awaits new keys, and is sent under them', async () => {
    const keys = { now: keySets('old', { awaited: true }) };
    const { journal, ring, tried } = ringBench(status, { key: 'new' }, keys);
    expect(await journal.create(order)).toMatchObject({
      ...{ state: 'waiting', order: { status, failure: 'http_error' } },
      error: { code: 'waiting_for_keys', state: 'waiting', cause: { status, outcome: 'refused' } },
    });
    const both = [generation('old'), generation('new')];
    keys.now = keySets('old', { pending: generation('new'), verifying: both });
    await ring.reload();
    expect(await journal.create(order)).toMatchObject({ state: 'accepted', order: { state: 'accepted' } });
    expect(tried).toEqual(['old', 'old', 'new']);
  });

  it('is refused when the keys are the newest, or never change', async () => {
    const { journal } = ringBench(status, { key: 'other' }, { now: keySets('old') });
    const unchanging = bench();
    unchanging.service.next.push({ status });
    for (const created of [await journal.create(order), await unchanging.journal.create(order)])
      expect(created).toMatchObject({ state: 'refused', error: { status, outcome: 'refused' } });
  });

  it.each([
    ['cannot read them again', new Error('down')],
    ['doubts the newest ones', keySets('old', { unconfirmed: () => true })],
  ] as const)('waits where the ring %s', async (_, later) => {
    const keys: { now: KeySets | Error } = { now: keySets('old') };
    const { journal, time, ring } = ringBench(status, { key: 'new' }, keys);
    await ring.reload();
    keys.now = later;
    time.now += 5_000;
    expect((await journal.create(order)).state).toBe('waiting');
  });
});

describe('prepare', () => {
  it('writes the intent and sends nothing; create sends it', async () => {
    const { journal, service, another } = bench();
    const merchant = 'ngn';
    expect(await journal.prepare(order, { merchant })).toMatchObject({
      state: 'prepared',
      merchant,
      attempts: 0,
    });
    expect(service.requests).toEqual([]);
    expect(await rejected(journal.create(order))).toMatchObject({ code: 'different_order' });
    expect(await another().create(order, { merchant })).toMatchObject({
      order: { state: 'accepted', merchant },
    });
    expect(await journal.prepare(order, { merchant })).toMatchObject({ state: 'accepted' });
  });

  it.each(['works', 'fails'])('writes through a transaction of your own that %s, once', async (end) => {
    const { journal, store } = bench();
    const calls: (readonly string[])[] = [];
    const through: RecordStore = {
      ...store,
      async transact(keys, change) {
        calls.push(keys);
        if (end === 'fails') throw new StoreError('store_failed', 'down');
        return await store.transact(keys, change);
      },
    };
    const prepared = journal.prepare(order, { store: through });
    if (end === 'works') expect(await prepared).toMatchObject({ state: 'prepared' });
    else expect(await rejected(prepared)).toMatchObject({ code: 'store_failed' });
    expect(calls.map(({ length }) => length)).toEqual([2]);
    expect(await journal.unsettled()).toHaveLength(end === 'works' ? 1 : 0);
  });
});

describe('settle', () => {
  it.each(['accepted', 'abandoned'] as const)('makes an unknown order %s', async (decision) => {
    const { journal, service, clock } = bench();
    service.next.push('lost');
    await journal.create(order);
    clock.now += 1000;
    const note = 'x'.repeat(1_000);
    const settled = await journal.settle('A-1001', decision, note);
    expect(settled).toMatchObject({ state: decision, evidence: 'person', note, changedAt: clock.now });
    expect(await journal.settle('A-1001', decision, 'Once more.')).toEqual(settled);
    expect(await journal.unsettled()).toEqual([]);
    const code = decision === 'abandoned' ? 'order_abandoned' : undefined;
    expect(await journal.create(order)).toMatchObject({ state: decision, ...(code && { error: { code } }) });
    expect(service.requests).toHaveLength(1);
  });

  it('finds nothing to settle in an order that the journal does not have', async () => {
    const { journal } = bench();
    expect(await rejected(journal.settle('none', 'abandoned', 'x'))).toMatchObject({
      code: 'order_not_found',
    });
    expect(await journal.get('none')).toBeUndefined();
  });
});

it('list has every order, and unsettled and health those that are open', async () => {
  const { journal, service } = bench();
  service.next.push({ status: 422 }, 'lost');
  for (const id of ['refused', 'unknown', 'accepted']) await journal.create(named(id));
  expect((await idsOf(journal.list())).sort()).toEqual(['accepted', 'refused', 'unknown']);
  expect(await journal.unsettled()).toMatchObject([{ partner_order_id: 'unknown' }]);
  expect(await journal.health()).toMatchObject({ unknown: 1, unsettled: 1, oldestAgeMs: 0 });
});

describe('the arguments', () => {
  it.each<[string, (journal: OrderJournal) => unknown, string]>([
    ['an id', ({ get }) => get(''), 'The partner_order_id must be a text.'],
    [
      'a decision',
      ({ settle }) => settle('A', 'refused' as never, 'x'),
      "The decision must be 'accepted' or",
    ],
    [
      'a note',
      ({ settle }) => settle('A', 'accepted', ''),
      'The note must be a text of 1 to 1000 characters.',
    ],
    ['a long note', ({ settle }) => settle('A', 'accepted', 'x'.repeat(1001)), 'The note must be'],
    ['no events', ({ settle }) => settle('A', 'rejected', 'x'), 'events belong to'],
    ['events', ({ settle }) => settle('A', 'abandoned', 'x', { events: ['d'] }), 'events belong to'],
    ['no digest', ({ settle }) => settle('A', 'accepted', 'x', { events: [] }), 'a list of digests'],
    ['a limit', ({ unsettled }) => unsettled({ limit: 0 }), 'limit'],
    ['an age', ({ unsettled }) => unsettled({ olderThanMs: -1 }), 'olderThanMs'],
    ['a store', ({ prepare }) => prepare(order, { store: {} } as never), 'store'],
  ])('are refused by name: %s', async (_, call, words) => {
    const error = await rejected(Promise.resolve(call(bench().journal)));
    expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(words) });
  });

  it.each([
    [{ leaseMs: 0 }, 'leaseMs'],
    [{ duplicateIds: 'ignored' }, 'duplicateIds'],
    [{ store: {} }, 'store'],
    [{ exchange: null }, 'exchange must be an ExchangeClient.'],
  ])('of createOrderJournal are refused by name: %o', (wrong, name) => {
    const { another } = bench();
    expect(() => another(wrong as never)).toThrow(expect.objectContaining({ code: 'invalid_option' }));
    expect(() => another(wrong as never)).toThrow(name);
  });

  it('have a lease that is longer than any call of the client', () => {
    const { another } = bench();
    const exchange = exchangeOf(fakeService());
    expect(exchange.totalTimeoutMs).toBe(90_000);
    expect(() => another({ exchange, leaseMs: 90_000 })).toThrow('leaseMs (90000) must be longer than');
    expect(() => another({ exchange, leaseMs: 90_001 })).not.toThrow();
  });
});

describe('the types', () => {
  it("are those of the deployment's orders, and of the schema of a reply", async () => {
    const orderSchema = z.object({ partner_order_id: z.string() });
    const deployment = defineDeployment({ ...bases, orderSchema });
    const exchange = new ExchangeClient({ deployment, credentials });
    const journal = createOrderJournal({ exchange, store: bench().store });
    expectTypeOf(journal.create).parameter(0).toEqualTypeOf<{ partner_order_id: string }>();
    expectTypeOf(journal.prepare).parameter(0).toEqualTypeOf<{ partner_order_id: string }>();
    expectTypeOf(bench().journal).toEqualTypeOf<OrderJournal<BuyOrder>>();

    const { journal: untyped, service } = bench();
    service.next.push({ status: 200, body: { ref: 'r-1' } });
    const schema = z.object({ ref: z.string() });
    const { state, reply } = await untyped.create(order, { merchant: 'ghs', schema });
    expectTypeOf(state).toEqualTypeOf<OrderState>();
    expectTypeOf(reply?.body).toEqualTypeOf<{ ref: string } | undefined>();
    expect(reply?.body).toEqual({ ref: 'r-1' });
  });
});
