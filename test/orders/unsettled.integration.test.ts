import { describe, expect, it } from 'vitest';
import { StoreError } from '../../src/errors/errors.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { storeKinds } from '../store/store-kinds.ts';
import { rejected } from '../support/refusal.ts';
import { untilTestEnds } from '../support/until-test-ends.ts';
import { bench, errorOf, event, order } from './service.ts';

const named = (partner_order_id: string) => ({ ...order, partner_order_id });

describe.each(storeKinds())('over $name', ({ open }) => {
  describe('unsettled', () => {
    it('lists what is prepared, being sent or unknown, the oldest first', async () => {
      const { journal, service, clock } = bench({}, open);
      await journal.prepare(named('prepared'));
      clock.now += 1000;
      service.next.push('lost', 'ok', { status: 400 }, 'not-sent', untilTestEnds);
      for (const id of ['unknown', 'accepted', 'refused', 'not-sent']) {
        await journal.create(named(id));
        clock.now += 250;
      }
      journal.create(named('sending')).catch(() => {});
      await expect.poll(() => service.requests.length).toBe(4);
      expect(
        (await journal.unsettled()).map(({ partner_order_id, state }) => [partner_order_id, state]),
      ).toEqual([
        ['prepared', 'prepared'],
        ['unknown', 'unknown'],
        ['not-sent', 'not-sent'],
        ['sending', 'sending'],
      ]);
      const ids = async (options: object) =>
        (await journal.unsettled(options)).map(({ partner_order_id }) => partner_order_id);
      expect(await ids({ olderThanMs: 1000 })).toEqual(['prepared', 'unknown']);
      expect(await ids({ limit: 1 })).toEqual(['prepared']);
      expect(await ids({ olderThanMs: 2001 })).toEqual([]);
      clock.now += 120_000;
      expect((await journal.unsettled()).at(-1)).toMatchObject({
        partner_order_id: 'sending',
        state: 'unknown',
      });
    });

    it('keeps a prepared order that could not be sent', async () => {
      const { journal, service } = bench({}, open);
      await journal.prepare(order);
      service.next.push('not-sent', { status: 400 });
      await journal.create(order);
      expect(await journal.unsettled()).toMatchObject([{ state: 'not-sent' }]);
      await journal.create(order);
      expect(await journal.unsettled()).toEqual([]);
    });

    it('counts the age of an order from when it became unsettled', async () => {
      const { journal, service, clock } = bench({}, open);
      service.next.push({ status: 400 }, 'lost');
      await journal.create(order);
      clock.now += 10_000;
      await journal.create(order, { again: true });
      expect(await journal.unsettled({ olderThanMs: 1 })).toEqual([]);
      expect(await journal.unsettled()).toMatchObject([{ createdAt: clock.now - 10_000 }]);
    });

    it('makes no order younger that is sent again and again', async () => {
      const { journal, service, clock } = bench({ duplicateIds: 'same-order' }, open);
      await journal.prepare(order);
      service.next.push('not-sent', 'lost', 'lost');
      for (let round = 0; round < 3; round++) {
        clock.now += 10_000;
        await journal.create(order);
      }
      expect(await journal.unsettled({ olderThanMs: 30_000 })).toMatchObject([{ state: 'unknown' }]);
    });

    it('has an index of nothing but the open orders', async () => {
      const { journal, service, store } = bench({}, open);
      service.next.push('ok', { status: 400 }, 'not-sent', 'lost');
      for (const id of ['a', 'b', 'c', 'd']) await journal.create(named(id));
      expect(await store.list({ prefix: 'orders:open:', limit: 10 })).toHaveLength(3);
      for (const id of ['a', 'c', 'd']) await journal.observe(event(id));
      expect(await store.list({ prefix: 'orders:open:', limit: 10 })).toEqual([]);
      expect(await store.list({ prefix: 'orders:order:', limit: 10 })).toHaveLength(4);
      expect(await store.list({ prefix: '', limit: 10 })).toHaveLength(4);
    });
  });

  describe('health', () => {
    it('counts what is open, and the age of the oldest, as plain JSON', async () => {
      const { journal, service, clock } = bench({}, open);
      expect(await journal.health()).toEqual({
        ...{ prepared: 0, sending: 0, waiting: 0, 'not-sent': 0, unknown: 0, unsettled: 0 },
        ...{
          oldestAgeMs: null,
          withoutEvent: 0,
          unreported: 0,
          mismatches: 0,
          unwritten: 0,
        },
      });
      await journal.prepare(named('prepared'));
      clock.now += 1_000;
      service.next.push('lost', 'not-sent', 'ok', untilTestEnds);
      await journal.create(named('unknown'));
      await journal.create(named('not-sent'));
      await journal.create(named('accepted'));
      journal.create(named('sending')).catch(() => {});
      await expect.poll(() => service.requests.length).toBe(3);
      await journal.observe(event('of another'));
      const health = await journal.health();
      expect(health).toEqual({
        ...{ prepared: 1, sending: 1, waiting: 0, 'not-sent': 1, unknown: 1, unsettled: 4 },
        ...{
          oldestAgeMs: 1_000,
          withoutEvent: 0,
          unreported: 0,
          mismatches: 0,
          unwritten: 0,
        },
      });
      expect(JSON.parse(JSON.stringify(health))).toEqual(health);
      clock.now += 120_000;
      expect(await journal.health()).toMatchObject({ sending: 0, unknown: 2, oldestAgeMs: 121_000 });
    });

    it('counts accepted orders whose first event is late, and settled ones that onSettled has failed for', async () => {
      const onSettled = () => Promise.reject(new Error('down'));
      const { journal, service, clock } = bench({ onSettled }, open);
      service.next.push('lost', 'ok');
      await journal.create(named('lost'));
      await journal.observe(event('lost'));
      await journal.create(named('accepted'));
      clock.now += 3_600_000;
      expect(await journal.health()).toMatchObject({ unsettled: 0, withoutEvent: 1, unreported: 1 });
    });
  });

  describe('settle', () => {
    it.each(['accepted', 'abandoned'] as const)(
      'an unknown order is %s when a person says so',
      async (decision) => {
        const { journal, service, clock } = bench({}, open);
        service.next.push('lost');
        await journal.create(order);
        clock.now += 1000;
        const settled = await journal.settle('A-1001', decision, 'Asked the service, ticket 77.');
        expect(settled).toMatchObject({
          state: decision,
          evidence: 'person',
          note: 'Asked the service, ticket 77.',
          changedAt: clock.now,
        });
        expect(await journal.settle('A-1001', decision, 'Once more.')).toEqual(settled);
        expect(await journal.unsettled()).toEqual([]);
        const other = decision === 'accepted' ? 'abandoned' : 'accepted';
        expect(await rejected(journal.settle('A-1001', other, 'No.'))).toMatchObject({
          code: 'already_settled',
        });
        if (decision === 'accepted') expect(await journal.create(order)).toMatchObject({ state: 'accepted' });
        else expect(await errorOf(journal.create(order))).toMatchObject({ code: 'order_abandoned' });
        expect(service.requests).toHaveLength(1);
      },
    );

    it('cannot take an order from a process that is sending it, but from one that died', async () => {
      const { journal, service, clock } = bench({}, open);
      service.next.push(untilTestEnds);
      journal.create(order).catch(() => {});
      await expect.poll(() => service.requests.length).toBe(1);
      expect(await rejected(journal.settle('A-1001', 'abandoned', 'x'))).toMatchObject({
        code: 'in_progress',
      });
      clock.now += 120_000;
      expect(await journal.settle('A-1001', 'abandoned', 'x')).toMatchObject({ state: 'abandoned' });
    });

    it.each([
      ['refused', { status: 400 }],
      ['accepted', 'ok'],
    ] as const)('has nothing to decide about an order that is %s', async (state, answer) => {
      const { journal, service } = bench({}, open);
      service.next.push(answer);
      await journal.create(order);
      expect(await rejected(journal.settle('A-1001', 'abandoned', 'x'))).toMatchObject({
        code: 'already_settled',
        state,
      });
    });

    it('a 2xx after an order was given up: it exists', async () => {
      const { journal, service, another, clock } = bench({ leaseMs: 60_000 }, open);
      service.next.push(async () => {
        clock.now += 60_000;
        await another().settle('A-1001', 'abandoned', 'x');
        return Response.json({ ok: true });
      });
      expect(await journal.create(order)).toMatchObject({
        reply: { status: 200 },
        order: { state: 'accepted', evidence: 'reply', contradiction: 'abandoned' },
      });
    });

    it.each([
      ['abandoned', { state: 'abandoned' }],
      ['accepted', { state: 'accepted', contradiction: 'refused' }],
    ] as const)('a refusal after a person said %s is thrown', async (decision, expected) => {
      const { journal, service, another, clock } = bench({ leaseMs: 60_000 }, open);
      service.next.push(async () => {
        clock.now += 60_000;
        await another().settle('A-1001', decision, 'x');
        return Response.json({ ok: true }, { status: 400 });
      });
      expect(await errorOf(journal.create(order))).toMatchObject({ outcome: 'refused' });
      expect(await journal.get('A-1001')).toMatchObject(expected);
    });
  });

  describe('prepare', () => {
    it('writes the intent and sends nothing; create sends it', async () => {
      const { journal, service, another } = bench({}, open);
      expect(await journal.prepare(order, { merchant: 'ngn' })).toMatchObject({
        state: 'prepared',
        merchant: 'ngn',
        attempts: 0,
      });
      expect(service.requests).toEqual([]);
      expect(await rejected(journal.create(order))).toMatchObject({ code: 'different_order' });
      expect(await another().create(order, { merchant: 'ngn' })).toMatchObject({
        order: { state: 'accepted' },
      });
      expect(await journal.prepare(order, { merchant: 'ngn' })).toMatchObject({ state: 'accepted' });
      expect(await journal.unsettled()).toEqual([]);
    });

    it('replaces what was prepared before on demand, and nothing that was sent', async () => {
      const { journal, service } = bench({}, open);
      const changed = { ...order, fiat_amount: '5' };
      await journal.prepare(order);
      expect(await rejected(journal.prepare(changed))).toMatchObject({ code: 'different_order' });
      await journal.prepare(changed, { replace: true });
      expect(await rejected(journal.create(order))).toMatchObject({ code: 'different_order' });
      service.next.push('lost');
      await journal.create(changed);
      expect(await rejected(journal.prepare(order, { replace: true }))).toMatchObject({
        code: 'different_order',
      });
      expect(await journal.prepare(changed)).toMatchObject({ state: 'unknown' });
    });

    it('prepares again what was not sent, or was refused and is replaced', async () => {
      const { journal, service } = bench({}, open);
      service.next.push('not-sent', { status: 400 });
      await journal.create(order);
      expect(await journal.prepare(order)).toMatchObject({ state: 'prepared' });
      await journal.create(order);
      expect(await rejected(journal.prepare(order))).toMatchObject({ code: 'order_refused' });
      const changed = { ...order, fiat_amount: '5' };
      expect(await journal.prepare(changed, { replace: true })).toMatchObject({ state: 'prepared' });
    });

    it('is given up by a person', async () => {
      const { journal } = bench({}, open);
      await journal.prepare(order);
      expect(await journal.settle('A-1001', 'abandoned', 'x')).toMatchObject({ state: 'abandoned' });
      expect(await rejected(journal.prepare(order))).toMatchObject({ code: 'order_abandoned' });
    });

    it('writes through the store of a transaction of your own', async () => {
      const { journal, store } = bench({}, open);
      const keys: string[] = [];
      const through: RecordStore = {
        ...store,
        transact: (wanted, change) => {
          keys.push(...wanted);
          return store.transact(wanted, change);
        },
      };
      await journal.prepare(order, { store: through });
      expect(keys).toHaveLength(2);
      expect(await journal.unsettled()).toHaveLength(1);
    });
  });
});

describe('the journal', () => {
  it('leaves a transaction of your own alone after a failure: it cannot be tried again', async () => {
    const { journal, store } = bench();
    let calls = 0;
    const through: RecordStore = {
      ...store,
      transact: async () => {
        calls++;
        throw new StoreError('store_failed', 'down');
      },
    };
    expect(await rejected(journal.prepare(order, { store: through }))).toMatchObject({
      code: 'store_failed',
    });
    expect(calls).toBe(1);
  });

  it('finds all unsettled orders of more than a page', async () => {
    const { journal } = bench();
    const all = Array.from({ length: 1050 }, (_, index) => named(`A-${index}`));
    for (let start = 0; start < all.length; start += 50) {
      await Promise.all(all.slice(start, start + 50).map((each) => journal.prepare(each)));
    }
    expect(await journal.unsettled({ limit: 5000 })).toHaveLength(1050);
    expect(await journal.unsettled()).toHaveLength(1000);
  });

  it('loses sight of no order when the clock is set back', async () => {
    const { journal, service, another, clock } = bench();
    clock.now += 365 * 86_400_000;
    service.next.push('lost', untilTestEnds);
    await journal.create(order);
    void journal.create(named('A-1002')).catch(() => {});
    await expect.poll(() => service.requests).toHaveLength(2);
    clock.now -= 365 * 86_400_000;
    const states = [{ state: 'unknown' }, { state: 'unknown' }];
    expect(await another().unsettled()).toMatchObject(states);
    expect(await another().unsettled({ olderThanMs: 60_000 })).toMatchObject(states);
    expect(await another().settle('A-1002', 'abandoned', 'Asked.')).toMatchObject({ state: 'abandoned' });
  });

  it('lists an order of a process whose clock is a little ahead, and leaves it to that process', async () => {
    const { journal, service, another, clock } = bench();
    clock.now += 5_000;
    service.next.push(untilTestEnds);
    void journal.create(order).catch(() => {});
    await expect.poll(() => service.requests).toHaveLength(1);
    clock.now -= 5_000;
    expect(await another().unsettled()).toMatchObject([{ state: 'sending' }]);
    expect(await another().unsettled({ olderThanMs: 60_000 })).toEqual([]);
  });

  it('does not settle what it does not have', async () => {
    const { journal } = bench();
    expect(await rejected(journal.settle('none', 'abandoned', 'x'))).toMatchObject({
      code: 'order_not_found',
      state: undefined,
    });
    expect(await journal.get('none')).toBeUndefined();
  });

  it('refuses decisions, notes, ids and options that it cannot use', async () => {
    const { journal } = bench();
    const invalid = { code: 'invalid_option' };
    expect(await rejected(journal.settle('a', 'refused' as never, 'x'))).toMatchObject(invalid);
    expect(await rejected(journal.settle('a', 'accepted', ''))).toMatchObject(invalid);
    expect(await rejected(journal.settle('a', 'accepted', 'x'.repeat(1001)))).toMatchObject(invalid);
    expect(await rejected(journal.get(''))).toMatchObject(invalid);
    expect(await rejected(journal.unsettled({ limit: 0 }))).toMatchObject(invalid);
    expect(await rejected(journal.unsettled({ olderThanMs: -1 }))).toMatchObject(invalid);
    expect(await rejected(journal.unsettled({ olderThan: 1 } as never))).toMatchObject(invalid);
    expect(await rejected(journal.prepare(order, { store: {} } as never))).toMatchObject(invalid);
    expect(await rejected(journal.prepare(order, { stor: 1 } as never))).toMatchObject(invalid);
  });

  it('refuses to work on a record that it does not understand', async () => {
    const { journal, store, service } = bench();
    await journal.create(order);
    const [record] = await store.list({ prefix: 'orders:order:', limit: 1 });
    const key = record?.key ?? '';
    await store.transact([key], (records) => records.set(key, { version: 1, state: 'not-sent' }));
    expect(await rejected(journal.create(order))).toMatchObject({ code: 'store_failed' });
    expect(await rejected(journal.observe(event()))).toMatchObject({ code: 'store_failed' });
    expect(service.requests).toHaveLength(1);
  });
});
