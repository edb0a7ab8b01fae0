import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ManagedInbox } from '../../../src/inbox/inbox.ts';
import { type SqliteInboxOptions, sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { allFixtures } from '../../formats/fixtures.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { eventually, order, quick, receiver } from '../contract.ts';
import { formerInbox } from './former-inbox.ts';

/** The last commit before `sqliteInbox` kept its deliveries in a record store. */
const fixtures = allFixtures.find(({ commit }) => commit === '9c17b3a');
let path = '';
const inboxes: ManagedInbox[] = [];
const former: ReturnType<typeof formerInbox>[] = [];

beforeEach(() => {
  path = join(scratchFolder(), 'inbox.sqlite');
});
afterEach(async () => {
  await Promise.all(inboxes.splice(0).map((inbox) => inbox.stop({ timeoutMs: 0 })));
  for (const inbox of former.splice(0)) inbox.close();
});

function open(options: Partial<SqliteInboxOptions> = {}): ManagedInbox {
  const inbox = sqliteInbox({ path, pollMs: 20, onStoreError: () => {}, ...quick, ...options });
  inboxes.push(inbox);
  return inbox;
}

function openFormer() {
  const inbox = formerInbox(path);
  former.push(inbox);
  return inbox;
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** The rows of the tables that are being moved. */
function rowsLeft(): number {
  const database = new DatabaseSync(path, { readOnly: true });
  const count = (table: string) =>
    Number(database.prepare(`SELECT count(*) AS rows FROM partner_inbox_moving_${table}`).get()?.rows);
  const rows = count('delivery') + count('seen');
  database.close();
  return rows;
}

describe('a file of an earlier version', () => {
  it('has everything moved, of each state, and nothing stays in its tables', async () => {
    path = fixtures?.copy('inbox.sqlite') ?? expect.unreachable();
    const inbox = open({ role: 'receiver' });
    expect(await inbox.counts()).toEqual({ open: 4, dead: 2 });
    await eventually(() => expect(rowsLeft()).toBe(0));
    await inbox.stop();
    // Opened again, there is nothing to move.
    expect(await open({ role: 'receiver' }).counts()).toEqual({ open: 4, dead: 2 });
  });

  it('knows every digest and finds every dead letter while it is being moved', async () => {
    const old = openFormer();
    const ids = Array.from({ length: 600 }, (_, index) => `order ${index}`);
    for (const id of ids) old.store({ digest: digestOf(id), body: order(id) });
    for (const id of ids.slice(0, 400)) old.remove(digestOf(id));
    const inbox = open({ role: 'receiver' });
    const { webhooks } = receiver(inbox);
    // The last ones, in the first turn.
    const results = await Promise.all(
      ['order 399', 'order 599', 'new'].map((id) =>
        inbox.receive(
          { digest: digestOf(id), name: 'event.buy.init', key: { index: 0 }, body: order(id) },
          async () => 'handled',
        ),
      ),
    );
    expect(results).toEqual(['duplicate', 'duplicate', 'stored']);
    expect(rowsLeft()).toBeGreaterThan(0);
    expect(await webhooks.receive(order('other'))).toMatchObject({ kind: 'stored' });
    expect(await inbox.counts()).toEqual({ open: 202, dead: 0 });
    await eventually(() => expect(rowsLeft()).toBe(0));
  });

  it('answers deliveries while many thousands are moved', { timeout: 60_000 }, async () => {
    const old = openFormer();
    old.fill(60_000);
    const inbox = open({ role: 'receiver' });
    const { webhooks } = receiver(inbox);
    let answered = 0;
    while (rowsLeft() > 0)
      expect(await webhooks.receive(order(`order ${answered++}`))).toMatchObject({ kind: 'stored' });
    expect(answered).toBeGreaterThan(10);
  });

  it('refuses a process of that version, which is told so and loses nothing', async () => {
    const old = openFormer();
    old.store({ digest: digestOf('kept'), body: order('kept') });
    const { calls } = receiver(open());
    for (const id of ['late', 'kept'])
      expect(() => old.store({ digest: digestOf(id), body: order(id) })).toThrow(/view/i);
    // It has nothing to handle any more, and cannot change what it had.
    expect(old.due()).toBe(0);
    expect(() => old.remove(digestOf('kept'))).toThrow(/view/i);
    await eventually(() => expect(calls).toEqual(['kept']));
    // Nor can it be started again.
    expect(openFormer).toThrow(/view/i);
  });

  it('loses nothing that an earlier version acknowledged while the file was opened', async () => {
    const writer = fork(join(import.meta.dirname, 'former-writer.ts'), [path]);
    const acknowledged: string[] = [];
    let refused = 0;
    writer.on('message', (message: { stored?: string }) => {
      if (message.stored === undefined) refused++;
      else acknowledged.push(message.stored);
    });
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(50));
    const inbox = open({ role: 'receiver', busyTimeoutMs: 5_000 });
    await eventually(() => expect(refused).toBeGreaterThan(20));
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    await eventually(() => expect(rowsLeft()).toBe(0));
    expect(await inbox.counts()).toEqual({ open: acknowledged.length, dead: 0 });
    for (const digest of acknowledged) {
      const repeated = { digest, name: 'event.buy.init', key: { index: 0 }, body: '{}' };
      expect(await inbox.receive(repeated, async () => 'handled')).toBe('duplicate');
    }
  });

  it('is moved to the end by later processes when earlier ones were killed in the middle', async () => {
    const old = openFormer();
    old.fill(40_000);
    const ids = ['A', 'B', 'C'];
    for (const id of ids) old.store({ digest: digestOf(id), body: order(id) });
    let [kills, before] = [0, 40_003];
    for (const left of [30_000, 15_000, 3_000]) {
      const mover = fork(join(import.meta.dirname, 'move-child.ts'), [path]);
      await once(mover, 'message');
      await eventually(() => expect(rowsLeft()).toBeLessThan(left));
      mover.kill('SIGKILL');
      await once(mover, 'exit');
      const now = rowsLeft();
      expect(now).toBeLessThan(before);
      if (now > 0) kills++;
      before = now;
    }
    expect(kills).toBeGreaterThan(0);
    const { calls } = receiver(open());
    await eventually(() => expect(calls.toSorted()).toEqual(ids));
    await eventually(() => expect(rowsLeft()).toBe(0));
    const database = new DatabaseSync(path, { readOnly: true });
    const remembered = "SELECT count(*) AS rows FROM partner_records WHERE key GLOB 'inbox/delivery/*'";
    expect(database.prepare(remembered).get()).toEqual({ rows: 40_003 });
    database.close();
  });
});
