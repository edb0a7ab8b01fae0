import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import type { ManagedInbox } from '../../../src/inbox/inbox.ts';
import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { storeInbox } from '../../../src/inbox/store/store-inbox.ts';
import { postgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { thisProcess } from '../../../src/store/process-identity.ts';
import { describeWith, postgresUrl, run } from '../../store/servers.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { eventually, order, receiver } from '../receiver.ts';

/** A lease longer than any test waits: who handles it has freed it. */
const handling = { timeLimitMs: 600_000, maxAttempts: 2, pollMs: 20, retry: { firstDelayMs: 1 } };

/** Starts a process that takes a delivery, and kills it. */
async function killHolder(...place: string[]): Promise<unknown> {
  const child = fork(join(import.meta.dirname, 'killed-holder-child.ts'), place, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [held] = await once(child, 'message');
  child.kill('SIGKILL');
  await once(child, 'exit');
  return held;
}

async function takesOver(
  open: (options: { role: 'both' | 'receiver' }) => ManagedInbox,
  place: readonly string[],
): Promise<void> {
  const start = (role: 'both' | 'receiver') => {
    const inbox = open({ role });
    onTestFinished(async () => {
      await inbox.stop({ timeoutMs: 0 });
    });
    return inbox;
  };
  const { webhooks } = receiver(start('receiver'));
  await webhooks.receive(order('A'));
  expect(await killHolder(...place)).toBe('A');
  const { calls, reports } = receiver(start('both'));
  await eventually(() => expect(reports).toMatchObject([{ outcome: 'handled', attempt: 1 }]));
  expect(calls).toEqual(['A']);
}

// Without /proc only `sqliteInbox` can tell that a process has ended.
const canTell = thisProcess().startedAt !== undefined;

it('the only process of a SQLite inbox, killed and started again, takes its delivery over at once', async () => {
  const path = join(scratchFolder(), 'inbox.sqlite');
  await takesOver((options) => sqliteInbox({ ...handling, ...options, path }), ['sqlite', path]);
}, 60_000);

describeWith('postgres', 'on PostgreSQL', () => {
  const table = `${run}_killed`;
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 4 });
  afterAll(async () => {
    await pool.query(`DROP TABLE IF EXISTS ${table}`);
    await pool.end();
  });

  it.runIf(canTell)(
    'a process that starts takes over at once from a killed one of its machine',
    async () => {
      const store = postgresStore({ client: pool, table });
      await takesOver(
        (options) => storeInbox({ ...handling, ...options, store }),
        ['postgres', postgresUrl, table],
      );
    },
    60_000,
  );
});
