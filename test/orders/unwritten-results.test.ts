import { describe, expect, it } from 'vitest';
import { countOpenOrders } from '../../src/orders/order-journal.ts';
import type { OrderAttemptResult } from '../../src/orders/transitions.ts';
import type { RecordSet } from '../../src/store/record-store.ts';
import { processWarnings } from '../support/process-warnings.ts';
import { down, keyOf, put, recordsBench } from './records-bench.ts';
import type { bench } from './service.ts';

const accepted: OrderAttemptResult = { outcome: 'accepted', status: 200 };

describe('a result that the store has not taken', () => {
  it('is written by the next call', async () => {
    const bench = recordsBench();
    await put(bench, 'A');
    bench.clock.now += 5;
    bench.records.writeLater('A', { attempt: 'a', result: accepted, reports: true });
    await bench.records.openOrders();
    const written = { state: 'accepted', evidence: 'reply', unreported: true, claimedUntil: bench.clock.now };
    expect(await bench.open().read('A')).toMatchObject(written);
    expect(await countOpenOrders(bench.records, bench.now)).toMatchObject({ unwritten: 0, unreported: 1 });
  });

  it('is a warning when it contradicts what a person decided meanwhile', async () => {
    const warnings = processWarnings();
    const bench = recordsBench();
    await put(bench, 'A', { state: 'abandoned' });
    bench.records.writeLater('A', { attempt: 'a', result: accepted, reports: false });
    await bench.records.openOrders();
    expect(warnings()).toEqual([expect.stringContaining('although it was abandoned')]);
  });

  it('is forgotten if the store does not have the order', async () => {
    const bench = recordsBench();
    bench.records.writeLater('A', { attempt: 'a', result: accepted, reports: true });
    expect(await countOpenOrders(bench.records, bench.now)).toMatchObject({ unwritten: 0, unsettled: 0 });
    expect(await bench.records.read('A')).toBeUndefined();
  });

  it('that cannot be written holds up no other', async () => {
    const bench = recordsBench();
    for (const id of ['A', 'B']) await put(bench, id);
    for (const id of ['A', 'B'])
      bench.records.writeLater(id, { attempt: 'a', result: accepted, reports: false });
    bench.hooks.before = (keys) => (keys.includes(keyOf('A')) ? down() : undefined);
    expect(await countOpenOrders(bench.records, bench.now)).toMatchObject({ unwritten: 2 });
    expect(await countOpenOrders(bench.records, bench.now)).toMatchObject({ unwritten: 1 });
    expect(await bench.open().read('B')).toMatchObject({ state: 'accepted' });
    bench.hooks.before = () => {};
    expect(await countOpenOrders(bench.records, bench.now)).toMatchObject({ unwritten: 0 });
  });

  it('is written once, however many calls there are meanwhile', async () => {
    const bench = recordsBench();
    await put(bench, 'A');
    bench.records.writeLater('A', { attempt: 'a', result: accepted, reports: false });
    bench.calls.length = 0;
    const list = () => bench.records.openOrders();
    await Promise.all([list(), list(), list()]);
    expect(bench.calls.filter((keys) => keys.includes(keyOf('A')))).toHaveLength(1);
  });

  it('stays if it comes while an earlier one of its order is being written', async () => {
    const bench = recordsBench();
    await put(bench, 'A', { unresolved: ['a', 'b'] });
    const refused = { outcome: 'refused', failure: 'http_error', status: 422 } as const;
    bench.records.writeLater('A', { attempt: 'a', result: refused, reports: false });
    bench.hooks.before = () => {
      bench.hooks.before = () => {};
      bench.records.writeLater('A', { attempt: 'b', result: accepted, reports: false });
    };
    expect(await countOpenOrders(bench.records, bench.now)).toMatchObject({ unwritten: 1, unknown: 1 });
    expect(await countOpenOrders(bench.records, bench.now)).toMatchObject({ unwritten: 0, unsettled: 0 });
    expect(await bench.open().read('A')).toMatchObject({ state: 'accepted', unresolved: [] });
  });

  it('is applied before a change, and written with it', async () => {
    const bench = recordsBench();
    await put(bench, 'A');
    bench.records.writeLater('A', { attempt: 'a', result: accepted, reports: false });
    const states: unknown[] = [];
    await bench.records.update('A', (record) => {
      states.push(record?.state);
      return record;
    });
    expect(states).toEqual(['accepted']);
    expect(await bench.open().read('A')).toMatchObject({ state: 'accepted' });
    expect(await countOpenOrders(bench.records, bench.now)).toMatchObject({ unwritten: 0 });
  });

  it('stays where it was written in a transaction of your own, which may be rolled back', async () => {
    const bench = recordsBench();
    await put(bench, 'A');
    bench.records.writeLater('A', { attempt: 'a', result: accepted, reports: false });
    const rolledBack: typeof bench.memory = {
      ...bench.memory,
      async transact(keys, change) {
        const read = (records: RecordSet) => new Map(keys.map((key) => [key, records.get(key)]));
        const former = await bench.memory.transact(keys, read);
        return change({ get: (key) => former.get(key), set: () => {}, delete: () => {} });
      },
    };
    const changed = await bench.records.update('A', (record) => record, rolledBack);
    expect(changed.after).toMatchObject({ state: 'accepted' });
    expect(await bench.open().read('A')).toMatchObject({ state: 'unknown' });
    expect(await bench.records.read('A')).toMatchObject({ state: 'accepted' });
  });

  it('is dropped if there are ten thousand newer ones', async () => {
    const bench = recordsBench();
    await put(bench, 'A-0');
    await put(bench, 'A-1');
    bench.hooks.before = down;
    for (let index = 0; index < 10_000; index++)
      bench.records.writeLater(`A-${index}`, { attempt: 'a', result: accepted, reports: false });
    expect((await countOpenOrders(bench.records, bench.now)).unwritten).toBe(10_000);
    // Now A-1 is the oldest: the call has tried A-0.
    bench.records.writeLater('B', { attempt: 'a', result: accepted, reports: false });
    expect((await countOpenOrders(bench.records, bench.now)).unwritten).toBe(10_000);
    bench.hooks.before = () => {};
    expect(await bench.records.read('A-0')).toMatchObject({ state: 'accepted' });
    expect(await bench.open().read('A-1')).toMatchObject({ state: 'unknown' });
  });
});
