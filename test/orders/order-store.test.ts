import { describe, expect, it } from 'vitest';
import { StoreError } from '../../src/errors/errors.ts';
import { orderStore } from '../../src/orders/order-store.ts';
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
    expect(await bench.records.update('A', (record) => record && { ...record, note: 'x' })).toMatchObject({
      note: 'x',
    });
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

  it('keeps an order that is settled for rememberMs, and any other until it is', async () => {
    const bench = recordsBench({ rememberMs: 1000 });
    await put(bench, 'open');
    await put(bench, 'settled', { state: 'refused' });
    await put(bench, 'waits', { state: 'accepted', awaitingEventSince: bench.clock.now });
    bench.clock.now += 999;
    expect(await keysIn(bench, 'o:order:')).toHaveLength(3);
    bench.clock.now += 1;
    // As long as no event was ever observed, the silence means nothing.
    expect(await keysIn(bench, 'o:order:')).toEqual([keyOf('open')]);
    expect(await keysIn(bench, 'o:unsettled:')).toEqual([indexOf('open')]);
  });

  it('keeps an order that waits for its first event once events arrive, and no longer', async () => {
    const bench = recordsBench({ rememberMs: 1000 });
    await bench.records.noteObservation();
    const awaitingEventSince = bench.clock.now;
    await put(bench, 'A', { state: 'accepted', awaitingEventSince });
    bench.clock.now += 3 * day;
    expect(await keysIn(bench, 'o:awaiting:')).toHaveLength(1);
    expect(await bench.records.read('A')).toMatchObject({ state: 'accepted' });
    await put(bench, 'A', { state: 'accepted' });
    expect(await keysIn(bench, 'o:awaiting:')).toEqual([]);
    bench.clock.now += 1000;
    expect(await bench.records.read('A')).toBeUndefined();
  });

  it.each([
    [hour, day],
    [2 * day, 2 * day],
  ])(
    'watches for the first event, due within %i ms, for %i ms where none was observed',
    async (due, watched) => {
      const bench = recordsBench({ firstEventWithinMs: due });
      await put(bench, 'A', { state: 'accepted', awaitingEventSince: bench.clock.now });
      bench.clock.now += watched - 1;
      expect(await keysIn(bench, 'o:awaiting:')).toHaveLength(1);
      bench.clock.now += 1;
      expect(await keysIn(bench, 'o:awaiting:')).toEqual([]);
    },
  );

  it('waits for no event where none is due, and remembers it as any other', async () => {
    const bench = recordsBench({ firstEventWithinMs: undefined, rememberMs: 1000 });
    await bench.records.noteObservation();
    await put(bench, 'A', { state: 'accepted', awaitingEventSince: bench.clock.now });
    expect(await keysIn(bench, '')).toEqual([keyOf('A')]);
    bench.clock.now += 1000;
    expect(await keysIn(bench, '')).toEqual([]);
  });
});

describe('what the journal notes once', () => {
  it('is that it has observed an event', async () => {
    const bench = recordsBench();
    expect(await bench.records.acceptedBefore()).toBeUndefined();
    await bench.records.noteObservation();
    expect(await bench.records.acceptedBefore()).toBe(bench.clock.now - hour);
    bench.calls.length = 0;
    await bench.records.noteObservation();
    await bench.records.readObservation();
    expect(bench.calls).toEqual([]);
    // Another process reads it, once.
    const other = bench.open();
    for (let round = 0; round < 2; round++) expect(await other.acceptedBefore()).toBe(bench.clock.now - hour);
    expect(bench.calls).toEqual([['list o:observed']]);
  });

  it('is no event where none is due', async () => {
    const bench = recordsBench({ firstEventWithinMs: undefined });
    await bench.records.noteObservation();
    await bench.records.readObservation();
    expect(await bench.records.acceptedBefore()).toBeUndefined();
    expect(bench.calls).toEqual([]);
  });

  it('is that a loop reports what is settled', async () => {
    const bench = recordsBench();
    expect(await bench.records.hasReports()).toBe(false);
    await bench.records.noteReports();
    expect(await bench.open().hasReports()).toBe(true);
    bench.calls.length = 0;
    await bench.records.noteReports();
    expect(bench.calls).toEqual([]);
  });

  it('keeps the time of the first process', async () => {
    const bench = recordsBench();
    await bench.records.noteReports();
    const first = bench.clock.now;
    bench.clock.now += 5;
    await bench.open().noteReports();
    expect(await bench.memory.list({ prefix: 'o:reports', limit: 1 })).toMatchObject([{ value: first }]);
  });

  it('is noted at the next call if the store fails', async () => {
    const bench = recordsBench();
    bench.hooks.before = down;
    await rejected(bench.records.noteReports());
    await rejected(bench.records.noteObservation());
    bench.hooks.before = () => {};
    await bench.records.noteReports();
    await bench.records.noteObservation();
    expect(await keysIn(bench, '')).toEqual(['o:observed', 'o:reports']);
  });

  it('is not taken from a journal whose prefix begins in the same way', async () => {
    const bench = recordsBench();
    await bench.memory.transact(['o:reports:order:x', 'o:observed2'], (records) => {
      records.set('o:reports:order:x', 1);
      records.set('o:observed2', 1);
    });
    expect(await bench.records.hasReports()).toBe(false);
    expect(await bench.records.acceptedBefore()).toBeUndefined();
  });

  it('is looked for before an order is accepted, which is then watched for as long as it takes', async () => {
    const bench = recordsBench();
    await bench.records.noteObservation();
    const other = bench.open();
    await other.readObservation();
    const accepted = recordOf('A', bench, { state: 'accepted', awaitingEventSince: bench.clock.now });
    await other.update('A', () => accepted);
    bench.clock.now += 3 * day;
    expect(await keysIn(bench, 'o:awaiting:')).toHaveLength(1);
  });

  it('is looked for without a failure where the store does not answer', async () => {
    const bench = recordsBench();
    const broken = orderStore(
      {
        ...{ store: { ...bench.memory, list: async () => down() }, prefix: 'o:', rememberMs: undefined },
        ...{ firstEventWithinMs: hour, now: () => bench.clock.now },
      },
      () => {},
    );
    expect(await broken.readObservation()).toBeUndefined();
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
    const found = async (attention: boolean) => idsOf(await allOf(bench.records.list({ attention })));
    expect((await found(false)).sort()).toEqual(['decided', 'differs', 'open', 'settled']);
    bench.calls.length = 0;
    expect(await found(true)).toEqual(['differs']);
    const read = bench.calls.flat().filter((key) => key.startsWith('o:order:'));
    expect(read.sort()).toEqual([keyOf('decided'), keyOf('differs')].sort());
  });

  it('are read one at a time, and nothing else is', async () => {
    const bench = recordsBench();
    await put(bench, 'A');
    bench.calls.length = 0;
    expect(await bench.records.read('A')).toMatchObject({ partner_order_id: 'A' });
    expect(bench.calls).toEqual([[keyOf('A')]]);
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
