import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openSqliteStore, type SqliteStore } from '../../../src/inbox/sqlite/delivery-table.ts';
import { scratchFolder } from '../../support/scratch.ts';

const mb = 1024 * 1024;
/** 4,000 pages, and what one transaction more takes. */
const bound = 18 * mb;
const body = 'x'.repeat(10_000);

let folder = '';
let path = '';
let store: SqliteStore;

beforeEach(() => {
  folder = scratchFolder();
  path = join(folder, 'inbox.sqlite');
  store = openSqliteStore({
    path,
    busyTimeoutMs: 50,
    leaseMs: 1_000,
    longestWaitMs: 100_000,
    rememberMs: 1_000_000,
    maxAttempts: 8,
  });
});
afterEach(() => {
  store.close();
});

const walSize = () => statSync(`${path}-wal`).size;

/** Stores deliveries, a few in each transaction. Says how large the `-wal` became, at most. */
function write(megabytes: number): number {
  let largest = 0;
  for (let written = 0; written < megabytes * mb; written += 50 * body.length) {
    store.database.exec('BEGIN');
    for (let index = 0; index < 50; index++) {
      const digest = randomBytes(32).toString('hex');
      store.insert({ digest, name: 'event.buy.init', key: { index: 0 }, body }, 1);
    }
    store.database.exec('COMMIT');
    largest = Math.max(largest, walSize());
  }
  return largest;
}

describe('the -wal of the SQLite inbox', () => {
  it('stays within 16 MB, however much is stored', () => {
    expect(write(60)).toBeLessThan(bound);
  });

  it('grows while a program keeps reading, which sees what it saw, and not after that', async () => {
    write(1);
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec('BEGIN');
    const read = reader.prepare('SELECT count(*) AS stored FROM partner_inbox_delivery');
    const before = Number(read.get()?.stored);
    const largest = write(30);
    expect(largest).toBeGreaterThan(bound);
    expect(read.get()).toEqual({ stored: before });
    reader.exec('COMMIT');
    // The next commit moves everything into the file, and the one after it begins at the start again.
    expect(write(60)).toBeLessThan(largest + 2 * mb);
    expect(read.get()).toEqual({ stored: store.counts().open });
    reader.close();
    await vi.waitFor(() => expect(walSize()).toBe(0), { timeout: 10_000 });
    expect(write(60)).toBeLessThan(bound);
  });
});
