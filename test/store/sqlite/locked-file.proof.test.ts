import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RecordStore } from '../../../src/store/record-store.ts';
import { type SqliteStoreOptions, sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { countTicks, type LockHolder, sleepFor, startLockHolder } from '../../support/locked-file.ts';
import { scratchFolder } from '../../support/scratch.ts';

let folder = '';
let path = '';
let store: RecordStore | undefined;
let other: LockHolder | undefined;

beforeEach(() => {
  folder = scratchFolder();
  path = join(folder, 'records.sqlite');
});
afterEach(async () => {
  other?.end();
  await store?.close();
});

function open(options: Partial<SqliteStoreOptions> = {}): RecordStore {
  store = sqliteStore({ path, ...options });
  return store;
}

function append(opened: RecordStore, key: string, index: number): Promise<void> {
  return opened.transact([key], (records) => {
    records.set(key, [...((records.get(key) as number[] | undefined) ?? []), index]);
  });
}

describe('sqliteStore, while another process has the write lock', () => {
  it('lets timers and requests go on, and makes all changes afterwards, in their order', async () => {
    const opened = open();
    other = await startLockHolder(path);
    await other.hold();
    const settled: number[] = [];
    const changes: Promise<void>[] = [];
    const ticks = await countTicks(async () => {
      for (let index = 0; index < 40; index++) {
        changes.push(append(opened, 'list', index).then(() => void settled.push(index)));
        // real time: the lock is held for so long.
        await sleepFor(20);
      }
    });
    expect(settled).toEqual([]);
    // 800 ms: a store that blocks lets none fire.
    expect(ticks).toBeGreaterThan(15);
    expect(await opened.list({ prefix: '', limit: 1 })).toEqual([]);
    await other.release();
    await Promise.all(changes);
    const order = Array.from({ length: 40 }, (_, index) => index);
    expect(settled).toEqual(order);
    expect(await opened.list({ prefix: '', limit: 1 })).toEqual([{ key: 'list', value: order }]);
  });

  it('refuses each change when its own time is over, writes nothing of it, and makes those with time left', async () => {
    const opened = open({ busyTimeoutMs: 2_000 });
    other = await startLockHolder(path);
    await other.hold();
    const early = append(opened, 'list', 1).catch((error: unknown) => error);
    // real time: the second change has so much more time.
    await sleepFor(1_000);
    const late = append(opened, 'list', 2);
    expect(await early).toMatchObject({ name: 'StoreError', code: 'store_conflict' });
    await other.release();
    await late;
    expect(await opened.list({ prefix: '', limit: 1 })).toEqual([{ key: 'list', value: [2] }]);
  });
});
