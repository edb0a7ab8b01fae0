import { isInboxError } from '../../errors/errors.ts';
import { backoffDelay, type Sleep, sleep } from '../../internal/backoff.ts';
import { withDeadline } from '../../internal/deadline.ts';
import {
  abortSignal,
  callback,
  checkInteger,
  defineOptions,
  invalidOption,
  type OptionRow,
  type OptionTable,
  oneOf,
  timerMs,
  value,
} from '../../internal/options.ts';
import { isWholeProcess } from '../../internal/runtime.ts';
import { sharedKeyQueue } from '../../store/key-queue.ts';
import { callLimitRows, type StoreCallOptions } from '../../store/limited-calls.ts';
import { type ProcessView, viewProcesses } from '../../store/process-identity.ts';
import { checkPrefix, checkStore, type RecordStore } from '../../store/record-store.ts';
import { durableInbox, limitStoreCalls } from '../durable-inbox.ts';
import { inboxStopped } from '../handling-attempt.ts';
import { type HandlingOptions, handlingRows } from '../handling-options.ts';
import type { AttemptResult, InboxHost, ManagedInbox } from '../inbox.ts';
import { makeMarking } from '../marking.ts';
import { reviewRegularly, storedQuarantine } from '../quarantine/inbox-quarantine.ts';
import { type QuarantineOptions, quarantineRows } from '../quarantine/quarantine.ts';
import { startWorker, type Worker, type WorkSource } from '../worker.ts';
import { deliveryRecords, type RecordLease } from './delivery-records.ts';
import { deliveryStatus } from './delivery-status.ts';

/** Options of {@link storeInbox}. */
export interface StoreInboxOptions
  extends Omit<HandlingOptions, 'role'>,
    StoreCallOptions,
    QuarantineOptions {
  /** A record store: `sqliteStore`, `redisStore`, `postgresStore` or your own. You close it. */
  store: RecordStore;
  /** Begins the keys of the inbox's records. Inboxes of the same store and prefix are one inbox. @default 'inbox/' */
  prefix?: string | undefined;
  /**
   * `both`: this process stores, and handles by itself until it stops. `receiver`: it only stores, and another one
   * handles. `drain`: it stores, and handles only where you call `drain`, for programs without a process that stays.
   * @default 'both'
   */
  role?: 'both' | 'receiver' | 'drain' | undefined;
  /** Milliseconds between two checks for what other processes stored. @default 250 */
  pollMs?: number | undefined;
  /** Resolves after this many milliseconds, or at once when the signal is aborted. @default setTimeout */
  sleep?: Sleep | undefined;
}

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

/** An inbox over a record store. */
export interface StoreInbox extends ManagedInbox {
  /**
   * With `role: 'drain'`: handles the deliveries that are due, up to `concurrency` at a time, until none is left. Calls in several processes
   * share the work. Register the handlers before: without any, nothing is handled.
   *
   * @throws {InboxError} `store_unavailable`, once the handlers that run have ended; `inbox_stopped`
   * @throws {ConfigurationError} `invalid_option`; also with another role, and without `createWebhooks`
   */
  drain(options?: DrainOptions): Promise<DrainResult>;
}

/** The rows that a preset of {@link storeInbox} has too. */
export const presetRows = {
  ...handlingRows,
  ...quarantineRows,
  pollMs: timerMs({ default: 250 }),
  sleep: callback({ default: sleep }),
};

/** Begins the keys of an inbox whose user names no other. */
export const inboxPrefix = 'inbox/';

const readOptions = defineOptions('storeInbox', {
  ...presetRows,
  ...callLimitRows({ maxPending: 1_000 }),
  store: checkStore,
  prefix: value(checkPrefix, { default: inboxPrefix }),
  role: oneOf(['both', 'receiver', 'drain'], { default: 'both' }),
} satisfies OptionTable<StoreInboxOptions>);

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

const mostCounted = 1_000;

/**
 * A durable inbox over a record store. In a server it handles what is stored by itself. In a program without a process
 * that stays, give it `role: 'drain'`: it handles where you call `drain`, in a scheduled function, a cron job or the tail
 * of a request.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @example
 * ```ts
 * const inbox = storeInbox({ store: postgresStore({ client: pool }), role: 'drain' });
 * const webhooks = createWebhooks({ credentials, inbox }).on('event.buy.credited.crypto', (event) =>
 *   applyOnce(effectKey(event), event),
 * );
 *
 * export const receive = webhooks.fetch;
 * export const everyMinute = () => inbox.drain({ timeLimitMs: 50_000 });
 * ```
 */
export function storeInbox(options: StoreInboxOptions): StoreInbox {
  return openStoreInbox(options, viewProcesses('anywhere'));
}

/** The same for a caller who knows which processes share the store. */
export function openStoreInbox(options: StoreInboxOptions, processes: ProcessView): StoreInbox {
  const settings = readOptions(options);
  const { role, retry, random, store } = settings;
  const records = deliveryRecords({ ...settings, processes });
  const status = deliveryStatus({ ...settings, processes });
  if (role === 'both' && !isWholeProcess())
    throw invalidOption("No process stays here to handle deliveries: give storeInbox role: 'drain'.");
  const call = limitStoreCalls(settings);
  // Limited by concurrency only: handling must not wait behind incoming deliveries.
  const callForWorker = limitStoreCalls({ ...settings, maxPending: Number.MAX_SAFE_INTEGER });
  // Within a process one call after the other: so `concurrency` and "alone" hold for the process.
  const inTurn = sharedKeyQueue();
  const workers = new Set<Worker>();
  /** Calls of `drain` under way. */
  const drains = new Set<AbortSignal>();
  /** Handles by itself; the others end with their `drain`. */
  let worker: Worker | undefined;
  let endReviews = () => {};
  let host: InboxHost | undefined;
  let isStopping = false;

  const source: WorkSource<RecordLease> = {
    async lease(limit) {
      try {
        return await callForWorker(() => records.lease(limit));
      } catch (error) {
        // On a full disk there may be room for one.
        if (limit === 1 || !isInboxError(error) || error.code !== 'store_full') throw error;
        return await callForWorker(() => records.lease(1));
      }
    },
    isAloneDue: () => callForWorker(records.isAloneDue),
    leaseAlone: () => callForWorker(records.leaseAlone),
    remove: (leased) => callForWorker(() => records.remove(leased)),
    postpone: (leased, reason) =>
      callForWorker(() => records.postpone(leased, backoffDelay(leased.attempt, retry, random), reason)),
    markingOf: (leased) =>
      makeMarking(
        (userStore) => records.mark(leased, userStore),
        () => callForWorker(() => records.isHandled(leased)),
      ),
    putBack: (leased, delayMs) => callForWorker(() => records.putBack(leased, delayMs)),
    moveToDeadLetters: (leased, reason) => callForWorker(() => records.moveToDeadLetters(leased, reason)),
    async release(left) {
      await Promise.all(left.map((leased) => callForWorker(() => records.putBack(leased, 0))));
    },
  };

  async function drain(given: DrainOptions = {}): Promise<DrainResult> {
    const { limit, timeLimitMs: ms, signal } = readDrainOptions(given);
    if (role !== 'drain')
      throw invalidOption(`An inbox with role: '${role}' does not drain: give it role: 'drain'.`);
    if (host === undefined)
      throw invalidOption('drain needs the handlers: give the inbox to createWebhooks.');
    if (isStopping) throw inboxStopped();
    const figures = { handled: 0, ignored: 0, failed: 0, dead: 0 };
    const counting = countOutcomes(host, figures);
    let draining: Worker | undefined;
    let ending: AbortSignal | undefined = signal;
    const run = (inner: AbortSignal) =>
      inTurn(['drain'], async () => {
        if (isStopping) throw inboxStopped();
        if (inner.aborted) return;
        await host?.review?.();
        if (isStopping || inner.aborted) return;
        const started = startWorker(source, { ...settings, host: counting, limit, endsWhenIdle: true });
        draining = started;
        workers.add(started);
        await started.ended().finally(() => workers.delete(started));
      });
    try {
      await withDeadline({ ms, signal }, async (inner) => {
        ending = inner;
        drains.add(inner);
        await run(inner);
      });
    } catch (error) {
      if (!ending?.aborted) throw error;
    } finally {
      if (ending !== undefined) drains.delete(ending);
    }
    if (ending?.aborted) await endDrain(draining);
    return { ...figures, left: await call(() => records.countOpen(mostCounted)) };
  }

  /** The handlers of a call that is over go on while another one in this process waits: only the last one aborts them. */
  async function endDrain(own: Worker | undefined): Promise<void> {
    if (!isWholeProcess()) await own?.stop(0);
    else if (drains.size === 0) await Promise.all([...workers].map((worker) => worker.stop(0)));
    else void own?.stop(Number.POSITIVE_INFINITY);
  }

  const inbox = durableInbox(
    {
      async store(delivery) {
        const result = await call(() => records.insert(delivery));
        if (result === 'stored') worker?.wake();
        return result;
      },
      start(given) {
        host = given;
        if (role !== 'both') return;
        const freeEnded = () =>
          callForWorker(() => records.freeEnded((attempt) => backoffDelay(attempt, retry, random)));
        worker = startWorker({ ...source, freeEnded }, { ...settings, host });
        workers.add(worker);
        endReviews = reviewRegularly(host);
      },
      deadLetters: (query) => call(() => records.deadLetters(query)),
      deadLetter: (digest, read) => call(() => records.deadLetter(digest, read)),
      async replay(digest) {
        const found = await call(() => records.replay(digest));
        worker?.wake();
        return found;
      },
      discard: (digest) => call(() => records.discard(digest)),
      counts: () => call(records.counts),
      find: (beginning, limit) => call(() => status.find(beginning, limit)),
      held: (limit) => call(() => status.held(limit)),
      oldestReceivedAt: () => call(records.oldestReceivedAt),
      quarantine: storedQuarantine(store, settings),
      async stop(timeoutMs) {
        isStopping = true;
        endReviews();
        const ends = await Promise.all([...workers].map((worker) => worker.stop(timeoutMs)));
        return ends.includes('cut-off') ? 'cut-off' : 'drained';
      },
    },
    settings,
  );
  return { ...inbox, drain };
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
