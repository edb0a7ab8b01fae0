import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ManagedInbox } from '../../../src/inbox/inbox.ts';
import { type SqliteInboxOptions, sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { openDatabase } from '../../../src/store/sqlite/sqlite-database.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { gate } from '../../webhooks/deliveries.ts';
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

/** A clock that stands until it is moved. */
function clock() {
  let at = Date.UTC(2025, 0, 1);
  return {
    now: () => at,
    move: (ms: number) => {
      at += ms;
    },
  };
}

const day = 24 * 60 * 60 * 1000;

describe('the SQLite inbox', () => {
  it('waits for the disk before it acknowledges: WAL, and synchronous is FULL', async () => {
    open();
    const database = new DatabaseSync(path);
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.close();
    const opened = openDatabase({
      path,
      busyTimeoutMs: 1_000,
      prepare: () => {},
      fail: () => new Error('no'),
    });
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

  it('gives the body of a dead letter as it was received, when asked for it', async () => {
    const inbox = open({ maxAttempts: 1 });
    const body = order('A');
    await receiver(inbox, () => Promise.reject(new Error('no'))).webhooks.receive(body);
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 1 }));
    expect(await inbox.deadLetters({ withBody: true })).toMatchObject([{ body, attempts: 1 }]);
    expect((await inbox.deadLetters())[0]).not.toHaveProperty('body');
  });

  it('stores a burst of more than 1,000 deliveries that wait for the disk together', async () => {
    const inbox = open({ role: 'receiver', busyTimeoutMs: 5_000 });
    const { webhooks } = receiver(inbox);
    const ids = Array.from({ length: 1_200 }, (_, index) => `order ${index}`);
    const outcomes = await Promise.all(ids.map((id) => webhooks.receive(order(id))));
    expect(outcomes.filter(({ kind }) => kind !== 'stored')).toEqual([]);
    expect(await inbox.counts()).toEqual({ open: 1_200, dead: 0 });
  });

  it('closes its file when it stops: SQLite leaves nothing beside it', async () => {
    const inbox = open();
    await receiver(inbox).webhooks.receive(order('A'));
    expect(existsSync(`${path}-wal`)).toBe(true);
    expect(await inbox.stop()).toBe('drained');
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it('refuses an option that it does not have, with the nearest one', () => {
    // As JavaScript can write it.
    const misspelt = { pollMS: 5 } as object;
    expect(() => open(misspelt)).toThrow('Did you mean "pollMs"?');
    expect(existsSync(path)).toBe(false);
  });

  it('refuses a path that is none, and says whose it is', () => {
    for (const none of ['', ':memory:', 'file:inbox.sqlite'])
      expect(() => open({ path: none })).toThrow(/\bsqliteInbox\b/);
  });

  it('does not open a file in a folder that is not there', () => {
    const missing = join(folder, 'missing', 'inbox.sqlite');
    expect(() => sqliteInbox({ path: missing })).toThrow(
      expect.objectContaining({ code: 'store_unavailable' }),
    );
    expect(existsSync(missing)).toBe(false);
  });

  it('forgets a handled delivery after 30 days, not before', async () => {
    const { now, move } = clock();
    const first = open({ now });
    const { webhooks, calls } = receiver(first);
    await webhooks.receive(order('A'));
    await eventually(async () => expect(await first.counts()).toEqual({ open: 0, dead: 0 }));
    await first.stop();
    move(30 * day - 1);
    const second = receiver(open({ now }));
    await eventually(async () =>
      expect(await second.webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' }),
    );
    await inboxes.at(-1)?.stop();
    move(2);
    const third = receiver(open({ now }));
    await eventually(async () =>
      expect(await third.webhooks.receive(order('A'))).toMatchObject({ kind: 'stored' }),
    );
    expect(calls).toEqual(['A']);
  });

  it('does not forget what is still to be handled, nor dead letters, however old', async () => {
    const { now, move } = clock();
    const first = open({ now, maxAttempts: 1 });
    await receiver(first, () => Promise.reject(new Error('no'))).webhooks.receive(order('A'));
    await eventually(async () => expect(await first.deadLetters()).toHaveLength(1));
    await first.stop();
    move(365 * day);
    const second = open({ now });
    const { webhooks } = receiver(second);
    // real time: it would tidy up meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    expect(await second.deadLetters()).toHaveLength(1);
  });

  it.each([
    ['back by a year', -365 * day],
    ['back by an hour', -60 * 60 * 1000],
    ['ahead by an hour', 60 * 60 * 1000],
    ['ahead by a year', 365 * day],
  ])('goes on handling after the clock jumped %s', async (_, jump) => {
    const { now, move } = clock();
    let failures = 1;
    const { webhooks, calls } = receiver(
      open({ now, retry: { firstDelayMs: 5_000, maxDelayMs: 5_000 } }),
      () => {
        if (failures-- > 0) throw new Error('not yet');
      },
    );
    await webhooks.receive(order('A'));
    await eventually(() => expect(calls).toEqual(['A']));
    // Within its wait for the second attempt.
    // real time: nothing may happen meanwhile; a busy machine lets less happen.
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(calls).toEqual(['A']);
    move(jump);
    await webhooks.receive(order('B'));
    await eventually(() => expect(calls.toSorted()).toEqual(['A', 'A', 'B']));
    expect(await webhooks.receive(order('B'))).toMatchObject({ kind: 'duplicate' });
  });

  it('leaves to another process what it holds, also for longer than the own options allow', async () => {
    const end = gate();
    const long = receiver(open({ timeLimitMs: 600_000 }), () => end.opened);
    await long.webhooks.receive(order('A'));
    await eventually(() => expect(long.calls).toEqual(['A']));
    const short = receiver(open());
    await short.webhooks.receive(order('B'));
    await eventually(() => expect([...long.calls, ...short.calls]).toContain('B'));
    // real time: nothing may happen meanwhile; a busy machine lets less happen.
    await new Promise((resolve) => setTimeout(resolve, 100));
    end.open();
    expect([...long.calls, ...short.calls].toSorted()).toEqual(['A', 'B']);
  });

  it('has a file that grows by about 300 bytes for each delivery it remembers, and not for what it handled', async () => {
    const { now, move } = clock();
    const inbox = open({ now, rememberMs: day, concurrency: 500, timeLimitMs: 10_000 });
    const { webhooks } = receiver(inbox);
    const fill = async (from: number, to: number) => {
      for (let start = from; start < to; start += 500) {
        const ids = Array.from({ length: 500 }, (_, index) => `order ${start + index}`);
        await Promise.all(ids.map((id) => webhooks.receive(order(id))));
        await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 0 }));
      }
    };
    await fill(0, 2_000);
    const size = usedBytes();
    console.log(`SQLite: ${Math.round(size / 2_000)} bytes for each remembered delivery`);
    expect(size / 2_000).toBeLessThan(450);
    // The next period takes the room of the one before, which is swept an hour after it ended.
    move(day + 3_700_000);
    await fill(2_000, 4_000);
    await eventually(async () => {
      await webhooks.receive(order('again'));
      expect(usedBytes()).toBeLessThan(size * 1.5);
    });
  });
});

/** Of all pages in use. */
function usedBytes(): number {
  const database = new DatabaseSync(path);
  const read = (pragma: string) => Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);
  const used = (read('page_count') - read('freelist_count')) * read('page_size');
  database.close();
  return used;
}
