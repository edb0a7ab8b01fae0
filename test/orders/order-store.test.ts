import { describe, expect, it } from 'vitest';
import { StoreError } from '../../src/errors/errors.ts';
import { ordersNeedingAttention } from '../../src/orders/order-journal.ts';
import { processWarnings } from '../support/process-warnings.ts';
import { rejected } from '../support/refusal.ts';
import {
  allOf,
  down,
  hour,
  idsOf,
  indexOf,
  keyOf,
  keysIn,
  put,
  recordOf,
  recordsBench,
} from './records-bench.ts';

const day = 24 * hour;

describe('a change of an order', () => {
  it('that changes nothing writes nothing', async () => {
    const bench = recordsBench();
    await put(bench, 'A');
    bench.written.length = 0;
    await bench.records.update('A', (record) => record);
    await bench.records.update('B', () => undefined);
    expect(bench.written).toEqual([]);
  });

  it('is tried once more after a failure of the store', async () => {
    const bench = recordsBench();
    await put(bench, 'A');
    let failures = 0;
    bench.hooks.before = () => (failures++ === 0 ? down() : undefined);
    const changed = await bench.records.update('A', (record) => record && { ...record, note: 'x' });
    expect(changed).toMatchObject({ before: { state: 'unknown' }, after: { note: 'x' } });
    expect(failures).toBe(2);
  });

  it.each([new StoreError('store_closed', 'closed'), new Error('of its own')])(
    'is not tried again after %s',
    async (error) => {
      const bench = recordsBench();
      bench.hooks.before = () => {
        throw error;
      };
      expect(await rejected(bench.records.update('A', (record) => record))).toBe(error);
      expect(bench.calls).toHaveLength(1);
    },
  );

  it('that finds a contradiction is a warning, once', async () => {
    const warnings = processWarnings();
    const bench = recordsBench();
    await put(bench, 'A', { state: 'accepted', contradiction: 'abandoned' });
    expect(warnings()).toEqual([
      expect.stringContaining('The service has order "A", although it was abandoned'),
    ]);
    await bench.records.update('A', (record) => record && { ...record, note: 'x' });
    expect(warnings()).toHaveLength(1);
  });

  it('keeps an order that is settled for rememberMs, and any other until it is', async () => {
    const bench = recordsBench({ rememberMs: 1000 });
    await put(bench, 'open');
    await put(bench, 'settled', { state: 'refused' });
    await put(bench, 'waits', { state: 'accepted', awaitingEventSince: bench.clock.now });
    bench.clock.now += 999;
    expect(await keysIn(bench, 'o:order:')).toHaveLength(3);
    bench.clock.now += 1;
    expect((await keysIn(bench, 'o:order:')).toSorted()).toEqual([keyOf('open'), keyOf('waits')].toSorted());
    expect((await keysIn(bench, 'o:open:')).toSorted()).toEqual(
      [indexOf('open'), indexOf('waits')].toSorted(),
    );
  });

  it('keeps an order that waits for its first event for 30 days after that was due, or until it comes', async () => {
    const bench = recordsBench({ rememberMs: 1000 });
    const awaitingEventSince = bench.clock.now;
    await put(bench, 'A', { state: 'accepted', awaitingEventSince });
    await put(bench, 'B', { state: 'accepted', awaitingEventSince });
    await put(bench, 'B', { state: 'accepted' });
    bench.clock.now += 1000;
    expect(await keysIn(bench, '')).toEqual([indexOf('A'), keyOf('A')]);
    bench.clock.now = awaitingEventSince + hour + 30 * day - 1;
    expect(await keysIn(bench, '')).toEqual([indexOf('A'), keyOf('A')]);
    bench.clock.now += 1;
    expect(await keysIn(bench, '')).toEqual([]);
  });

  it('waits for no event where none is due, and remembers it as any other', async () => {
    const bench = recordsBench({ firstEventWithinMs: undefined, rememberMs: 1000 });
    await put(bench, 'A', { state: 'accepted', awaitingEventSince: bench.clock.now });
    expect(await keysIn(bench, '')).toEqual([keyOf('A')]);
    expect(bench.records.acceptedBefore()).toBeUndefined();
    bench.clock.now += 1000;
    expect(await keysIn(bench, '')).toEqual([]);
  });

  it('writes two records at most: of the order, and of the index of open orders', async () => {
    const bench = recordsBench();
    await put(bench, 'A', { attention: 'mismatch', unreported: true });
    expect(bench.written).toEqual([keyOf('A'), indexOf('A')]);
    await put(bench, 'A', { state: 'accepted' });
    expect(await keysIn(bench, '')).toEqual([keyOf('A')]);
  });
});

describe('the orders', () => {
  it('are listed all, or those that need a person', async () => {
    const bench = recordsBench();
    await put(bench, 'open');
    await put(bench, 'settled', { state: 'accepted' });
    await put(bench, 'differs', { state: 'accepted', attention: 'mismatch' });
    await put(bench, 'decided', { state: 'accepted', attention: 'mismatch' });
    await bench.memory.transact([keyOf('decided')], (records) =>
      // Another process has decided meanwhile. Sound: it is JSON.
      records.set(keyOf('decided'), { ...recordOf('decided', bench, { state: 'accepted' }) } as never),
    );
    expect(idsOf(await allOf(bench.records.all())).sort()).toEqual(['decided', 'differs', 'open', 'settled']);
    bench.calls.length = 0;
    expect(idsOf(await allOf(ordersNeedingAttention(bench.records)))).toEqual(['differs']);
    const read = bench.calls.flat().filter((key) => key.startsWith('o:order:'));
    expect(read.sort()).toEqual([keyOf('decided'), keyOf('differs')].sort());
  });

  it('are read in the order of their ids, each once', async () => {
    const bench = recordsBench();
    for (const id of ['A', 'B']) await put(bench, id);
    bench.calls.length = 0;
    const found = await bench.records.readEach(['B', 'none', 'A', 'B']);
    expect(found.map((record) => record?.partner_order_id)).toEqual(['B', undefined, 'A', 'B']);
    expect(bench.calls).toEqual([[keyOf('B'), keyOf('none'), keyOf('A')]]);
    expect(await bench.records.readEach([])).toEqual([]);
    expect(bench.calls).toHaveLength(1);
  });
});
