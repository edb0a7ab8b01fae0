import { InboxError } from '../errors/inbox-error.ts';
import { redactCommand } from '../redaction/redact-command.ts';
import { settledWithin } from '../runtime/settled-within.ts';
import type { Sleep } from '../runtime/sleep.ts';
import { attemptDelivery, type LeasedDelivery } from './attempt.ts';
import type { Handling } from './handling-options.ts';
import type { AttemptResult, InboxHost } from './inbox.ts';
import { leaseLost } from './lease-lost.ts';

/** Where a worker gets its deliveries, and what it does with their outcomes. */
export interface WorkSource<One extends LeasedDelivery> {
  /**
   * Takes up to so many that are due, and says when there may be more: after 0 ms, or so many. Those that were lost
   * at their last attempt are dead letters then, and not taken.
   */
  take(limit: number): Promise<{ taken: One[]; dead: LeasedDelivery[]; pauseMs: number }>;
  /**
   * Writes down what became of one. Repeated when it rejects. False when another worker has it by now: what became
   * of that attempt counts.
   */
  settle(taken: One, result: AttemptResult): Promise<boolean>;
  /** Gives back what was cut off by a stop, to be taken again soon. */
  release(taken: readonly One[]): Promise<void>;
  /** Now and then, when all went well. */
  tidy?(): Promise<void>;
}

export interface Worker {
  /** Something may be due. */
  wake(): void;
  /** Resolves when nothing is handled any more, or the time is over and the rest was given back. */
  stop(timeoutMs: number): Promise<'drained' | 'cut-off'>;
}

const afterErrorMs = 1_000;
const settleTries = 5;

/** Handles what is due, no more than `concurrency` at a time, until it is stopped. Holds nothing that waits. */
export function startWorker<One extends LeasedDelivery>(
  source: WorkSource<One>,
  options: {
    readonly host: InboxHost;
    readonly handling: Handling;
    readonly pollMs: number;
    readonly sleep: Sleep;
  },
): Worker {
  const { host, handling, pollMs, sleep } = options;
  const active = new Map<string, { readonly taken: One; readonly done: Promise<void> }>();
  const cutOff = new AbortController();
  let alarm = new AbortController();
  let stopping = false;

  async function work(): Promise<void> {
    // Handlers are registered after createWebhooks has returned.
    await new Promise((resolve) => setTimeout(resolve, 0));
    while (!stopping) {
      alarm = new AbortController();
      let pauseMs = pollMs;
      try {
        pauseMs = Math.min(pollMs, await takeDue());
        await source.tidy?.();
      } catch (error) {
        reportStore(error, handling);
        pauseMs = afterErrorMs;
      }
      if (pauseMs > 0 && !stopping) await sleep(pauseMs, alarm.signal);
    }
  }

  /** Starts what is due and fits in. Resolves with the time until there may be more. */
  async function takeDue(): Promise<number> {
    const free = handling.concurrency - active.size;
    // The next that ends rings the alarm.
    if (free <= 0) return Number.POSITIVE_INFINITY;
    const { taken, dead, pauseMs } = await source.take(free);
    for (const { delivery, attempt } of dead) {
      host.report(delivery, { outcome: 'dead', attempt, error: leaseLost() });
    }
    for (const one of taken) {
      const { digest } = one.delivery;
      // The lease ran out while its handler still runs: that one goes first.
      if (active.has(digest)) continue;
      const done = handle(one).finally(() => {
        active.delete(digest);
        alarm.abort();
      });
      active.set(digest, { taken: one, done });
    }
    return pauseMs;
  }

  async function handle(taken: One): Promise<void> {
    const result = await attemptDelivery(host, taken, { ...handling, signal: cutOff.signal });
    // Given back by stop.
    if (cutOff.signal.aborted) return;
    let settled = false;
    for (let tries = 1; tries <= settleTries; tries++) {
      try {
        settled = await source.settle(taken, result);
        break;
      } catch (error) {
        reportStore(error, handling);
        // Its lease runs out, and it is handled again.
        if (stopping || tries === settleTries) break;
        await sleep(afterErrorMs, cutOff.signal);
      }
    }
    // What was not buried is tried again, and reported as dead when it is.
    const open = result.outcome === 'dead' && !settled;
    host.report(taken.delivery, open ? { ...result, outcome: 'failed' } : result);
  }

  const loop = work();

  return {
    wake: () => alarm.abort(),
    async stop(timeoutMs) {
      stopping = true;
      alarm.abort();
      await loop;
      const running = [...active.values()].map(({ done }) => done);
      if (await settledWithin(running, timeoutMs)) return 'drained';
      const left = [...active.values()].map(({ taken }) => taken);
      cutOff.abort(new InboxError('inbox_stopped', 'The inbox was stopped while the handler was running.'));
      await source.release(left).catch((error: unknown) => reportStore(error, handling));
      return 'cut-off';
    },
  };
}

/** Tells `onStoreError`, whatever that does. */
export function reportStore(error: unknown, { onStoreError }: Pick<Handling, 'onStoreError'>): void {
  try {
    void Promise.resolve(onStoreError(redactCommand(error))).catch(() => {});
  } catch {
    // The store's failure is what matters, not that of its report.
  }
}
