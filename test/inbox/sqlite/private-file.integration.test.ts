import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ManagedInbox } from '../../../src/inbox/inbox.ts';
import { type SqliteInboxOptions, sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { buyInitBody } from '../../support/bodies.ts';
import { refusal } from '../../support/refusal.ts';
import { isThorough } from '../../support/repeat.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { skipped } from '../../support/skipped.ts';
import { delivery } from '../../webhooks/deliveries.ts';
import { eventually, order, quick, receiver } from '../contract.ts';

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
  const inbox = sqliteInbox({ path, pollMs: 20, onStoreError: () => {}, ...quick, ...options });
  inboxes.push(inbox);
  return inbox;
}

/** The mode of each file of the inbox, as `ls` would say it. */
function modes(base = path): Record<string, string> {
  const names = ['', '-wal', '-shm'].filter((suffix) => existsSync(base + suffix));
  return Object.fromEntries(names.map((name) => [name, (statSync(base + name).mode & 0o777).toString(8)]));
}

const allPrivate = { '': '600', '-wal': '600', '-shm': '600' };

describe.skipIf(process.platform === 'win32')('the file of the SQLite inbox', () => {
  it('can be read by its owner only, and so can what SQLite keeps beside it', async () => {
    await receiver(open({ role: 'receiver' })).webhooks.receive(order('A'));
    expect(modes()).toEqual(allPrivate);
  });

  it('is closed to others where it was open to them, with what a crash left beside it', async () => {
    await receiver(open({ role: 'receiver' })).webhooks.receive(order('A'));
    const left = join(folder, 'left.sqlite');
    for (const suffix of ['', '-wal', '-shm']) {
      copyFileSync(path + suffix, left + suffix);
      chmodSync(left + suffix, 0o644);
    }
    const { calls } = receiver(open({ path: left }));
    expect(modes(left)).toEqual(allPrivate);
    await eventually(() => expect(calls).toEqual(['A']));
  });

  it('may be reached by a symbolic link: the file that it leads to is closed to others', async () => {
    const real = join(folder, 'real.sqlite');
    writeFileSync(real, '', { mode: 0o644 });
    symlinkSync(real, path);
    expect(await receiver(open({ role: 'receiver' })).webhooks.receive(order('A'))).toMatchObject({
      kind: 'stored',
    });
    expect(modes(real)).toEqual(allPrivate);
  });

  it('has to be a file', () => {
    mkdirSync(path);
    expect(() => open()).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
    expect(statSync(path).mode & 0o777).not.toBe(0o600);
  });

  it.each(['', ':memory:', 'file::memory:', 'file:inbox.sqlite?mode=memory', 'FILE:///tmp/inbox.sqlite'])(
    'is not %j: what is kept there would be gone with the process',
    (wrong) => {
      expect(refusal(() => open({ path: wrong }))).toBe('ConfigurationError invalid_option');
    },
  );

  it.each([
    ['deleted', '', (name: string) => rmSync(name)],
    ['replaced by a copy of it', '', replaceByCopy],
    ['moved away', '', (name: string) => renameSync(name, `${name}.old`)],
    ['left without its -wal', '-wal', (name: string) => rmSync(name)],
    ['given another -wal', '-wal', replaceByCopy],
    ['left without its -shm', '-shm', (name: string) => rmSync(name)],
  ])('that was %s takes nothing more: deliveries are answered 503', async (_, suffix, meddle) => {
    const inbox = open({ role: 'receiver' });
    const { webhooks } = receiver(inbox);
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'stored' });
    meddle(path + suffix);
    const error = {
      code: 'store_unavailable',
      message: expect.stringContaining('deleted or replaced'),
    };
    for (const id of ['B', 'A']) {
      expect(await webhooks.receive(order(id))).toMatchObject({ kind: 'unavailable', status: 503, error });
    }
    for (const ask of [inbox.counts(), inbox.deadLetters(), inbox.replay('00'.repeat(32))]) {
      await expect(ask).rejects.toMatchObject(error);
    }
  });

  it('that was deleted has nothing handled out of it, and onStoreError is told', async () => {
    const told: unknown[] = [];
    const { calls, webhooks, reports } = receiver(open({ onStoreError: (error) => told.push(error) }));
    await webhooks.receive(order('A'));
    // Written down: what tells of the file after this is the look for more.
    await eventually(() => expect(reports.at(-1)).toMatchObject({ outcome: 'handled' }));
    rmSync(path);
    await eventually(() => expect(told).toMatchObject([{ code: 'store_unavailable' }]));
    expect(await webhooks.receive(order('B'))).toMatchObject({ status: 503 });
    const restarted = receiver(open());
    expect(await restarted.webhooks.receive(order('B'))).toMatchObject({ kind: 'stored' });
    await eventually(() => expect(restarted.calls).toEqual(['B']));
    expect(calls).toEqual(['A']);
  });

  // Its files are looked at until they are written anew, after five seconds.
  it(
    'keeps nothing of a body once it is handled, nor does the -wal while the inbox is open',
    skipped(!isThorough && 'npm run prove runs it'),
    async () => {
      const secret = 'jane.doe@example.org';
      const bodies = Array.from({ length: 60 }, (_, index) =>
        delivery(
          // Bodies of all sizes: on a page of their own, beside others, and over several pages.
          buyInitBody({
            partner_order_id: `order ${index}`,
            buyer: `${secret} `.repeat(1 + ((index * 7) % 400)),
          }),
        ),
      );
      const found = () =>
        readdirSync(folder).filter((name) => readFileSync(join(folder, name), 'latin1').includes(secret));
      const receiving = receiver(open({ role: 'receiver' })).webhooks;
      for (const body of bodies) await receiving.receive(body);
      expect(found()).not.toEqual([]);
      let failures = 20;
      const failing = () => {
        if (failures-- > 0) throw new Error(`no mail to ${secret}`);
      };
      const handling = open({ maxAttempts: 30 });
      const { reports } = receiver(handling, failing);
      await eventually(() =>
        expect(reports.filter(({ outcome }) => outcome === 'handled')).toHaveLength(bodies.length),
      );
      await vi.waitFor(() => expect(found()).toEqual([]), { timeout: 10_000 });
      expect(existsSync(`${path}-wal`)).toBe(true);
    },
  );
});

/** The same bytes, in another file. */
function replaceByCopy(name: string): void {
  copyFileSync(name, `${name}.copy`);
  renameSync(`${name}.copy`, name);
}
