import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/inbox/inbox.ts';
import { statementTexts } from '../../../src/inbox/sqlite/sqlite-statements.ts';
import { openSqliteStore, type SqliteStore } from '../../../src/inbox/sqlite/sqlite-store.ts';

let folder = '';
let store: SqliteStore;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'inbox-'));
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
  rmSync(folder, { recursive: true, force: true });
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
