import { withDeadline } from '../../internal/deadline.ts';
import {
  abortSignal,
  checkInteger,
  defineOptions,
  type OptionRow,
  type OptionTable,
  value,
} from '../../internal/options.ts';
import { isWholeProcess } from '../../internal/runtime.ts';
import { sharedKeyQueue } from '../../store/key-queue.ts';
import type { AttemptResult, InboxHost } from '../inbox.ts';
import type { Worker } from '../worker.ts';

/** Options of `drain`. */
export interface DrainOptions {
  /** Most deliveries handled by this call. @default no limit */
  limit?: number | undefined;
  /**
   * Milliseconds for the whole call. Then handlers that still run are aborted, and their deliveries are given back
   * without having used up an attempt; while another call in this process waits for its turn, they go on. @default no limit
   */
  timeLimitMs?: number | undefined;
  /** Ends the call early, in the same way. */
  signal?: AbortSignal | undefined;
}

/** What a call of `drain` did. */
export interface DrainResult {
  /** Deliveries whose handler succeeded. */
  readonly handled: number;
  /** Deliveries that nothing is registered for, older than `ignoreAfterMs`, and those whose name is muted. */
  readonly ignored: number;
  /** Attempts that failed; these deliveries are tried again by a later call. */
  readonly failed: number;
  /** New dead letters. */
  readonly dead: number;
  /** Deliveries that are still open: due later, being handled elsewhere, or not reached. Counted up to 1,000. */
  readonly left: number;
}

const readDrainOptions = defineOptions('drain', {
  limit: unlimitedInteger(),
  timeLimitMs: unlimitedInteger(),
  signal: abortSignal(),
} satisfies OptionTable<DrainOptions>);

/** A whole number; without it, infinite. */
function unlimitedInteger(): OptionRow<number> {
  const unlimited = Number.POSITIVE_INFINITY;
  const check = (given: unknown, name: string) =>
    given === unlimited ? unlimited : checkInteger(name, given);
  return value(check, { default: unlimited });
}

/**
 * The calls of `drain` in one process, one after the other: so `concurrency` and "alone" hold for the process.
 *
 * @param start a worker that ends when nothing is due
 * @param checkReceives throws once the inbox stops
 */
export function drainTurns(start: (host: InboxHost, limit: number) => Worker, checkReceives: () => void) {
  const inTurn = sharedKeyQueue();
  const workers = new Set<Worker>();
  /** Calls under way. */
  const calls = new Set<AbortSignal>();

  /** The handlers of a call that is over go on while another one in this process waits: only the last one aborts them. */
  async function endCall(own: Worker | undefined): Promise<void> {
    if (!isWholeProcess()) await own?.stop(0);
    else if (calls.size === 0) await Promise.all([...workers].map((worker) => worker.stop(0)));
    else void own?.stop(Number.POSITIVE_INFINITY);
  }

  return {
    /** Stops the workers of all calls. */
    stop: (timeoutMs: number) => Promise.all([...workers].map((worker) => worker.stop(timeoutMs))),

    async drain(host: InboxHost, options: DrainOptions): Promise<Omit<DrainResult, 'left'>> {
      const { limit, timeLimitMs: ms, signal } = readDrainOptions(options);
      checkReceives();
      const figures = { handled: 0, ignored: 0, failed: 0, dead: 0 };
      const counting = countOutcomes(host, figures);
      let draining: Worker | undefined;
      let ending: AbortSignal | undefined = signal;
      const run = (inner: AbortSignal) =>
        inTurn(['drain'], async () => {
          checkReceives();
          if (inner.aborted) return;
          await host.review?.();
          checkReceives();
          if (inner.aborted) return;
          const started = start(counting, limit);
          draining = started;
          workers.add(started);
          await started.ended().finally(() => workers.delete(started));
        });
      try {
        await withDeadline({ ms, signal }, async (inner) => {
          ending = inner;
          calls.add(inner);
          await run(inner);
        });
      } catch (error) {
        if (!ending?.aborted) throw error;
      } finally {
        if (ending !== undefined) calls.delete(ending);
      }
      if (ending?.aborted) await endCall(draining);
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
