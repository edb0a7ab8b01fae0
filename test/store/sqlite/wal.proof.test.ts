import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RecordStore } from '../../../src/store/record-store.ts';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { scratchFolder } from '../../support/scratch.ts';

const text = 'x'.repeat(10_000);

describe('the -wal of a record store', () => {
  const mb = 1024 * 1024;
  /** 4,000 pages, and what one transaction more takes. */
  const bound = 18 * mb;
  let path = '';
  let store: RecordStore;

  beforeEach(() => {
    path = join(scratchFolder(), 'records.sqlite');
    store = sqliteStore({ path });
  });
  afterEach(() => store.close());

  const walSize = () => statSync(`${path}-wal`).size;
  let written = 0;

  /** Sets records, fifty in each transaction. Returns how large the `-wal` became, at most. */
  async function write(megabytes: number): Promise<number> {
    let largest = 0;
    for (let bytes = 0; bytes < megabytes * mb; bytes += 50 * text.length) {
      const keys = Array.from({ length: 50 }, () => `key/${written++}`);
      await store.transact(keys, (records) => {
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
