import { withDeadline } from '../../internal/deadline.ts';
import { abortSignal, defineOptions, integer, type OptionTable, optional } from '../../internal/options.ts';
import { sharedKeyQueue } from '../../store/key-queue.ts';
import type { AttemptResult, InboxHost } from '../inbox.ts';
import type { Worker } from '../worker.ts';

/** Options of `drain`. */
export interface DrainOptions {
  /** Most deliveries handled by this call. @default no limit */
  limit?: number | undefined;
  /**
   * Milliseconds for the whole call. Then handlers that still run are aborted, and their deliveries are given back
   * without having used up an attempt. @default no limit
   */
  timeLimitMs?: number | undefined;
  /** Ends the call early, in the same way. */
  signal?: AbortSignal | undefined;
}

/** What a call of `drain` did. */
export interface DrainResult {
  /** Deliveries whose handler succeeded. */
  readonly handled: number;
  /** Deliveries that nothing is registered for, older than 10 minutes, and those whose name is muted. */
  readonly ignored: number;
  /** Attempts that failed; these deliveries are tried again by a later call. */
  readonly failed: number;
  /** New dead letters. */
  readonly dead: number;
  /** Deliveries that are still open: due later, being handled elsewhere, or not reached. Counted up to 1,000. */
  readonly left: number;
}

const readDrainOptions = defineOptions('drain', {
  limit: optional(integer()),
  timeLimitMs: optional(integer()),
  signal: abortSignal(),
} satisfies OptionTable<DrainOptions>);

/**
 * The calls of `drain` in one process, one after the other: so `concurrency` and "alone" hold for the process.
 *
 * @param start a worker that ends when nothing is due
 * @param checkReceives throws once the inbox stops
 */
export function drainTurns(
  start: (host: InboxHost, limit: number | undefined) => Worker,
  checkReceives: () => void,
) {
  const inTurn = sharedKeyQueue();
  const workers = new Set<Worker>();

  return {
    /** Stops the workers of all calls. */
    stop: (timeoutMs: number) => Promise.all([...workers].map((worker) => worker.stop(timeoutMs))),

    async drain(host: InboxHost, options: DrainOptions): Promise<Omit<DrainResult, 'left'>> {
      const { limit, timeLimitMs: ms = Number.POSITIVE_INFINITY, signal } = readDrainOptions(options);
      checkReceives();
      const figures = { handled: 0, ignored: 0, failed: 0, dead: 0 };
      let worker: Worker | undefined;
      let ending = signal;
      const run = (inner: AbortSignal) =>
        inTurn(['drain'], async () => {
          if (!inner.aborted) await host.review?.();
          checkReceives();
          if (inner.aborted) return;
          const started = start(countOutcomes(host, figures), limit);
          worker = started;
          workers.add(started);
          await started.ended().finally(() => workers.delete(started));
        });
      try {
        await withDeadline({ ms, signal }, (inner) => {
          ending = inner;
          return run(inner);
        });
      } catch (error) {
        if (!ending?.aborted) throw error;
        await worker?.stop(0);
      }
      return figures;
    },
  };
}

function countOutcomes(host: InboxHost, figures: Record<AttemptResult['outcome'], number>): InboxHost {
  return {
    get hasHandlers() {
      return host.hasHandlers;
    },
    handle: (delivery, options) => host.handle(delivery, options),
    report(delivery, result) {
      figures[result.outcome]++;
      host.report(delivery, result);
    },
  };
}
