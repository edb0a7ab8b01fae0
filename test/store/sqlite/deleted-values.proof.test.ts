import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, type TestContext, vi } from 'vitest';
import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { order, quick, receiver } from '../../inbox/receiver.ts';
import { scratchFolder } from '../../support/scratch.ts';

const marker = 'jane.doe@example.org';

/** The bound that docs/details/inboxes.md and docs/details/stores.md state. */
const bound = { timeout: 10_000 };

/** The files that hold the marker. */
function holding(folder: string): string[] {
  return readdirSync(folder).filter((name) => readFileSync(join(folder, name), 'latin1').includes(marker));
}

/** Tests that run side by side need their own context for what they leave. */
function scratchDatabase({ onTestFinished }: TestContext, name: string) {
  const folder = scratchFolder(onTestFinished);
  return { folder, path: join(folder, name) };
}

async function setAndDelete(store: ReturnType<typeof sqliteStore>): Promise<void> {
  await store.transact(['key'], (records) => records.set('key', marker));
  await store.transact(['key'], (records) => records.delete('key'));
}

describe('a deleted value leaves the files of SQLite within ten seconds', { concurrent: true }, () => {
  it('if nothing is written after it', async (context) => {
    const { folder, path } = scratchDatabase(context, 'records.sqlite');
    const store = sqliteStore({ path });
    await setAndDelete(store);
    expect(holding(folder)).not.toEqual([]);
    await vi.waitFor(() => expect(holding(folder)).toEqual([]), bound);
    expect(readdirSync(folder)).toContain('records.sqlite-wal');
    await store.close();
  });

  it('if the program that deleted it has ended, and another one has the file open and writes nothing', async (context) => {
    const { folder, path } = scratchDatabase(context, 'records.sqlite');
    const idle = sqliteStore({ path });
    const other = new DatabaseSync(path);
    other.exec('PRAGMA secure_delete = ON');
    other.exec(
      `INSERT INTO partner_records VALUES ('key', '"${marker}"', NULL); DELETE FROM partner_records`,
    );
    other.close();
    expect(holding(folder)).not.toEqual([]);
    await vi.waitFor(() => expect(holding(folder)).toEqual([]), bound);
    await idle.close();
  });

  it('after another program has ended to read, and not before that', async (context) => {
    const { folder, path } = scratchDatabase(context, 'records.sqlite');
    const store = sqliteStore({ path });
    await store.transact(['key'], (records) => records.set('key', marker));
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec('BEGIN; SELECT count(*) FROM partner_records');
    await store.transact(['key'], (records) => records.delete('key'));
    const other = sqliteStore({ path });
    await other.close();
    expect(holding(folder)).not.toEqual([]);
    reader.exec('COMMIT');
    await vi.waitFor(() => expect(holding(folder)).toEqual([]), bound);
    reader.close();
    await store.close();
  });

  it('if it is the body of a handled delivery of sqliteInbox, also beside a receiver', async (context) => {
    const { folder, path } = scratchDatabase(context, 'inbox.sqlite');
    const receiving = sqliteInbox({ path, ...quick, role: 'receiver' });
    await receiver(receiving).webhooks.receive(order(marker));
    expect(holding(folder)).not.toEqual([]);
    const handling = sqliteInbox({ path, ...quick });
    const { reports } = receiver(handling);
    await vi.waitFor(() => expect(reports.at(-1)).toMatchObject({ outcome: 'handled' }), bound);
    await vi.waitFor(() => expect(holding(folder)).toEqual([]), bound);
    await Promise.all([handling.stop(), receiving.stop()]);
  });
});

describe('a deleted value leaves the files of SQLite at once', () => {
  it('when the store that deleted it is closed, while another one is open', async (context) => {
    const { folder, path } = scratchDatabase(context, 'records.sqlite');
    const other = sqliteStore({ path });
    const store = sqliteStore({ path });
    await setAndDelete(store);
    await store.close();
    expect(holding(folder)).toEqual([]);
    await other.close();
  });
});
