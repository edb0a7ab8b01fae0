import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/inbox/inbox.ts';
import { openSqliteStore, type SqliteStore } from '../../../src/inbox/sqlite/delivery-table.ts';
import { statementTexts } from '../../../src/inbox/sqlite/sqlite-statements.ts';
import { scratchFolder } from '../../support/scratch.ts';

let folder = '';
let store: SqliteStore;

beforeEach(() => {
  folder = scratchFolder();
  store = openSqliteStore({
    path: join(folder, 'inbox.sqlite'),
    busyTimeoutMs: 50,
    leaseMs: 1_000,
    longestWaitMs: 100_000,
    rememberMs: 1_000_000,
    maxAttempts: 8,
  });
});
afterEach(() => {
  store.database.close();
});

function deliveryOf(index: number): Delivery {
  // Spread, as digests are.
  const digest = ((index * 2654435761) % 2 ** 32).toString(16).padStart(8, '0').repeat(8);
  return { digest, name: 'event.buy.init', key: { index: 0 }, body: '{}' };
}

function fill(from: number, to: number, at: number): void {
  store.database.exec('BEGIN');
  for (let index = from; index < to; index++) store.insert(deliveryOf(index), at);
  store.database.exec('COMMIT');
}

/** Milliseconds, at best: what else the machine does comes on top. */
function cost(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 15; round++) {
    const begun = performance.now();
    for (let call = 0; call < 20; call++) work();
    least = Math.min(least, performance.now() - begun);
  }
  return least;
}

describe('the SQLite store', () => {
  it.each(Object.entries(statementTexts).filter(([name]) => name !== 'counts'))(
    'never reads all deliveries or digests to %s',
    (_, text) => {
      const plan = store.database
        .prepare(`EXPLAIN QUERY PLAN ${text}`)
        .all()
        .map(({ detail }) => detail);
      expect(plan.filter((step) => /^SCAN partner_inbox/.test(String(step)))).toEqual([]);
    },
  );

  it('looks for what is due, and leases, as fast among 20,000 as among 500', () => {
    const now = 1_000_000;
    const work = [
      ['nothing is due', () => store.untilNext(now - 1)],
      ['nothing can be leased', () => store.lease(10, now - 1)],
      ['nothing has to be tried alone', () => store.isIsolatedDue(now)],
      ['nothing can be leased alone', () => store.leaseIsolated(now)],
      [
        'ten are leased, and given back',
        () => {
          for (const one of store.lease(10, now)) store.postpone(one, now, '');
        },
      ],
    ] as const;
    store.database.exec('PRAGMA synchronous = OFF');
    const measure = () => {
      store.database.exec('BEGIN');
      const costs = work.map(([, run]) => cost(run));
      store.database.exec('ROLLBACK');
      return costs;
    };
    fill(0, 500, now);
    const few = measure();
    fill(500, 20_000, now);
    for (const [index, ms] of measure().entries()) {
      // 40 times as much where all are read.
      expect(ms / (few[index] ?? 0), work[index]?.[0]).toBeLessThan(8);
    }
  });

  it('leases no more than asked for, what is due first, and what the clock went back on last', () => {
    fill(0, 3, 500_000);
    fill(3, 6, 1_000_000);
    const digests = (limit: number) => store.lease(limit, 500_000).map(({ delivery }) => delivery.digest);
    const expected = (...indexes: number[]) => indexes.map((index) => deliveryOf(index).digest).toSorted();
    expect(digests(2)).toHaveLength(2);
    expect(digests(2)).toHaveLength(2);
    expect(digests(5)).toHaveLength(2);
    expect(digests(5)).toEqual([]);
    fill(6, 7, 500_000);
    fill(7, 8, 1_000_000);
    expect(digests(1)).toEqual(expected(6));
    expect(digests(1)).toEqual(expected(7));
  });

  it('has what lost its lease tried alone, one at a time, whoever asks; and counts the leases lost alone only', () => {
    fill(0, 3, 1_000);
    expect(store.lease(3, 1_000).map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    expect(store.isIsolatedDue(1_999)).toBe(false);
    expect(store.isIsolatedDue(2_000)).toBe(true);
    expect(store.lease(3, 2_000)).toEqual([]);
    const asked = Array.from({ length: 4 }, () => store.leaseIsolated(2_000).leased);
    expect(asked.map((one) => one?.attempt)).toEqual([1, 1, 1, undefined]);
    const [failed] = asked;
    if (failed === undefined) throw new Error('Nothing was leased.');
    // A failure in order counts too, and it stays alone.
    store.postpone(failed, 2_500, 'no');
    expect([2_499, 2_500].map(store.isIsolatedDue)).toEqual([false, true]);
    expect(store.lease(3, 3_000)).toEqual([]);
    const again = Array.from({ length: 3 }, () => store.leaseIsolated(3_000).leased);
    expect(again.map((one) => one?.attempt)).toEqual([2, 2, 2]);
    expect(store.counts()).toEqual({ open: 3, dead: 0 });
  });

  it('makes a dead letter of what lost its last lease alone; replayed, it has all its attempts again, alone', () => {
    fill(0, 1, 0);
    store.lease(1, 0);
    let now = 1_000;
    for (let attempt = 1; attempt <= 8; attempt++, now += 1_000) {
      expect(store.leaseIsolated(now)).toMatchObject({ leased: { attempt }, dead: [] });
    }
    expect(store.leaseIsolated(now)).toMatchObject({ leased: undefined, dead: [{ attempt: 8 }] });
    const [deadLetter] = store.deadLetters({ limit: 1, withBody: false });
    expect(deadLetter).toMatchObject({ attempts: 8, reason: expect.stringContaining('lost its lease') });
    store.replay(deadLetter?.digest ?? '', now);
    expect(store.lease(1, now)).toEqual([]);
    expect(store.leaseIsolated(now)).toMatchObject({ leased: { attempt: 1 }, dead: [] });
  });

  it.each<[string, Partial<Record<keyof Delivery, unknown>>]>([
    ['without a name', { name: null }],
    ['without a body', { body: null }],
    ['whose digest is none', { digest: 'x'.repeat(64) }],
    ['whose digest is too short', { digest: 'ab' }],
  ])('says so when it cannot store a delivery %s, which is no duplicate', (_, wrong) => {
    // As a defect elsewhere would give it.
    const delivery = { ...deliveryOf(1), ...wrong } as Delivery;
    expect(() => store.insert(delivery, 1)).toThrow();
  });
});
