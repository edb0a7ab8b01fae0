import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ManagedInbox } from '../../../src/inbox/inbox.ts';
import { type SqliteInboxOptions, sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { openDatabase } from '../../../src/store/sqlite/sqlite-database.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { send, serve } from '../../webhooks/http/server.ts';
import { eventually, order, quick, receiver } from '../receiver.ts';

let folder = '';
let path = '';
const inboxes: ManagedInbox[] = [];

beforeEach(() => {
  folder = scratchFolder();
  path = join(folder, 'inbox.sqlite');
});
afterEach(async () => {
  await Promise.all(inboxes.splice(0).map((inbox) => inbox.stop({ timeoutMs: 0 })));
});

function open(options: Partial<SqliteInboxOptions> = {}): ManagedInbox {
  const inbox = sqliteInbox({
    path,
    pollMs: 20,
    busyTimeoutMs: 1_000,
    onStoreError: () => {},
    ...quick,
    ...options,
  });
  inboxes.push(inbox);
  return inbox;
}

describe('the SQLite inbox', () => {
  it('waits for the disk before it acknowledges: WAL, and synchronous is FULL', async () => {
    open();
    const database = new DatabaseSync(path);
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.close();
    const opened = openDatabase(path, 1_000);
    expect(opened.database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
    opened.close();
  });

  it('answers 503 with Retry-After while another program holds the file, and 200 after that', async () => {
    const { webhooks, calls, reports } = receiver(open());
    await using server = await serve(webhooks.node);
    const holder = new DatabaseSync(path);
    holder.exec('BEGIN IMMEDIATE');
    const refused = await send(server.port, { body: order('A') });
    expect(refused).toMatchObject({ status: 503, body: '{"error":"unavailable"}' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(reports).toMatchObject([{ outcome: 'unavailable' }]);
    holder.exec('ROLLBACK');
    holder.close();
    expect(await send(server.port, { body: order('A') })).toMatchObject({ status: 200 });
    await eventually(() => expect(calls).toEqual(['A']));
  });

  it('has nothing handled out of a file that was deleted, answers 503, and tells onStoreError', async () => {
    const errors: unknown[] = [];
    const { calls, webhooks, reports } = receiver(open({ onStoreError: (error) => errors.push(error) }));
    await webhooks.receive(order('A'));
    await eventually(() => expect(reports.at(-1)).toMatchObject({ outcome: 'handled' }));
    rmSync(path);
    await eventually(() => expect(errors).toMatchObject([{ code: 'store_unavailable' }]));
    expect(await webhooks.receive(order('B'))).toMatchObject({ status: 503 });
    const restarted = receiver(open());
    expect(await restarted.webhooks.receive(order('B'))).toMatchObject({ kind: 'stored' });
    await eventually(() => expect(restarted.calls).toEqual(['B']));
    expect(calls).toEqual(['A']);
  });
});
