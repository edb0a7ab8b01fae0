import { describe, expect, expectTypeOf, it } from 'vitest';
import type { KeySets } from '../../src/credentials/key-ring.ts';
import type { BuyOrder } from '../../src/deployment/order-schema.ts';
import { isOrderError, isRequestError, isValidationError } from '../../src/errors/errors.ts';
import type { SubmittedOrder } from '../../src/orders/journal-types.ts';
import { generation } from '../credentials/keys.ts';
import { storeKinds } from '../store/store-kinds.ts';
import { rejected } from '../support/refusal.ts';
import { bench, event, keySets, order, ringBench } from './service.ts';

const changed = { ...order, fiat_amount: '16000' };
// Sound: the schema refuses it.
const invalid = { ...order, fiat_amount: 15000.5 } as unknown as BuyOrder;

describe.each(storeKinds())('submit, over $name', ({ open }) => {
  it.each([
    ['ok', 'accepted', undefined],
    ['not-sent', 'waiting', 'connection_failed'],
    [{ status: 422 }, 'refused', 'http_error'],
    ['lost', 'unknown', 'network_error'],
    [{ status: 503 }, 'unknown', 'http_error'],
  ] as const)('after %j the order is %s', async (answer, state, code) => {
    const { journal, service } = bench({}, open);
    service.next.push(answer);
    const submitted = await journal.submit(order);
    expect(submitted).toMatchObject({ state, replayed: false, order: { partner_order_id: 'A-1001' } });
    expect(submitted.error === undefined ? undefined : submitted.error).toEqual(
      code === undefined ? undefined : expect.objectContaining({ code }),
    );
    expect(submitted.reply?.status).toBe(state === 'accepted' ? 200 : undefined);
  });

  it.each([
    ['ok', 'accepted', undefined],
    [{ status: 422 }, 'refused', 'order_refused'],
    ['lost', 'unknown', 'outcome_unknown'],
  ] as const)(
    'an order that was answered %j stays %s, and is not sent again',
    async (answer, state, code) => {
      const { journal, service, another } = bench({}, open);
      service.next.push(answer);
      await journal.submit(order);
      const again = await another().submit(order);
      expect([again.state, again.replayed]).toEqual([state, state === 'accepted']);
      if (code !== undefined) expect(again.error).toMatchObject({ code });
      expect(service.requests).toHaveLength(1);
    },
  );

  it('sends again what did not reach the service, and a refused order on demand', async () => {
    const { journal, service } = bench({}, open);
    service.next.push('not-sent', { status: 422 });
    expect((await journal.submit(order)).state).toBe('waiting');
    expect((await journal.submit(order)).state).toBe('refused');
    expect((await journal.submit(order, { again: true })).state).toBe('accepted');
  });

  it('says waiting while another process sends the order', async () => {
    const { journal, service, another } = bench({}, open);
    let second: SubmittedOrder | undefined;
    service.next.push(async () => {
      second = await another().submit(order);
      return Response.json({ ok: true });
    });
    await journal.submit(order);
    expect(second).toMatchObject({ state: 'waiting', error: { code: 'in_progress' } });
    expect(service.requests).toHaveLength(1);
  });

  it('says accepted for an order whose event came before its reply was lost', async () => {
    const { journal, service } = bench({}, open);
    service.next.push(async () => {
      await journal.observe(event());
      throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    });
    expect(await journal.submit(order)).toMatchObject({
      state: 'accepted',
      reply: undefined,
      error: undefined,
    });
  });

  it('throws different_order, since the state of another order says nothing about this one', async () => {
    const { journal } = bench({}, open);
    await journal.submit(order);
    expect(await rejected(journal.submit(changed))).toMatchObject({ code: 'different_order' });
  });

  it('says refused for invalid input, unless the journal has an order with its id that may be accepted', async () => {
    const { journal, service } = bench({}, open);
    const refused = await journal.submit(invalid);
    expect([refused.state, refused.order]).toEqual(['refused', undefined]);
    expect(isValidationError(refused.error)).toBe(true);
    expect(await journal.get('A-1001')).toBeUndefined();
    service.next.push({ status: 422 }, 'lost');
    await journal.submit(order);
    expect(await journal.submit(invalid)).toMatchObject({ state: 'refused', order: { state: 'refused' } });
    await journal.submit(order, { again: true });
    expect(isValidationError(await rejected(journal.submit(invalid)))).toBe(true);
  });

  it('leaves an order that did not reach the service unsettled, as prepare does', async () => {
    const { journal, service } = bench({}, open);
    service.next.push('not-sent');
    await journal.submit(order);
    expect(await journal.unsettled()).toMatchObject([{ partner_order_id: 'A-1001', state: 'not-sent' }]);
  });
});

describe('the result of submit', () => {
  it('has a state for a column, and an error with the guards that exist', async () => {
    const { journal } = bench();
    const submitted = await journal.submit(order);
    expectTypeOf(submitted.state).toEqualTypeOf<'accepted' | 'waiting' | 'refused' | 'unknown'>();
    expect([isRequestError(submitted.error), isOrderError(submitted.error)]).toEqual([false, false]);
  });
});

describe.each([401, 403] as const)('an order that is refused with %s', (status) => {
  it.each(['create', 'submit'] as const)(
    'by %s waits while the ring awaits new keys, and is sent under them',
    async (call) => {
      const valid = { key: 'new' };
      const keys = { now: keySets('old', { awaited: true }) };
      const { journal, ring, tried } = ringBench(status, valid, keys);
      const result = await journal[call](order).catch((error: unknown) => ({ error }));
      expect(result).toMatchObject({ error: { code: 'waiting_for_keys', state: 'waiting' } });
      expect(result).toMatchObject({ error: { cause: { status, outcome: 'refused' } } });
      expect(await journal.unsettled()).toMatchObject([{ state: 'waiting', status, failure: 'http_error' }]);
      keys.now = keySets('old', {
        pending: generation('new'),
        verifying: [generation('old'), generation('new')],
      });
      await ring.reload();
      const again = await journal[call](order);
      expect(again).toMatchObject({ order: { state: 'accepted' } });
      expect(tried).toEqual(['old', 'old', 'new']);
      expect(await journal.unsettled()).toEqual([]);
    },
  );

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
    expect(await journal.submit(order)).toMatchObject({
      state: 'waiting',
      error: { code: 'waiting_for_keys', cause: { status, cause: { code: 'keys_replaced' } } },
    });
    expect(await journal.submit(order)).toMatchObject({ state: 'accepted' });
    expect(tried).toEqual(['old', 'new', 'third']);
  });

  it('is refused when the keys are the newest, since the ring reads them again, and awaits none', async () => {
    const { journal } = ringBench(status, { key: 'other' }, { now: keySets('old') });
    for (const partner_order_id of ['first', 'second'])
      expect(await journal.submit({ ...order, partner_order_id })).toMatchObject({
        state: 'refused',
        error: { status, outcome: 'refused' },
      });
    expect(await journal.unsettled()).toEqual([]);
  });

  it('is sent again at once under keys that another process has stored a moment ago', async () => {
    const keys = { now: keySets('old') };
    const { journal, tried } = ringBench(status, { key: 'new' }, keys);
    await journal.submit({ ...order, partner_order_id: 'first' });
    keys.now = keySets('new', { verifying: [generation('new'), generation('old')] });
    expect((await journal.submit(order)).state).toBe('accepted');
    expect(tried).toEqual(['old', 'old', 'new']);
  });

  it('waits where another process has asked for new keys a moment ago', async () => {
    const keys = { now: keySets('old') };
    const { journal } = ringBench(status, { key: 'new' }, keys);
    await journal.submit({ ...order, partner_order_id: 'first' });
    keys.now = keySets('old', { awaited: true });
    expect((await journal.submit(order)).state).toBe('waiting');
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
    expect((await journal.submit(order)).state).toBe('waiting');
  });

  it('is refused with static credentials', async () => {
    const { journal, service } = bench();
    service.next.push({ status });
    expect(await journal.submit(order)).toMatchObject({ state: 'refused', error: { status } });
  });
});

describe('a waiting order', () => {
  it('may be replaced, prepared again, or given up by a person', async () => {
    const { journal } = ringBench(401, { key: 'new' }, { now: keySets('old', { awaited: true }) });
    await journal.submit(order);
    expect(await rejected(journal.submit(changed))).toMatchObject({ code: 'different_order' });
    expect((await journal.submit(changed, { replace: true })).state).toBe('waiting');
    expect(await journal.prepare(order, { replace: true })).toMatchObject({ state: 'prepared' });
    await journal.submit(order);
    expect(await journal.settle('A-1001', 'abandoned', 'Its price is old.')).toMatchObject({
      state: 'abandoned',
    });
    expect(await journal.submit(order)).toMatchObject({
      state: 'refused',
      error: { code: 'order_abandoned' },
    });
  });

  it('is accepted by an event with the contradiction that it was refused', async () => {
    const { journal } = ringBench(401, { key: 'new' }, { now: keySets('old', { awaited: true }) });
    await journal.submit(order);
    const observed = await journal.observe(event());
    expect(observed).toMatchObject({
      result: 'contradiction',
      order: { state: 'accepted', contradiction: 'refused' },
    });
  });
});
