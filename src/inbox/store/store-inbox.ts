import { type Sleep, sleep } from '../../internal/backoff.ts';
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
import { storeInBatches } from '../../store/batches.ts';
import { sharedKeyQueue } from '../../store/key-queue.ts';
import { callLimitRows, type StoreCallOptions } from '../../store/limited-calls.ts';
import { type ProcessView, viewProcesses } from '../../store/process-identity.ts';
import { checkPrefix, checkStore, type RecordStore } from '../../store/record-store.ts';
import { readDeadLetterQuery, readDeadLetterRead } from '../dead-letters.ts';
import { inboxStopped } from '../handling-attempt.ts';
import { type HandlingOptions, handlingRows } from '../handling-options.ts';
import type { AttemptResult, InboxHost, ManagedInbox } from '../inbox.ts';
import { defaultStopMs, hasHost } from '../inbox.ts';
import { type QuarantineOptions, quarantineRows } from '../quarantine/quarantine.ts';
import { recordQuarantine, reviewRegularly } from '../quarantine/record-quarantine.ts';
import { limitedStore, type StoreLimits } from '../store-calls.ts';
import { startWorker, type Worker, type WorkerOptions } from '../worker.ts';
import { deliveryRecords } from './delivery-records.ts';
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
const defaultLimit = 100;

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
  const { role, now, store } = settings;
  if (role === 'both' && !isWholeProcess())
    throw invalidOption("No process stays here to handle deliveries: give storeInbox role: 'drain'.");
  // What many callers change at a time is one transaction.
  const received = storeInBatches(store, { slowAfterMs: settings.storeTimeoutMs });
  const handled = storeInBatches(store, { slowAfterMs: settings.storeTimeoutMs });
  const open = (shared: RecordStore, limits: StoreLimits) =>
    deliveryRecords({
      ...settings,
      store: limitedStore(store, limits),
      shared: limitedStore(shared, limits),
      processes,
    });
  const records = open(received, settings);
  // Limited by concurrency only: handling must not wait behind incoming deliveries.
  const workerRecords = open(handled, { ...settings, maxPending: Number.MAX_SAFE_INTEGER });
  const status = deliveryStatus({ ...settings, store: limitedStore(store, settings), processes });
  const quarantine =
    settings.quarantineMs === 0 ? undefined : recordQuarantine(store, { ...settings, checkReceives });
  // Within a process one call after the other: so `concurrency` and "alone" hold for the process.
  const inTurn = sharedKeyQueue();
  const workers = new Set<Worker>();
  /** Calls of `drain` under way. */
  const drains = new Set<AbortSignal>();
  /** Handles by itself; the others end with their `drain`. */
  let worker: Worker | undefined;
  let endReviews = () => {};
  let host: InboxHost | undefined;
  let stopping: Promise<'drained' | 'cut-off'> | undefined;
  let hasStopped = false;

  function checkReceives(): void {
    if (stopping !== undefined) throw inboxStopped();
  }

  function checkOpen(): void {
    if (hasStopped) throw inboxStopped();
  }

  function start(own: InboxHost, ends: Pick<WorkerOptions, 'limit' | 'endsWhenIdle'> = {}): Worker {
    const started = startWorker(workerRecords, { ...settings, ...ends, host: own });
    workers.add(started);
    return started;
  }

  async function drain(given: DrainOptions = {}): Promise<DrainResult> {
    const { limit, timeLimitMs: ms, signal } = readDrainOptions(given);
    if (role !== 'drain')
      throw invalidOption(`An inbox with role: '${role}' does not drain: give it role: 'drain'.`);
    if (host === undefined)
      throw invalidOption('drain needs the handlers: give the inbox to createWebhooks.');
    checkReceives();
    const figures = { handled: 0, ignored: 0, failed: 0, dead: 0 };
    const counting = countOutcomes(host, figures);
    let draining: Worker | undefined;
    let ending: AbortSignal | undefined = signal;
    const run = (inner: AbortSignal) =>
      inTurn(['drain'], async () => {
        checkReceives();
        if (inner.aborted) return;
        await host?.review?.();
        if (stopping !== undefined || inner.aborted) return;
        const started = start(counting, { limit, endsWhenIdle: true });
        draining = started;
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
    return { ...figures, left: await records.countOpen(mostCounted) };
  }

  /** The handlers of a call that is over go on while another one in this process waits: only the last one aborts them. */
  async function endDrain(own: Worker | undefined): Promise<void> {
    if (!isWholeProcess()) await own?.stop(0);
    else if (drains.size === 0) await Promise.all([...workers].map((worker) => worker.stop(0)));
    else void own?.stop(Number.POSITIVE_INFINITY);
  }

  async function stop(timeoutMs: number): Promise<'drained' | 'cut-off'> {
    endReviews();
    const ends = await Promise.all([...workers].map((worker) => worker.stop(timeoutMs)));
    await Promise.all([received.close(), handled.close()]);
    return ends.includes('cut-off') ? 'cut-off' : 'drained';
  }

  return {
    role,
    quarantine,
    attach(given) {
      if (host !== undefined) throw hasHost();
      host = given;
      if (role !== 'both') return;
      worker = start(host);
      endReviews = reviewRegularly(host);
    },
    async receive(delivery) {
      checkReceives();
      const result = await records.insert(delivery);
      if (result === 'stored') worker?.wake();
      return result;
    },
    drain,
    async deadLetters(query = {}) {
      checkOpen();
      return await records.deadLetters(readDeadLetterQuery(query));
    },
    async deadLetter(digest, read = {}) {
      checkOpen();
      return await records.deadLetter(checkDigest(digest), readDeadLetterRead(read));
    },
    async replay(digest) {
      checkOpen();
      const isFound = await records.replay(checkDigest(digest));
      worker?.wake();
      return isFound;
    },
    async discard(digest) {
      checkOpen();
      return await records.discard(checkDigest(digest));
    },
    async find(beginning, limit = defaultLimit) {
      checkOpen();
      return await status.find(checkDigest(beginning), checkInteger('limit', limit));
    },
    async held(limit = defaultLimit) {
      checkOpen();
      return await status.held(checkInteger('limit', limit));
    },
    async counts() {
      checkOpen();
      const [counts, quarantined = 0] = await Promise.all([records.counts(), quarantine?.count()]);
      return quarantined === 0 ? counts : { ...counts, quarantined };
    },
    async health() {
      checkOpen();
      const [counts, oldest, quarantined = 0] = await Promise.all([
        records.counts(),
        records.oldestReceivedAt(),
        quarantine?.count(),
      ]);
      const oldestAgeMs = oldest === undefined ? null : Math.max(0, Math.round(now() - oldest));
      return { ...counts, quarantined, oldestAgeMs };
    },
    stop({ timeoutMs = defaultStopMs } = {}) {
      stopping ??= stop(timeoutMs).finally(() => {
        hasStopped = true;
      });
      return stopping;
    },
  };
}

function checkDigest(digest: unknown): string {
  if (typeof digest === 'string') return digest;
  throw invalidOption('digest must be the digest of a dead letter, which is a string.');
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
