import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import type { LeasedDelivery } from '../../src/inbox/handling-attempt.ts';
import type { HandlingOptions } from '../../src/inbox/handling-options.ts';
import { reportStore } from '../../src/inbox/handling-options.ts';
import type { AttemptResult, HandleResult, InboxHost } from '../../src/inbox/inbox.ts';
import { startWorker, type WorkSource } from '../../src/inbox/worker.ts';
import { readHandling } from './contract.ts';

const key = { index: 0 };

function leaseOf(name: string): LeasedDelivery {
  return { delivery: { digest: name, name, key, body: '{}' }, attempt: 1, receivedAt: Date.now() };
}

/** A worker on lists: of what may run side by side, and of what has to run alone. */
function open(
  { handle, ...given }: Partial<WorkSource<LeasedDelivery>> & Pick<InboxHost, 'handle'>,
  options: HandlingOptions = {},
) {
  const sideBySide: LeasedDelivery[] = [];
  const alone: LeasedDelivery[] = [];
  const reports: (AttemptResult & { readonly name: string })[] = [];
  const wakeReasons: unknown[] = [];
  const worker = startWorker(
    {
      lease: async (limit) => ({ leased: sideBySide.splice(0, limit), pauseMs: Number.POSITIVE_INFINITY }),
      isIsolatedDue: async () => alone.length > 0,
      leaseIsolated: async () => ({ leased: alone.shift(), dead: [] }),
      remove: async () => {},
      postpone: async () => {},
      putBack: async () => {},
      moveToDeadLetters: async () => true,
      release: async () => {},
      ...given,
    },
    {
      host: { hasHandlers: true, handle, report: ({ name }, result) => reports.push({ name, ...result }) },
      ...readHandling({ onStoreError: () => {}, ...options }),
      // Only the wait for work is a wait.
      pollMs: 1,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          if (ms !== 1) return resolve();
          setTimeout(resolve, 1);
          signal.addEventListener('abort', () => {
            wakeReasons.push(signal.reason);
            resolve();
          });
        }),
    },
  );
  return { worker, sideBySide, alone, reports, wakeReasons };
}

/** A handler that waits until it is let go, and what runs of it. */
function heldHandler() {
  const running = new Map<string, () => void>();
  return {
    running,
    handle: ({ name }: { name: string }) =>
      new Promise<HandleResult>((resolve) => {
        running.set(name, () => {
          running.delete(name);
          resolve('handled');
        });
      }),
    names: () => [...running.keys()],
  };
}

describe('what lost its lease', () => {
  it('waits for all that runs, and then runs with nothing beside it', async () => {
    const { handle, running, names } = heldHandler();
    const { worker, sideBySide, alone } = open({ handle });
    sideBySide.push(leaseOf('A'), leaseOf('B'));
    await vi.waitFor(() => expect(names()).toEqual(['A', 'B']));
    alone.push(leaseOf('suspect'));
    await vi.waitFor(async () => {
      // Due by now: nothing more is started.
      sideBySide.push(leaseOf('C'));
      const before = sideBySide.length;
      await new Promise((resolve) => setTimeout(resolve, 10));
      expect(sideBySide).toHaveLength(before);
    });
    const rest = names();
    for (const name of rest) {
      expect(running.has('suspect')).toBe(false);
      running.get(name)?.();
    }
    await vi.waitFor(() => expect(names()).toEqual(['suspect']));
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(names()).toEqual(['suspect']);
    running.get('suspect')?.();
    await vi.waitFor(() => expect(names()).toContain('C'));
    for (const end of running.values()) end();
    await worker.stop(1_000);
  });

  it('takes turns with the others: neither keeps the other waiting for ever', async () => {
    const order: string[] = [];
    const { worker, sideBySide, alone } = open(
      {
        handle: async ({ name }) => {
          order.push(name);
          // There is always more of both.
          if (order.length < 20) (name === 'alone' ? alone : sideBySide).push(leaseOf(name));
          return 'handled';
        },
      },
      { concurrency: 1 },
    );
    sideBySide.push(leaseOf('other'));
    alone.push(leaseOf('alone'));
    await vi.waitFor(() => expect(order.length).toBeGreaterThanOrEqual(20));
    expect(order.filter((name) => name === 'alone').length).toBeGreaterThan(2);
    expect(order.join(' ')).not.toContain('alone alone');
    await worker.stop(1_000);
  });

  it('is reported as dead when the lease of its last attempt was lost', async () => {
    let due = true;
    const { worker, reports } = open({
      handle: async () => 'handled',
      isIsolatedDue: async () => due,
      async leaseIsolated() {
        due = false;
        return { leased: undefined, dead: [{ ...leaseOf('poison'), attempt: 8 }] };
      },
    });
    await vi.waitFor(() =>
      expect(reports).toMatchObject([
        { name: 'poison', outcome: 'dead', attempt: 8, error: { code: 'lease_lost' } },
      ]),
    );
    await worker.stop(1_000);
  });

  it('does not keep a stop from ending', async () => {
    const { handle, running, names } = heldHandler();
    const { worker, sideBySide, alone } = open({ handle });
    sideBySide.push(leaseOf('A'));
    await vi.waitFor(() => expect(names()).toEqual(['A']));
    alone.push(leaseOf('suspect'));
    const stopped = worker.stop(5_000);
    running.get('A')?.();
    expect(await stopped).toBe('drained');
    expect(names()).toEqual([]);
  });
});

describe('a delivery whose lease ended before its handler could start', () => {
  it('is put back, and not handled here', async () => {
    const clock = { now: Date.now() };
    const handled: string[] = [];
    const back: string[] = [];
    const { worker, sideBySide, reports } = open(
      {
        async handle({ name }) {
          handled.push(name);
          // As if this handler had blocked the event loop for that long.
          clock.now += 60_000;
          return 'handled';
        },
        putBack: async ({ delivery }, delayMs) => void back.push(`${delivery.name} after ${delayMs}`),
      },
      { now: () => clock.now, timeLimitMs: 60_000 },
    );
    sideBySide.push(leaseOf('A'), leaseOf('B'));
    await vi.waitFor(() => expect(back).toEqual(['B after 0']));
    await vi.waitFor(() => expect(reports).toMatchObject([{ name: 'A', outcome: 'handled' }]));
    expect(handled).toEqual(['A']);
    await worker.stop(1_000);
  });
});

it('a worker reports a handled delivery as failed when the store takes no word of it, since it is handled again', async () => {
  const down = new Error('down');
  const { worker, sideBySide, reports } = open({
    handle: async () => 'handled',
    remove: () => Promise.reject(down),
  });
  sideBySide.push(leaseOf('A'));
  await vi.waitFor(() => expect(reports).toMatchObject([{ name: 'A', outcome: 'failed', error: down }]));
  await worker.stop(100);
});

it('a worker is woken without making an exception, whose stack would cost more than the rest of a delivery', async () => {
  const { handle, running, names } = heldHandler();
  const { worker, sideBySide, wakeReasons } = open({ handle });
  sideBySide.push(leaseOf('A'));
  await vi.waitFor(() => expect(names()).toEqual(['A']));
  worker.wake();
  running.get('A')?.();
  await worker.stop(1_000);
  expect(wakeReasons.length).toBeGreaterThan(0);
  expect(wakeReasons.filter((reason) => reason instanceof Error)).toEqual([]);
});

it.each([
  ['the store takes no word of it', () => Promise.reject(new Error('down'))],
  ['another worker has it by now', async () => false],
])('a worker does not report a delivery as dead when %s', async (_, moveToDeadLetters) => {
  const handle = () => Promise.reject(new Error('no'));
  const { worker, sideBySide, reports } = open({ handle, moveToDeadLetters }, { maxAttempts: 1 });
  sideBySide.push(leaseOf('A'));
  await vi.waitFor(() => expect(reports).toMatchObject([{ outcome: 'failed', attempt: 1 }]));
  await worker.stop(100);
});

it.each([
  ['as ioredis makes it', (error: Error) => error],
  ['that cannot be changed', (error: Error) => Object.freeze(error)],
])('a worker tells onStoreError of a refused command without its arguments: an error %s', (_, make) => {
  const command = { name: 'auth', args: ['hunter2'] };
  const told: unknown[] = [];
  const refused = make(Object.assign(new Error('WRONGPASS'), { command }));
  reportStore(refused, { onStoreError: (error) => told.push(error) });
  expect(told).toMatchObject([{ message: 'WRONGPASS' }]);
  expect(inspect(told, { depth: null })).not.toContain('hunter2');
});

it.each([
  ['throws', () => Promise.reject(new Error('nobody listens'))],
  [
    'throws at once',
    () => {
      throw new Error('nobody listens');
    },
  ],
])('a worker goes on when onStoreError %s', async (_, onStoreError) => {
  const lease = vi.fn().mockRejectedValueOnce(new Error('down'));
  lease.mockResolvedValue({ leased: [], pauseMs: Number.POSITIVE_INFINITY });
  const { worker } = open({ handle: async () => 'handled', lease }, { onStoreError });
  await vi.waitFor(() => expect(lease.mock.calls.length).toBeGreaterThan(1));
  expect(await worker.stop(100)).toBe('drained');
});
