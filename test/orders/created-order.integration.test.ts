import { describe, expect, expectTypeOf, it } from 'vitest';
import type { KeySets } from '../../src/credentials/key-ring.ts';
import type { BuyOrder } from '../../src/deployment/order-schema.ts';
import { isOrderError, isRequestError } from '../../src/errors/errors.ts';
import type { CreatedOrder } from '../../src/orders/journal-types.ts';
import type { OrderState } from '../../src/orders/order-state.ts';
import { generation } from '../credentials/keys.ts';
import { storeKinds } from '../store/store-kinds.ts';
import { rejected } from '../support/refusal.ts';
import { allRecords, bench, event, keySets, order, ringBench } from './service.ts';

const changed = { ...order, fiat_amount: '16000' };
// Sound: the schema refuses it.
const invalid = { ...order, fiat_amount: 15000.5 } as unknown as BuyOrder;

describe.each(storeKinds())('the result of create, over $name', ({ open }) => {
  it.each([
    ['ok', 'accepted', undefined],
    ['not-sent', 'not-sent', 'connection_failed'],
    [{ status: 429 }, 'waiting', 'rate_limited'],
    [{ status: 422 }, 'refused', 'http_error'],
    ['lost', 'unknown', 'network_error'],
    [{ status: 503 }, 'unknown', 'http_error'],
  ] as const)('after %j has the state %s of the record, and the error', async (answer, state, code) => {
    const { journal, service } = bench({}, open);
    service.next.push(answer);
    const created = await journal.create(order);
    expect(created).toEqual({
      state,
      order: await journal.get('A-1001'),
      ...(code === undefined
        ? { reply: expect.objectContaining({ status: 200 }) }
        : { error: expect.objectContaining({ code }) }),
    });
    expect(created.order).toMatchObject({ partner_order_id: 'A-1001', state });
  });

  it.each([
    ['ok', 'accepted', undefined],
    [{ status: 422 }, 'refused', 'order_refused'],
    ['lost', 'unknown', 'outcome_unknown'],
  ] as const)(
    'of an order that was answered %j stays %s, and nothing is sent again',
    async (answer, state, code) => {
      const { journal, service, another } = bench({}, open);
      service.next.push(answer);
      await journal.create(order);
      expect(await another().create(order)).toEqual({
        ...{ state, order: await journal.get('A-1001') },
        ...(code !== undefined && { error: expect.objectContaining({ code, state }) }),
      });
      expect(service.requests).toHaveLength(1);
    },
  );

  it('says sending while another process sends the order', async () => {
    const { journal, service, another } = bench({}, open);
    let second: CreatedOrder | undefined;
    service.next.push(async () => {
      second = await another().create(order);
      return Response.json({ ok: true });
    });
    await journal.create(order);
    expect(second).toMatchObject({ state: 'sending', error: { code: 'in_progress' } });
    expect(service.requests).toHaveLength(1);
  });

  it('says accepted for an order whose event came before its reply was lost', async () => {
    const { journal, service } = bench({}, open);
    service.next.push(async () => {
      await journal.observe(event());
      throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    });
    expect(await journal.create(order)).toEqual({ state: 'accepted', order: await journal.get('A-1001') });
  });

  it('says abandoned for an order that a person has given up, and sends nothing', async () => {
    const { journal, service } = bench({}, open);
    await journal.prepare(order);
    await journal.settle('A-1001', 'abandoned', 'No longer wanted.');
    expect(await journal.create(order)).toMatchObject({
      ...{ state: 'abandoned', order: { note: 'No longer wanted.' } },
      error: { code: 'order_abandoned' },
    });
    expect(service.requests).toEqual([]);
  });

  it('leaves an order that did not reach the service unsettled, as prepare does', async () => {
    const { journal, service } = bench({}, open);
    service.next.push('not-sent');
    await journal.create(order);
    expect(await journal.unsettled()).toMatchObject([{ partner_order_id: 'A-1001', state: 'not-sent' }]);
    expect(await journal.health()).toMatchObject({ 'not-sent': 1, unsettled: 1 });
  });
});

describe('create throws, and changes nothing,', () => {
  it.each([
    ['another payload', changed, {}, 'different_order'],
    ['another merchant', order, { merchant: 'ngn' }, 'different_order'],
    ['invalid input', invalid, {}, 'invalid_input'],
    ['a refused address', { ...order, chain: 'usdc-matic' }, {}, 'address_refused'],
    ['an option that is none', order, { timeoutMs: -1 }, 'invalid_option'],
    ['a merchant without a key', order, { merchant: 'none' }, 'invalid_credentials'],
  ])('for %s under the id of any order', async (_, given, options, code) => {
    for (const answer of ['ok', 'not-sent', { status: 422 }, 'lost', { status: 429 }] as const) {
      const { journal, service, store } = bench();
      service.next.push(answer);
      await journal.create(order);
      const before = await allRecords(store);
      expect(await rejected(journal.create(given, options))).toMatchObject({ code });
      expect(await allRecords(store)).toEqual(before);
      expect(service.next).toEqual([]);
    }
  });
});

describe('the type of the result of create', () => {
  it('has the states of an order', async () => {
    const { state, error } = await bench().journal.create(order);
    expectTypeOf(state).toEqualTypeOf<OrderState>();
    expect([isRequestError(error), isOrderError(error)]).toEqual([false, false]);
  });
});

describe.each([401, 403] as const)('an order that is refused with %s', (status) => {
  it('waits while the ring awaits new keys, and is sent under them', async () => {
    const valid = { key: 'new' };
    const keys = { now: keySets('old', { awaited: true }) };
    const { journal, ring, tried } = ringBench(status, valid, keys);
    expect(await journal.create(order)).toMatchObject({
      state: 'waiting',
      error: { code: 'waiting_for_keys', state: 'waiting', cause: { status, outcome: 'refused' } },
    });
    expect(await journal.unsettled()).toMatchObject([{ state: 'waiting', status, failure: 'http_error' }]);
    keys.now = keySets('old', {
      pending: generation('new'),
      verifying: [generation('old'), generation('new')],
    });
    await ring.reload();
    expect(await journal.create(order)).toMatchObject({ state: 'accepted', order: { state: 'accepted' } });
    expect(tried).toEqual(['old', 'old', 'new']);
    expect(await journal.unsettled()).toEqual([]);
  });

  it('waits when newer keys come while the service refuses both sets of the ring', async () => {
    const valid = { key: 'third' };
    const both = [generation('old'), generation('new')];
    const keys = { now: keySets('old', { pending: generation('new'), verifying: both }) };
    const { journal, ring, tried, meanwhile } = ringBench(status, valid, keys);
    meanwhile.push(
      async () => {},
      async () => {
        keys.now = keySets('third');
        await ring.reload();
      },
    );
    expect(await journal.create(order)).toMatchObject({
      state: 'waiting',
      error: { code: 'waiting_for_keys', cause: { status, cause: { code: 'keys_replaced' } } },
    });
    expect(await journal.create(order)).toMatchObject({ state: 'accepted' });
    expect(tried).toEqual(['old', 'new', 'third']);
  });

  it('is refused when the keys are the newest, since the ring reads them again, and awaits none', async () => {
    const { journal } = ringBench(status, { key: 'other' }, { now: keySets('old') });
    for (const partner_order_id of ['first', 'second'])
      expect(await journal.create({ ...order, partner_order_id })).toMatchObject({
        state: 'refused',
        error: { status, outcome: 'refused' },
      });
    expect(await journal.unsettled()).toEqual([]);
  });

  it('is sent again at once under keys that another process has stored a moment ago', async () => {
    const keys = { now: keySets('old') };
    const { journal, tried } = ringBench(status, { key: 'new' }, keys);
    await journal.create({ ...order, partner_order_id: 'first' });
    keys.now = keySets('new', { verifying: [generation('new'), generation('old')] });
    expect((await journal.create(order)).state).toBe('accepted');
    expect(tried).toEqual(['old', 'old', 'new']);
  });

  it('waits where another process has asked for new keys a moment ago', async () => {
    const keys = { now: keySets('old') };
    const { journal } = ringBench(status, { key: 'new' }, keys);
    await journal.create({ ...order, partner_order_id: 'first' });
    keys.now = keySets('old', { awaited: true });
    expect((await journal.create(order)).state).toBe('waiting');
  });

  it.each([
    ['cannot read them again', { now: new Error('down') }],
    ['doubts the newest ones', { now: keySets('old', { unconfirmed: () => true }) }],
  ] as const)('waits where the ring %s', async (_, later) => {
    const keys: { now: KeySets | Error } = { now: keySets('old') };
    const { journal, time, ring } = ringBench(status, { key: 'new' }, keys);
    await ring.reload();
    keys.now = later.now;
    time.now += 5_000;
    expect((await journal.create(order)).state).toBe('waiting');
  });

  it('is refused with static credentials', async () => {
    const { journal, service } = bench();
    service.next.push({ status });
    expect(await journal.create(order)).toMatchObject({ state: 'refused', error: { status } });
  });
});

describe('a waiting order', () => {
  it('may be replaced, prepared again, or given up by a person', async () => {
    const { journal } = ringBench(401, { key: 'new' }, { now: keySets('old', { awaited: true }) });
    await journal.create(order);
    expect(await rejected(journal.create(changed))).toMatchObject({ code: 'different_order' });
    expect((await journal.create(changed, { replace: true })).state).toBe('waiting');
    expect(await journal.prepare(order, { replace: true })).toMatchObject({ state: 'prepared' });
    await journal.create(order);
    expect(await journal.settle('A-1001', 'abandoned', 'Its price is old.')).toMatchObject({
      state: 'abandoned',
    });
    expect(await journal.create(order)).toMatchObject({
      state: 'abandoned',
      error: { code: 'order_abandoned' },
    });
  });

  it('is accepted by an event with the contradiction that it was refused', async () => {
    const { journal } = ringBench(401, { key: 'new' }, { now: keySets('old', { awaited: true }) });
    await journal.create(order);
    const observed = await journal.observe(event());
    expect(observed).toMatchObject({
      result: 'contradiction',
      order: { state: 'accepted', contradiction: 'refused' },
    });
  });
});
