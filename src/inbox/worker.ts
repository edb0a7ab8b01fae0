import { backoffDelay, type Sleep, sleep } from '../internal/backoff.ts';
import { settledWithin } from '../internal/deadline.ts';
import { describeError } from '../internal/driver-error.ts';
import { attemptDelivery, inboxStopped, leaseLost, startLeaseClock } from './handling-attempt.ts';
import { type Handling, reportStore } from './handling-options.ts';
import type { InboxHost } from './inbox.ts';
import { makeMarking } from './marking.ts';
import { reviewNowAndThen } from './quarantine/record-quarantine.ts';
import type { DeliveryLeases, RecordLease } from './store/delivery-leases.ts';

/** The leases of deliveries, as far as a worker uses them. */
export type WorkerRecords = Omit<DeliveryLeases, 'free'>;

export type Worker = ReturnType<typeof startWorker>;

export interface WorkerOptions extends Omit<Handling, 'role' | 'rememberMs'> {
  readonly host: InboxHost;
  /** Milliseconds between two checks for due deliveries. */
  readonly pollMs: number;
  readonly sleep: Sleep;
  /** Most deliveries to start. @default no limit */
  readonly limit?: number | undefined;
  /** Ends when nothing is due and nothing runs, or when the store fails. @default false */
  readonly endsWhenIdle?: boolean | undefined;
}

type Attempt = Awaited<ReturnType<typeof attemptDelivery>>;

const afterErrorMs = 1_000;
/** An abort without a reason would make an exception with a stack. */
const woken = 'woken';
const settleTries = 5;

/**
 * Handles due deliveries until it is stopped. Waiting ones stay in the store.
 *
 * When a process dies, any of its deliveries may have killed it. From then on each of them is tried alone, while nothing
 * else runs in its process. A lost lease counts as an attempt only for a delivery that ran alone.
 */
export function startWorker(records: WorkerRecords, options: WorkerOptions) {
  const { host, concurrency, pollMs, limit = Number.POSITIVE_INFINITY, endsWhenIdle = false } = options;
  const running = new Map<RecordLease, Promise<void>>();
  const cutOff = new AbortController();
  let alarm = new AbortController();
  let stopping = false;
  let started = 0;
  let failure: { readonly error: unknown } | undefined;
  /** `due`: nothing starts until all have ended; then that delivery runs alone. */
  let alone: 'none' | 'due' | 'running' = 'none';
  let lookForAloneAt = Number.NEGATIVE_INFINITY;
  // What ended processes had leased is freed once, by a process that stays.
  let hasFreed = endsWhenIdle;
  const review = reviewNowAndThen();

  async function work(): Promise<void> {
    // Handlers are registered after createWebhooks has returned.
    await sleep(0);
    while (!stopping) {
      alarm = new AbortController();
      let pauseMs = pollMs;
      if (!endsWhenIdle) void review(host);
      try {
        if (!hasFreed) await records.freeEnded((attempt) => retryDelay(attempt, options));
        hasFreed = true;
        pauseMs = Math.min(pollMs, await startDue());
      } catch (error) {
        if (endsWhenIdle) {
          failure = { error };
          return;
        }
        reportStore(error, options);
        pauseMs = afterErrorMs;
      }
      // A handler that ended meanwhile may have made room.
      if (endsWhenIdle && pauseMs > 0 && running.size === 0 && !alarm.signal.aborted) return;
      if (pauseMs > 0 && !stopping) await options.sleep(pauseMs, alarm.signal);
    }
  }

  /** Resolves with the milliseconds until there may be more. */
  async function startDue(): Promise<number> {
    if (started >= limit || !host.hasHandlers) return Number.POSITIVE_INFINITY;
    // The end of the next handler wakes the worker.
    if (alone === 'running' || (alone === 'due' && running.size > 0)) return Number.POSITIVE_INFINITY;
    if (alone === 'due') {
      await startAlone();
      return 0;
    }
    const pauseMs = await startSideBySide();
    if (performance.now() < lookForAloneAt) return pauseMs;
    if (await records.isAloneDue()) alone = 'due';
    lookForAloneAt = performance.now() + pollMs;
    return alone === 'due' ? 0 : pauseMs;
  }

  async function startSideBySide(): Promise<number> {
    const free = Math.min(concurrency - running.size, limit - started);
    if (free <= 0) return Number.POSITIVE_INFINITY;
    const elapsedMs = startLeaseClock(options);
    const { leased, pauseMs } = await records.lease(free);
    for (const lease of leased) start(lease, elapsedMs);
    return pauseMs;
  }

  async function startAlone(): Promise<void> {
    const elapsedMs = startLeaseClock(options);
    const { leased, dead } = await records.leaseAlone();
    for (const { delivery, attempt } of dead)
      host.report(delivery, { outcome: 'dead', attempt, error: leaseLost() });
    alone = leased === undefined ? 'none' : 'running';
    // Other due deliveries go first, then the next one alone. What another process holds is due until it commits, so
    // finding nothing is no reason to look again at once.
    lookForAloneAt =
      leased !== undefined || dead.length > 0 ? Number.NEGATIVE_INFINITY : performance.now() + pollMs;
    if (leased !== undefined) start(leased, elapsedMs);
  }

  function start(leased: RecordLease, elapsedMs: () => number): void {
    started++;
    const settling = { ...options, elapsedMs, cutOff: cutOff.signal, isStopping: () => stopping };
    const handling = handleLeased(leased, records, settling).finally(() => {
      running.delete(leased);
      if (alone === 'running') alone = 'none';
      alarm.abort(woken);
    });
    running.set(leased, handling);
  }

  const loop = work();

  return {
    /** Has it look for due deliveries. */
    wake: (): void => alarm.abort(woken),
    /**
     * Resolves when the worker has ended, by itself or by a stop.
     *
     * @throws the error of the store that ended it
     */
    async ended(): Promise<void> {
      await loop;
      await Promise.all(running.values());
      if (failure !== undefined) throw failure.error;
    },
    /** Resolves when all handlers have ended, or when the time is over and the rest was given back. */
    async stop(timeoutMs: number): Promise<'drained' | 'cut-off'> {
      stopping = true;
      alarm.abort(woken);
      await loop;
      if (await settledWithin([...running.values()], timeoutMs)) return 'drained';
      const left = [...running.keys()];
      cutOff.abort(inboxStopped());
      await Promise.all(left.map((leased) => records.putBack(leased, 0))).catch((error: unknown) =>
        reportStore(error, options),
      );
      return 'cut-off';
    },
  };
}

interface Settling extends WorkerOptions {
  /** Milliseconds since the lease was asked for. */
  readonly elapsedMs: () => number;
  /** Aborted when the stop gives back what still runs. */
  readonly cutOff: AbortSignal;
  readonly isStopping: () => boolean;
}

async function handleLeased(leased: RecordLease, records: WorkerRecords, options: Settling): Promise<void> {
  const { host, cutOff } = options;
  const marking = makeMarking(
    (store) => records.mark(leased, store),
    () => records.isHandled(leased),
  );
  const result = await attemptDelivery(host, leased, { ...options, signal: cutOff, marking });
  if (cutOff.aborted) return;
  const isMarked = marking.isAsked && result.outcome === 'handled';
  const stored =
    isMarked || (await settleRepeatedly(() => settle(leased, result, { records, options }), options));
  if (result.outcome === 'put-back') return;
  // The store decides: what it does not know is tried again, and reported when it does.
  if (stored === true) return host.report(leased.delivery, result);
  const error = stored !== false && !('error' in result) ? stored : undefined;
  host.report(leased.delivery, { ...result, outcome: 'failed', ...error });
}

/** Resolves with true once the result is stored. With an error, its own, the lease runs out. */
async function settleRepeatedly(
  store: () => Promise<boolean>,
  options: Settling,
): Promise<boolean | { readonly error: unknown }> {
  for (let tries = 1; ; tries++) {
    try {
      return await store();
    } catch (error) {
      reportStore(error, options);
      if (options.isStopping() || tries === settleTries) return { error };
      await options.sleep(afterErrorMs, options.cutOff);
    }
  }
}

/** Resolves with whether the result is stored: not if another worker has the delivery by now. */
async function settle(
  leased: RecordLease,
  result: Attempt,
  { records, options }: { readonly records: WorkerRecords; readonly options: Settling },
): Promise<boolean> {
  switch (result.outcome) {
    case 'dead':
      return await records.moveToDeadLetters(leased, describeError(result.error));
    case 'failed':
      await records.postpone(leased, retryDelay(leased.attempt, options), describeError(result.error));
      return true;
    case 'put-back':
      await records.putBack(leased, result.delayMs);
      return true;
    case 'handled':
    case 'ignored':
      await records.remove(leased);
      return true;
  }
}

function retryDelay(attempt: number, { retry, random }: Pick<WorkerOptions, 'retry' | 'random'>): number {
  return backoffDelay(attempt, retry, random);
}
