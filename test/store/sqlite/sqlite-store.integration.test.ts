import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { StoreError } from '../../../src/errors/errors.ts';
import type { RecordStore } from '../../../src/store/record-store.ts';
import {
  listRecords,
  type RecordStatements,
  recordStatements,
  throwStoreError,
  withStoreErrors,
} from '../../../src/store/sqlite/record-table.ts';
import { readWhenFree } from '../../../src/store/sqlite/sqlite-database.ts';
import { type SqliteStoreOptions, sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { refusal, thrownBy } from '../../support/refusal.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { set } from '../counted.ts';

let folder = '';
let path = '';
const stores: RecordStore[] = [];

beforeEach(() => {
  folder = scratchFolder();
  path = join(folder, 'records.sqlite');
});
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
});

function open(options: Partial<SqliteStoreOptions> = {}): RecordStore {
  const store = sqliteStore({ path, ...options });
  stores.push(store);
  return store;
}

function countRows(): number {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(database.prepare('SELECT count(*) AS rows FROM partner_records').get()?.rows);
  } finally {
    database.close();
  }
}

describe('sqliteStore', () => {
  it.each(['', ':memory:', 'file:records.sqlite'])('refuses the path %j', (unsound) => {
    expect(refusal(() => sqliteStore({ path: unsound }))).toBe('ConfigurationError invalid_option');
  });

  it('says that somebody else has changed a record, without what it holds', async () => {
    const store = open();
    await set(store, 'key', 1);
    const database = new DatabaseSync(path);
    database.exec("UPDATE partner_records SET value = '+2348012345678'");
    database.close();
    for (const reading of [
      () => store.transact(['key'], (records) => records.get('key')),
      () => store.list({ prefix: '', limit: 1 }),
    ]) {
      const error: unknown = await reading().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: 'StoreError', code: 'store_failed' });
      expect(inspect(error)).not.toContain('+23480');
    }
    // Whoever does not look at it can still replace it.
    await set(store, 'key', 2);
    expect(await store.transact(['key'], (records) => records.get('key'))).toBe(2);
  });

  it('says that the file cannot be opened', () => {
    expect(refusal(() => open({ path: join(folder, 'missing', 'records.sqlite') }))).toBe(
      'StoreError store_failed',
    );
    const text = 'This is no database, but a text that is long enough to be looked at.'.repeat(20);
    writeFileSync(path, text, { mode: 0o600 });
    expect(refusal(() => open())).toBe('StoreError store_failed');
  });

  it('waits while another program locks the file, and lets timers go on', async () => {
    const store = open({ busyTimeoutMs: 60_000 });
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const waiting = set(store, 'a', 2);
    // real time: a store that blocks lets it never fire.
    await new Promise((resolve) => setTimeout(resolve, 50));
    other.exec('ROLLBACK');
    other.close();
    await waiting;
    expect(await store.list({ prefix: '', limit: 1 })).toEqual([{ key: 'a', value: 2 }]);
  });

  it('makes the changes that waited for another program in their order, and refuses each when its own time is over', async () => {
    const store = open({ busyTimeoutMs: 2_000 });
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const append = (number: number) =>
      store.transact(['list'], (records) => {
        records.set('list', [...((records.get('list') as number[] | undefined) ?? []), number]);
      });
    const early = append(0).catch((error: unknown) => error);
    // real time: the later changes have so much more time.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const late = [1, 2, 3].map(append);
    expect(await early).toMatchObject({ name: 'StoreError', code: 'store_conflict' });
    other.exec('ROLLBACK');
    other.close();
    await Promise.all(late);
    expect(await store.list({ prefix: '', limit: 1 })).toEqual([{ key: 'list', value: [1, 2, 3] }]);
  });

  it('reads again while another process recovers the file, and gives up when its time is over', async () => {
    const busy = Object.assign(new Error('database is locked'), { errcode: 261 });
    const read = vi
      .fn(() => 'read')
      .mockImplementationOnce(() => {
        throw busy;
      });
    expect(await readWhenFree(read, 60_000)).toBe('read');
    const locked = () => {
      throw busy;
    };
    await expect(readWhenFree(locked, 0)).rejects.toBe(busy);
  });

  it('does not run the changes again that stand beside one that throws', async () => {
    const store = open();
    let runs = 0;
    const results = await Promise.allSettled([
      store.transact(['a'], (records) => {
        runs++;
        records.set('a', 1);
      }),
      // Looks like an error of SQLite, and is not one.
      store.transact(['b'], () => {
        throw Object.assign(new Error('no'), { errcode: 5 });
      }),
      set(store, 'c', 1),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { message: 'no' } });
    expect(runs).toBe(1);
  });

  it.each(Object.entries(recordStatements))(
    'reads no record that it does not need, to %s',
    async (_, text) => {
      open();
      const database = new DatabaseSync(path, { readOnly: true });
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all();
      expect(plan.map(({ detail }) => String(detail)).filter((step) => /^SCAN|TEMP/.test(step))).toEqual([]);
      database.close();
    },
  );

  it('deletes expired records from the file, an hour after they expired', async () => {
    let time = 1_700_000_000_000;
    const now = () => time;
    await set(open({ now }), 'kept', 1);
    for (let index = 0; index < 50; index++) await set(open({ now }), `k${index}`, 1, time + 1000);
    expect(countRows()).toBe(51);
    time += 3_600_000;
    // Each store sweeps with its first change, and then once a second.
    await set(open({ now }), 'kept', 2);
    expect(countRows()).toBe(51);
    time += 1000;
    await set(open({ now }), 'kept', 3);
    expect(countRows()).toBe(1);
  });

  it('deletes a record, and writes what is set beside it', async () => {
    const store = open();
    await set(store, 'a', 1);
    await store.transact(['a', 'b'], (records) => {
      records.delete('a');
      records.set('b', 2);
    });
    expect(await store.list({ prefix: '', limit: 9 })).toEqual([{ key: 'b', value: 2 }]);
  });

  it('is closed, and not only for its users', async () => {
    const store = sqliteStore({ path });
    await store.close();
    // The last one that closes a database deletes what SQLite keeps beside it.
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it('deletes at most 200 expired records with a change, and then more with the next', async () => {
    let time = 1_700_000_000_000;
    const store = open({ now: () => time });
    const keys = Array.from({ length: 250 }, (_, number) => `k${number}`);
    await store.transact(keys, (records) => {
      for (const key of keys) records.set(key, 1, { expiresAt: time });
    });
    time += 3_600_000;
    // The first change has swept in vain, and the next sweep is a second later: another store has not swept yet.
    const other = open({ now: () => time });
    await set(other, 'kept', 1);
    expect(countRows()).toBe(51);
    await set(other, 'kept', 2);
    expect(countRows()).toBe(1);
  });

  it('looks for expired records once a second', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    let time = 1_700_000_000_000;
    const store = open({ now: () => time });
    await set(store, 'gone', 1, time);
    time += 3_600_000;
    vi.advanceTimersByTime(999);
    await set(store, 'kept', 1);
    expect(countRows()).toBe(2);
    vi.advanceTimersByTime(1);
    await set(store, 'kept', 2);
    expect(countRows()).toBe(1);
  });

  it('waits for another process for a minute at most', () => {
    expect(refusal(() => open({ busyTimeoutMs: 60_001 }))).toBe('ConfigurationError invalid_option');
  });
});

describe('an error of SQLite', () => {
  const sqliteError = (errcode: unknown) => Object.assign(new Error('no'), { errcode });
  it.each([
    ['a lock of another process', 'store_conflict', sqliteError(5)],
    ['a kind of such a lock', 'store_conflict', sqliteError(261)],
    ['a full disk', 'disk_full', sqliteError(13)],
    ['anything else', 'store_failed', sqliteError(1)],
    ['an error without a code', 'store_failed', new Error('no')],
    ['an error with a code of another kind', 'store_failed', sqliteError('5')],
    ['what is no error', 'store_failed', { errcode: 5 }],
  ])('that tells of %s is a %s, and its cause', (_, code, cause) => {
    const error = thrownBy(() => throwStoreError(cause));
    expect(error).toMatchObject({ name: 'StoreError', code, cause });
    // Of other errors SQLite does not say it.
    expect(String(error).includes('nothing was written')).toBe(code !== 'store_failed');
  });

  it('stays what it is if the store has said it already', () => {
    const error = new StoreError('store_conflict', 'no');
    const fail = () => {
      throw error;
    };
    expect(thrownBy(() => withStoreErrors(fail))).toBe(error);
  });
});

describe('a list of records', () => {
  it.each([
    ['the first of the prefix', undefined, 'b/'],
    ['the last key of the page before', 'b/5', 'b/5'],
    ['the first of the prefix if that key is before it', 'a/5', 'b/'],
  ])('reads from %s', (_, after, from) => {
    const all = vi.fn((_: Record<string, string | number>) => []);
    const statements = { list: { all } } as unknown as RecordStatements;
    expect(listRecords(statements, { prefix: 'b/', after, limit: 7 }, 9)).toEqual([]);
    expect(all.mock.lastCall).toEqual([{ from, end: 'b/\u007f', after: after ?? '', now: 9, limit: 7 }]);
  });
});
