import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ManagedInbox } from '../../../src/inbox/inbox.ts';
import { type SqliteInboxOptions, sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { countTicks, type LockHolder, sleepFor, startLockHolder } from '../../support/locked-file.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { eventually, order, quick, receiver } from '../receiver.ts';

let folder = '';
let path = '';
let inbox: ManagedInbox | undefined;
let other: LockHolder | undefined;

beforeEach(() => {
  folder = scratchFolder();
  path = join(folder, 'inbox.sqlite');
});
afterEach(async () => {
  other?.end();
  await inbox?.stop({ timeoutMs: 0 });
});

function open(options: Partial<SqliteInboxOptions> = {}): ManagedInbox {
  inbox = sqliteInbox({ path, pollMs: 20, onStoreError: () => {}, ...quick, ...options });
  return inbox;
}

describe('the SQLite inbox, while another process has the write lock', () => {
  it('lets timers go on, and stores and handles deliveries once each when the lock is free', async () => {
    const { webhooks, calls } = receiver(open({ busyTimeoutMs: 10_000 }));
    other = await startLockHolder(path);
    await other.hold();
    const ids = Array.from({ length: 30 }, (_, index) => `order-${index}`);
    const answers: Promise<{ kind: string }>[] = [];
    const ticks = await countTicks(async () => {
      for (const id of ids) {
        answers.push(webhooks.receive(order(id)));
        // real time: the lock is held for so long.
        await sleepFor(20);
      }
    });
    // 600 ms: an inbox that blocks lets none fire.
    expect(ticks).toBeGreaterThan(12);
    expect(await inbox?.counts()).toEqual({ open: 0, dead: 0 });
    await other.release();
    expect((await Promise.all(answers)).map(({ kind }) => kind)).toEqual(Array(30).fill('stored'));
    await eventually(() => expect(calls.toSorted()).toEqual(ids.toSorted()));
    await eventually(async () => expect(await inbox?.counts()).toEqual({ open: 0, dead: 0 }));
  });

  it('answers 503 when the wait of a delivery is over', async () => {
    const { webhooks } = receiver(open({ busyTimeoutMs: 1_000, role: 'receiver' }));
    other = await startLockHolder(path);
    await other.hold();
    expect(await webhooks.receive(order('A'))).toMatchObject({
      status: 503,
      error: { code: 'store_unavailable' },
    });
    await other.release();
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'stored' });
  });

  it('opens at once if its tables exist', async () => {
    await open({ role: 'receiver' }).stop();
    other = await startLockHolder(path);
    await other.hold();
    const begun = performance.now();
    open({ role: 'receiver', busyTimeoutMs: 10_000 });
    // real time: half of the time for which it would wait.
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});
