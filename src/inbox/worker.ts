import { InboxError } from '../errors/inbox-error.ts';
import { redactCommand } from '../redaction/redact-command.ts';
import { settledWithin } from '../runtime/settled-within.ts';
import type { Sleep } from '../runtime/sleep.ts';
import { attemptDelivery, type LeasedDelivery } from './attempt.ts';
import type { Handling } from './handling-options.ts';
import type { AttemptResult, InboxHost } from './inbox.ts';
import { leaseLost } from './lease-lost.ts';

/**
 * Where a worker gets its deliveries, and what it does with their outcomes.
 *
 * When a process dies, all that it had leased lose their lease, and nobody knows which of them killed it. So each of
 * them is tried alone from then on, while nothing else runs in its process, and a lost lease counts as an attempt only
 * of a delivery that ran alone.
 */
export interface WorkSource<One extends LeasedDelivery> {
  /** Leases up to so many that are due and may run side by side; and says when there may be more, in milliseconds. */
  lease(limit: number): Promise<{ leased: One[]; pauseMs: number }>;
  /** Whether one is due that has to be tried alone. */
  isAloneDue(): Promise<boolean>;
  /**
   * Leases one that has to be tried alone; called while nothing runs. Those that lost the lease of their last attempt
   * are dead letters by then.
   */
  leaseAlone(): Promise<{ leased: One | undefined; dead: readonly LeasedDelivery[] }>;
  /**
   * Writes down what became of one. Repeated when it rejects. False when another worker has it by now: what became
   * of that attempt counts.
   */
  settle(leased: One, result: AttemptResult): Promise<boolean>;
  /** Gives back what was cut off by a stop, to be leased again soon. */
  release(leased: readonly One[]): Promise<void>;
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
  const running = new Map<One, Promise<void>>();
  const cutOff = new AbortController();
  let alarm = new AbortController();
  let stopping = false;
  /** `due`: nothing is started until all that runs has ended, and then that one alone. */
  let alone: 'none' | 'due' | 'running' = 'none';
  let lookForAloneAt = Number.NEGATIVE_INFINITY;

  async function work(): Promise<void> {
    // Handlers are registered after createWebhooks has returned.
    await new Promise((resolve) => setTimeout(resolve, 0));
    while (!stopping) {
      alarm = new AbortController();
      let pauseMs = pollMs;
      try {
        pauseMs = Math.min(pollMs, await startDue());
        await source.tidy?.();
      } catch (error) {
        reportStore(error, handling);
        pauseMs = afterErrorMs;
      }
      if (pauseMs > 0 && !stopping) await sleep(pauseMs, alarm.signal);
    }
  }

  /** Starts what is due and fits in. Resolves with the time until there may be more. */
  async function startDue(): Promise<number> {
    // The next that ends rings the alarm.
    if (alone === 'running' || (alone === 'due' && running.size > 0)) return Number.POSITIVE_INFINITY;
    if (alone === 'due') {
      await startAlone();
      return 0;
    }
    const pauseMs = await startSideBySide();
    if (performance.now() < lookForAloneAt) return pauseMs;
    if (await source.isAloneDue()) alone = 'due';
    lookForAloneAt = performance.now() + pollMs;
    return alone === 'due' ? 0 : pauseMs;
  }

  async function startSideBySide(): Promise<number> {
    const free = handling.concurrency - running.size;
    if (free <= 0) return Number.POSITIVE_INFINITY;
    const { leased, pauseMs } = await source.lease(free);
    for (const one of leased) start(one);
    return pauseMs;
  }

  async function startAlone(): Promise<void> {
    const { leased, dead } = await source.leaseAlone();
    for (const { delivery, attempt } of dead) {
      host.report(delivery, { outcome: 'dead', attempt, error: leaseLost() });
    }
    alone = leased === undefined ? 'none' : 'running';
    // The next one, if there is any, follows what else is due by then: neither keeps the other waiting for ever.
    lookForAloneAt = Number.NEGATIVE_INFINITY;
    if (leased !== undefined) start(leased);
  }

  function start(one: One): void {
    const done = handle(one).finally(() => {
      running.delete(one);
      if (alone === 'running') alone = 'none';
      alarm.abort();
    });
    running.set(one, done);
  }

  async function handle(leased: One): Promise<void> {
    const result = await attemptDelivery(host, leased, { ...handling, signal: cutOff.signal });
    // Given back by stop.
    if (cutOff.signal.aborted) return;
    let settled = false;
    for (let tries = 1; tries <= settleTries; tries++) {
      try {
        settled = await source.settle(leased, result);
        break;
      } catch (error) {
        reportStore(error, handling);
        // Its lease runs out, and it is handled again.
        if (stopping || tries === settleTries) break;
        await sleep(afterErrorMs, cutOff.signal);
      }
    }
    // It is tried again where it did not become a dead letter, and reported as dead when it does.
    const open = result.outcome === 'dead' && !settled;
    host.report(leased.delivery, open ? { ...result, outcome: 'failed' } : result);
  }

  const loop = work();

  return {
    wake: () => alarm.abort(),
    async stop(timeoutMs) {
      stopping = true;
      alarm.abort();
      await loop;
      if (await settledWithin([...running.values()], timeoutMs)) return 'drained';
      const left = [...running.keys()];
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
