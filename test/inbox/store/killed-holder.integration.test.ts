import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { eventually, order, receiver } from '../receiver.ts';

it('the only process of a SQLite inbox, killed and started again, takes its delivery over at once', async () => {
  const path = join(scratchFolder(), 'inbox.sqlite');
  const start = (role: 'both' | 'receiver') => {
    // A lease longer than any test waits: who handles it has freed it.
    const inbox = sqliteInbox({ path, role, timeLimitMs: 600_000, pollMs: 20 });
    onTestFinished(async () => void (await inbox.stop({ timeoutMs: 0 })));
    return receiver(inbox);
  };
  await start('receiver').webhooks.receive(order('A'));
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const;
  const child = fork(join(import.meta.dirname, 'killed-holder-child.ts'), [path], { stdio: [...stdio] });
  onTestFinished(() => void child.kill('SIGKILL'));
  expect(await once(child, 'message')).toContain('A');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const { calls, reports } = start('both');
  await eventually(() => expect(reports).toMatchObject([{ outcome: 'handled', attempt: 1 }]));
  expect(calls).toEqual(['A']);
}, 60_000);
