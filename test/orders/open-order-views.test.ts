import { describe, expect, it } from 'vitest';
import { orderIdDigest } from '../../src/deployment/reply-shape.ts';
import { countOpenOrders, unsettledOrders } from '../../src/orders/order-journal.ts';
import { hour, idsOf, keyOf, put, type RecordsOptions, recordOf, recordsBench } from './records-bench.ts';

describe('the unsettled orders', () => {
  /** Begun in this order, which is not that of their keys. */
  const ids = ['A', 'B', 'C', 'D', 'E', 'F'];

  async function listed(options: RecordsOptions = {}) {
    const bench = recordsBench(options);
    for (const id of ids) {
      bench.clock.now += 1;
      await put(bench, id);
    }
    return bench;
  }

  it('come in the order in which they were opened, then those without an event', async () => {
    const bench = await listed();
    for (const id of ids) {
      bench.clock.now += 1;
      await put(bench, `${id}2`, { state: 'accepted', awaitingEventSince: bench.clock.now });
    }
    const without = ids.map((id) => `${id}2`);
    const since = bench.clock.now;
    const found = async (openedBefore: number, limit = 100) =>
      idsOf(
        await unsettledOrders(bench.records, {
          olderThanMs: bench.now() - openedBefore,
          limit,
          now: bench.now,
        }),
      );
    expect(await found(since)).toEqual(ids);
    expect(await countOpenOrders(bench.records, bench.now)).toMatchObject({ withoutEvent: 0 });
    bench.clock.now += hour;
    expect(await found(since)).toEqual([...ids, ...without]);
    expect(await found(since, 8)).toEqual([...ids, 'A2', 'B2']);
    expect(await found(since - 1)).toEqual([...ids, ...without.slice(0, 5)]);
    expect(await found(since - 6 - 1)).toEqual(ids.slice(0, 5));
    expect((await bench.records.openOrders()).map(({ idDigest }) => idDigest)).toEqual(
      [...ids, ...without].map((id) => orderIdDigest(id)),
    );
    expect(await countOpenOrders(bench.records, bench.now)).toMatchObject({ unsettled: 6, withoutEvent: 6 });
  });

  it('lack those that another process has settled meanwhile', async () => {
    const bench = await listed();
    await bench.memory.transact([keyOf('B'), keyOf('E')], (records) => {
      // Sound: it is JSON.
      records.set(keyOf('B'), { ...recordOf('B', bench, { state: 'accepted' }) } as never);
      records.delete(keyOf('E'));
    });
    const found = await unsettledOrders(bench.records, { olderThanMs: 0, limit: 9, now: bench.now });
    expect(idsOf(found)).toEqual(['A', 'C', 'D', 'F']);
  });

  it('are read a hundred at a time, from all pages of the index', async () => {
    const bench = recordsBench();
    for (let index = 0; index < 1_001; index++) await put(bench, `A-${index}`);
    bench.calls.length = 0;
    const orders = await unsettledOrders(bench.records, { olderThanMs: 0, limit: 2_000, now: bench.now });
    expect(orders).toHaveLength(1_001);
    const sizes = bench.calls.filter(([key]) => key?.startsWith('o:order:')).map(({ length }) => length);
    expect(sizes).toEqual([...Array.from({ length: 10 }, () => 100), 1]);
  });

  it.each([
    ['another clock is a little ahead', 10, 0],
    ['the clock was set back', 365 * 24 * hour, 1],
  ])('have no negative age where %s, and are not lost', async (_, aheadMs, old) => {
    const bench = recordsBench();
    const at = bench.clock.now + aheadMs;
    await put(bench, 'A', { openedAt: at });
    await put(bench, 'B', { state: 'accepted', awaitingEventSince: at });
    expect(await countOpenOrders(bench.records, bench.now)).toMatchObject({ unsettled: 1, oldestAgeMs: 0 });
    const listed = (olderThanMs: number) =>
      unsettledOrders(bench.records, { olderThanMs, limit: 9, now: bench.now });
    expect(await listed(0)).toHaveLength(1 + old);
    expect(await listed(60_000)).toHaveLength(2 * old);
  });

  it('are counted by their states, apart from those that need a report or a person', async () => {
    const bench = recordsBench();
    await put(bench, 'prepared', { state: 'prepared' });
    await put(bench, 'sending', { state: 'sending', leaseUntil: bench.clock.now + 1 });
    await put(bench, 'overdue', { state: 'sending', leaseUntil: bench.clock.now });
    await put(bench, 'waiting', { state: 'waiting' });
    await put(bench, 'not-sent', { state: 'not-sent' });
    await put(bench, 'told', { state: 'refused', unreported: true });
    await put(bench, 'differs', { state: 'accepted', attention: 'mismatch' });
    await put(bench, 'both', { state: 'accepted', attention: 'mismatch', unreported: true });
    expect(await countOpenOrders(bench.records, bench.now)).toEqual({
      ...{ prepared: 1, sending: 1, waiting: 1, 'not-sent': 1, unknown: 1, unsettled: 5 },
      ...{ oldestAgeMs: 0, withoutEvent: 0, mismatches: 2, unreported: 2, unwritten: 0 },
    });
    expect(
      idsOf(await unsettledOrders(bench.records, { olderThanMs: 0, limit: 9, now: bench.now })).sort(),
    ).toEqual([...['not-sent', 'overdue', 'prepared', 'sending', 'waiting']]);
  });

  it('are counted by reading one index, and no record', async () => {
    const bench = await listed();
    bench.calls.length = 0;
    await countOpenOrders(bench.records, bench.now);
    expect(bench.calls).toEqual([['list o:open:']]);
  });
});
