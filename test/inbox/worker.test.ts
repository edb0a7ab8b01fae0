import { inspect } from 'node:util';
import { expect, it, vi } from 'vitest';
import { checkHandling } from '../../src/inbox/handling-options.ts';
import type { AttemptResult } from '../../src/inbox/inbox.ts';
import { reportStore, startWorker } from '../../src/inbox/worker.ts';

const delivery = { digest: 'ab'.repeat(32), name: 'event.buy.init', key: { index: 0 }, body: '{}' };

it.each([
  ['the store takes no word of it', () => Promise.reject(new Error('down'))],
  ['another worker has it by now', async () => false],
])('does not report a delivery as dead when %s', async (_, settle) => {
  const outcomes: AttemptResult[] = [];
  let taken = [{ delivery, attempt: 1, receivedAt: Date.now() }];
  const worker = startWorker(
    {
      async take() {
        const due = taken;
        taken = [];
        return { taken: due, dead: [], pauseMs: Number.POSITIVE_INFINITY };
      },
      settle,
      release: async () => {},
    },
    {
      host: {
        handle: () => Promise.reject(new Error('no')),
        report: (_delivery, outcome) => outcomes.push(outcome),
      },
      handling: checkHandling({ maxAttempts: 1, onStoreError: () => {} }),
      pollMs: 10_000,
      sleep: async (ms, signal) => {
        // Only the wait for work is a wait.
        if (ms === 10_000) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    },
  );
  await vi.waitFor(() => expect(outcomes).toMatchObject([{ outcome: 'failed', attempt: 1 }]));
  await worker.stop(100);
});

it.each([
  ['as ioredis makes it', (error: Error) => error],
  ['that cannot be changed', (error: Error) => Object.freeze(error)],
])('tells onStoreError of a refused command without its arguments: an error %s', (_, make) => {
  const command = { name: 'auth', args: ['hunter2'] };
  const told: unknown[] = [];
  const refused = make(Object.assign(new Error('WRONGPASS'), { command }));
  reportStore(refused, { onStoreError: (error) => told.push(error) });
  expect(told).toMatchObject([{ message: 'WRONGPASS' }]);
  expect(inspect(told, { depth: null })).not.toContain('hunter2');
});
