import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RecordStore } from '../../../src/store/record-store.ts';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { scratchFolder } from '../../support/scratch.ts';

const text = 'x'.repeat(10_000);
let path = '';
let store: RecordStore;

beforeEach(() => {
  path = join(scratchFolder(), 'records.sqlite');
  store = sqliteStore({ path, maxBytes: 200_000 });
});
afterEach(() => store.close());

/** Sets records until one is refused, and returns how many were set. */
async function fill(name: string): Promise<number> {
  for (let count = 0; ; count++) {
    const set = store.transact([`${name}/${count}`], (records) => records.set(`${name}/${count}`, text));
    const error = await set.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error === undefined) continue;
    expect(error).toMatchObject({ name: 'StoreError', code: 'disk_full' });
    return count;
  }
}

describe('a record store whose room is used up', () => {
  it('refuses a change with disk_full, and writes nothing of it', async () => {
    const count = await fill('a');
    expect(count).toBeGreaterThan(10);
    expect(await store.list({ prefix: '', limit: 1_000 })).toHaveLength(count);
  });

  it('makes a change that has reserve, and one that only deletes', async () => {
    await fill('a');
    await store.transact(['a/0', 'b'], (records) => records.set('b', text), { reserve: true });
    await store.transact(['a/1'], (records) => records.delete('a/1'));
    await store.transact(['a/2'], (records) => records.delete('a/2'), { reserve: true });
    const found = await store.list({ prefix: '', limit: 1_000 });
    expect(found.map(({ key }) => key)).toEqual(expect.arrayContaining(['a/0', 'b']));
  });

  it('makes the changes beside a refused one', async () => {
    await fill('a');
    const settled = await Promise.allSettled([
      store.transact(['b'], (records) => records.set('b', text)),
      store.transact(['c'], (records) => records.set('c', text), { reserve: true }),
      store.transact(['a/0'], (records) => records.get('a/0')),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  });

  it('takes the room of what was deleted', async () => {
    const count = await fill('a');
    for (let index = 0; index < 10; index++)
      await store.transact([`a/${index}`], (records) => records.delete(`a/${index}`));
    expect(await fill('b')).toBeGreaterThan(5);
    expect(count).toBeGreaterThan(10);
  });
});

describe('the -wal of a record store', () => {
  const mb = 1024 * 1024;
  /** 4,000 pages, and what one transaction more takes. */
  const bound = 18 * mb;
  let roomy: RecordStore;

  beforeEach(() => {
    path = join(scratchFolder(), 'wal.sqlite');
    roomy = sqliteStore({ path });
  });
  afterEach(() => roomy.close());

  const walSize = () => statSync(`${path}-wal`).size;
  let written = 0;

  /** Sets records, fifty in each transaction. Returns how large the `-wal` became, at most. */
  async function write(megabytes: number): Promise<number> {
    let largest = 0;
    for (let bytes = 0; bytes < megabytes * mb; bytes += 50 * text.length) {
      const keys = Array.from({ length: 50 }, () => `key/${written++}`);
      await roomy.transact(keys, (records) => {
        for (const key of keys) records.set(key, text);
      });
      largest = Math.max(largest, walSize());
    }
    return largest;
  }

  it('stays within 16 MB, however much is stored', async () => {
    expect(await write(24)).toBeLessThan(bound);
  });

  it('grows while a program keeps reading, which sees what it saw, and not after that', async () => {
    await write(1);
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec('BEGIN');
    const read = reader.prepare('SELECT count(*) AS stored FROM partner_records');
    const before = Number(read.get()?.stored);
    const largest = await write(22);
    expect(largest).toBeGreaterThan(bound);
    expect(read.get()).toEqual({ stored: before });
    reader.exec('COMMIT');
    // The next commit moves everything into the file, and the one after it begins at the start again.
    expect(await write(24)).toBeLessThan(largest + 2 * mb);
    reader.close();
    await expect.poll(walSize, { timeout: 10_000 }).toBe(0);
    expect(await write(24)).toBeLessThan(bound);
  });
});
