import { type Sleep, sleep } from '../../internal/backoff.ts';
import {
  callback,
  checkInteger,
  defineOptions,
  invalidOption,
  type OptionTable,
  oneOf,
  timerMs,
  value,
} from '../../internal/options.ts';
import { isWholeProcess } from '../../internal/runtime.ts';
import { storeInBatches } from '../../store/batches.ts';
import { type StoreCallOptions, storeCallRows } from '../../store/limited-calls.ts';
import { type ProcessView, viewProcesses } from '../../store/process-identity.ts';
import { checkPrefix, checkStore, type RecordStore } from '../../store/record-store.ts';
import { type DeadLetterOptions, readDeadLetterQuery } from '../dead-letters.ts';
import { inboxStopped } from '../handling-attempt.ts';
import { type HandlingOptions, handlingRows } from '../handling-options.ts';
import {
  type DeliveryStatus,
  defaultStopMs,
  hasHost,
  type InboxCounts,
  type InboxHost,
  type ManagedInbox,
} from '../inbox.ts';
import { type QuarantineOptions, quarantineRows } from '../quarantine/quarantine.ts';
import { recordQuarantine } from '../quarantine/record-quarantine.ts';
import { limitedStore } from '../store-calls.ts';
import { startWorker, type Worker } from '../worker.ts';
import { deliveryRecords } from './delivery-records.ts';
import { deliveryStatus } from './delivery-status.ts';
import { type DrainOptions, type DrainResult, drainTurns } from './drain.ts';

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

/** An inbox over a record store. */
export interface StoreInbox extends ManagedInbox {
  /** The deliveries whose digests begin so, in the order of the digests. @param limit @default 100 */
  find(beginning: string, limit?: number): Promise<DeliveryStatus[]>;
  /**
   * Handles the deliveries that are due, up to `concurrency` at a time, until none is left (`role: 'drain'`). Calls in
   * several processes share the work. Register the handlers before: without any, nothing is handled.
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
  ...storeCallRows,
  store: checkStore,
  prefix: value(checkPrefix, { default: inboxPrefix }),
  role: oneOf(['both', 'receiver', 'drain'], { default: 'both' }),
} satisfies OptionTable<StoreInboxOptions>);

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

/** Opens an inbox for a caller who knows which processes share the store. */
export function openStoreInbox(options: StoreInboxOptions, processes: ProcessView): StoreInbox {
  const settings = readOptions(options);
  const { role, store, storeTimeoutMs } = settings;
  if (role === 'both' && !isWholeProcess())
    throw invalidOption("No process stays here to handle deliveries: give storeInbox role: 'drain'.");
  // What many callers change at a time is one transaction.
  const received = storeInBatches(store, { slowAfterMs: storeTimeoutMs });
  const handled = storeInBatches(store, { slowAfterMs: storeTimeoutMs });
  const open = (shared: RecordStore, maxPending?: number) =>
    deliveryRecords({
      ...settings,
      store: limitedStore(store, storeTimeoutMs, maxPending),
      shared: limitedStore(shared, storeTimeoutMs, maxPending),
      processes,
    });
  const records = open(received);
  // Limited by concurrency only: handling must not wait behind incoming deliveries.
  const leases = open(handled, Number.MAX_SAFE_INTEGER);
  const status = deliveryStatus({ ...settings, store: limitedStore(store, storeTimeoutMs) });
  const quarantine =
    settings.quarantineMs === 0 ? undefined : recordQuarantine(store, { ...settings, checkReceives });
  const drains = drainTurns(
    (host, limit) => startWorker(leases, { ...settings, host, limit, endsWhenIdle: true }),
    checkReceives,
  );
  /** Handles by itself. */
  let worker: Worker | undefined;
  let host: InboxHost | undefined;
  let stopping: Promise<'drained' | 'cut-off'> | undefined;
  let hasStopped = false;

  function checkReceives(): void {
    if (stopping !== undefined) throw inboxStopped();
  }

  /** A call for a person or for metrics, which a stop does not refuse until all has ended. */
  function untilStopped<Parameters extends unknown[], Result>(
    call: (...given: Parameters) => Promise<Result>,
  ) {
    return async (...given: Parameters): Promise<Result> => {
      if (hasStopped) throw inboxStopped();
      return await call(...given);
    };
  }

  async function counts(): Promise<InboxCounts> {
    const [stored, quarantined = 0] = await Promise.all([status.counts(), quarantine?.count()]);
    return quarantined === 0 ? stored : { ...stored, quarantined };
  }

  async function stop(timeoutMs: number): Promise<'drained' | 'cut-off'> {
    const ends = await Promise.all([worker?.stop(timeoutMs), drains.stop(timeoutMs)]);
    await Promise.all([received.close(), handled.close()]);
    return ends.flat().includes('cut-off') ? 'cut-off' : 'drained';
  }

  return {
    quarantine,
    attach(owner) {
      if (host !== undefined) throw hasHost();
      host = owner;
      if (role === 'both') worker = startWorker(leases, { ...settings, host });
    },
    async receive(delivery) {
      checkReceives();
      const result = await records.insert(delivery);
      if (result === 'stored') worker?.wake();
      return result;
    },
    async drain(drainOptions = {}) {
      if (role !== 'drain')
        throw invalidOption(`An inbox with role: '${role}' does not drain: give it role: 'drain'.`);
      if (host === undefined)
        throw invalidOption('drain needs the handlers: give the inbox to createWebhooks.');
      const figures = await drains.drain(host, drainOptions);
      return { ...figures, left: await status.countOpen(mostCounted) };
    },
    deadLetters: untilStopped(async (query: DeadLetterOptions = {}) =>
      records.deadLetters(readDeadLetterQuery(query)),
    ),
    deadLetter: untilStopped(async (digest: string) => records.deadLetter(digest)),
    replay: untilStopped(async (digest: string) => {
      const isFound = await records.replay(digest);
      worker?.wake();
      return isFound;
    }),
    discard: untilStopped(async (digest: string) => records.discard(digest)),
    find: untilStopped(async (beginning: string, limit = 100) =>
      status.find(beginning, checkInteger('limit', limit)),
    ),
    counts: untilStopped(counts),
    health: untilStopped(async () => {
      const { quarantined = 0, ...others } = await counts();
      return { ...others, quarantined, oldestAgeMs: await status.oldestAgeMs() };
    }),
    stop({ timeoutMs = defaultStopMs } = {}) {
      stopping ??= stop(timeoutMs).finally(() => {
        hasStopped = true;
      });
      return stopping;
    },
  };
}
