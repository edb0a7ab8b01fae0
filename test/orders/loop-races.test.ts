import { describe, expect, it } from 'vitest';
import type { RecordStore } from '../../src/store/record-store.ts';
import { allRecords, type Bench, bench, event, order } from './service.ts';
import { idle, loopOf } from './stepped-loop.ts';

type Meanwhile = (bench: Bench) => Promise<unknown>;

/** A store in which something happens before its first transactions, one step for each. */
function interrupted(store: RecordStore, steps: (() => Promise<unknown>)[]): RecordStore {
  return {
    ...store,
    async transact(keys, change) {
      await steps.shift()?.();
      return await store.transact(keys, change);
    },
  };
}

async function remove({ store }: Bench) {
  const keys = (await allRecords(store)).map(({ key }) => key);
  await store.transact(keys, (records) => {
    for (const key of keys) records.delete(key);
  });
}

/** Runs one look of a loop; something happens after it has listed the orders, or before it writes. */
async function lookAt(made: Bench, when: 'before it reads the order' | 'before it writes', act: Meanwhile) {
  let records: unknown;
  const step = async () => {
    await act(made);
    records = await allRecords(made.store);
  };
  const steps = when === 'before it reads the order' ? [step] : [async () => {}, step];
  const { errors, unknown, loop } = loopOf(made.another({ store: interrupted(made.store, steps) }));
  await expect.poll(() => steps).toEqual([]);
  await idle();
  await loop.stop();
  return {
    errors,
    unknown,
    hasWritten: JSON.stringify(await allRecords(made.store)) !== JSON.stringify(records),
  };
}

describe.each(['before it reads the order', 'before it writes'] as const)(
  'what happens to an order after the loop has listed it, %s,',
  (when) => {
    it.each<[string, Meanwhile]>([
      ['an event settles it', ({ journal }) => journal.observe(event())],
      ['a person gives it up', ({ journal }) => journal.settle('A-1001', 'abandoned', 'Not there.')],
      ['it is forgotten', remove],
    ])('keeps an unknown order from the person: %s', async (_, act) => {
      const made = bench();
      made.service.next.push('lost');
      await made.journal.create(order);
      made.clock.now += 120_000;
      expect(await lookAt(made, when, act)).toEqual({ errors: [], unknown: [], hasWritten: false });
    });

    it.each<[string, Meanwhile]>([
      ['an event settles it', ({ journal }) => journal.observe(event())],
      ['a person gives it up', ({ journal }) => journal.settle('A-1001', 'abandoned', 'Not there.')],
    ])('keeps a prepared order from the service: %s', async (_, act) => {
      const made = bench();
      await made.journal.prepare(order);
      made.clock.now += 1_000;
      expect(await lookAt(made, when, act)).toEqual({ errors: [], unknown: [], hasWritten: false });
      expect(made.service.requests).toEqual([]);
    });
  },
);
