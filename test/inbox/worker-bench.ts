import type { HandlingOptions } from '../../src/inbox/handling-options.ts';
import type { AttemptResult, HandleResult, InboxHost } from '../../src/inbox/inbox.ts';
import type { RecordLease } from '../../src/inbox/store/delivery-leases.ts';
import { startWorker, type WorkerOptions, type WorkerRecords } from '../../src/inbox/worker.ts';
import { readHandling } from './receiver.ts';

const key = { index: 0 };

export function leaseOf(name: string): RecordLease {
  const delivery = { digest: name, name, key, body: '{}' };
  return { delivery, attempt: 1, receivedAt: Date.now(), token: name, alone: false, index: name };
}

/** A worker on lists: of what may run side by side, and of what has to run alone. */
export function openWorker(
  { handle, ...given }: Partial<WorkerRecords> & Pick<InboxHost, 'handle'>,
  options: HandlingOptions = {},
  own: Partial<Pick<WorkerOptions, 'pollMs' | 'limit' | 'endsWhenIdle' | 'sleep'>> = {},
  hasHandlers = () => true,
) {
  const sideBySide: RecordLease[] = [];
  const alone: RecordLease[] = [];
  const reports: (AttemptResult & { readonly name: string })[] = [];
  const wakeReasons: unknown[] = [];
  const worker = startWorker(
    {
      lease: async (limit) => ({ leased: sideBySide.splice(0, limit), pauseMs: Number.POSITIVE_INFINITY }),
      isAloneDue: async () => alone.length > 0,
      leaseAlone: async () => ({ leased: alone.shift(), dead: [] }),
      remove: async () => {},
      postpone: async () => {},
      putBack: async () => {},
      moveToDeadLetters: async () => true,
      mark: async () => 'marked',
      isHandled: async () => false,
      freeEnded: async () => {},
      ...given,
    },
    {
      host: {
        get hasHandlers() {
          return hasHandlers();
        },
        handle,
        report: ({ name }, result) => reports.push({ name, ...result }),
      },
      ...readHandling({ onStoreError: () => {}, ...options }),
      // Only the wait for work is a wait.
      pollMs: 1,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          if (ms !== 1) return resolve();
          // real time: the worker polls.
          setTimeout(resolve, 1);
          signal.addEventListener('abort', () => {
            wakeReasons.push(signal.reason);
            resolve();
          });
        }),
      ...own,
    },
  );
  return { worker, sideBySide, alone, reports, wakeReasons };
}

/** A handler that waits until it is let go, and what runs of it. */
export function heldHandler() {
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

/** Notes the pause, and takes no time for it. */
export function pause(ms: number, pauses: number[]): Promise<void> {
  pauses.push(ms);
  // real time: a loop without a pause would let nothing else run.
  return new Promise((resolve) => setTimeout(resolve, 1));
}
