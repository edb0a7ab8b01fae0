import { backoffDelay, sleep } from '../../internal/backoff.ts';
import { withDeadline } from '../../internal/deadline.ts';
import { callLimitRows, type StoreCallOptions } from '../../internal/limited-calls.ts';
import {
  abortSignal,
  checkInteger,
  defineOptions,
  invalidOption,
  type OptionRow,
  type OptionTable,
  value,
} from '../../internal/options.ts';
import { sharedKeyQueue } from '../../store/key-queue.ts';
import { checkPrefix, checkStore, type RecordStore } from '../../store/record-store.ts';
import { durableInbox, limitStoreCalls } from '../durable-inbox.ts';
import { inboxStopped } from '../handling-attempt.ts';
import { type HandlingOptions, handlingRows } from '../handling-options.ts';
import type { AttemptResult, InboxHost, ManagedInbox } from '../inbox.ts';
import { storedQuarantine } from '../quarantine/inbox-quarantine.ts';
import { type QuarantineOptions, quarantineRows } from '../quarantine/quarantine.ts';
import { startWorker, type Worker, type WorkSource } from '../worker.ts';
import { deliveryRecords, type RecordLease } from './delivery-records.ts';

/** Options of {@link storeInbox}. */
export interface StoreInboxOptions extends HandlingOptions, StoreCallOptions, QuarantineOptions {
  /** A record store: `sqliteStore`, `redisStore`, `postgresStore` or your own. You close it. */
  store: RecordStore;
  /** Begins the keys of the inbox's records. Inboxes of the same store and prefix are one inbox. @default 'inbox/' */
  prefix?: string | undefined;
}

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
  /** Deliveries that nothing is registered for, older than `ignoreAfterMs`, and those whose name is muted. */
  readonly ignored: number;
  /** Attempts that failed; these deliveries are tried again by a later call. */
  readonly failed: number;
  /** New dead letters. */
  readonly dead: number;
  /** Deliveries that are still open: due later, being handled elsewhere, or not reached. Counted up to 1,000. */
  readonly left: number;
}

/** An inbox that handles where you call `drain`. */
export interface StoreInbox extends ManagedInbox {
  /**
   * Handles the deliveries that are due, up to `concurrency` at a time, until none is left. Calls in several processes
   * share the work. Register the handlers before: without any, nothing is handled.
   *
   * @throws {InboxError} `store_unavailable`, once the handlers that run have ended; `inbox_stopped`
   * @throws {ConfigurationError} `invalid_option`; also with `role: 'receiver'`, and without `createWebhooks`
   */
  drain(options?: DrainOptions): Promise<DrainResult>;
}

const readOptions = defineOptions('storeInbox', {
  ...handlingRows,
  ...callLimitRows({ maxPending: 1_000 }),
  ...quarantineRows,
  store: checkStore,
  prefix: value(checkPrefix, { default: 'inbox/' }),
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
/** Milliseconds between two checks for due deliveries while handlers run. */
const pollMs = 500;

/**
 * A durable inbox over a record store, for programs without a process that stays: it stores where a delivery is
 * received, and handles where you call `drain`, in a scheduled function, a cron job or the tail of a request.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @example
 * ```ts
 * const inbox = storeInbox({ store: postgresStore({ client: pool }) });
 * const webhooks = createWebhooks({ credentials, inbox }).on('event.buy.credited.crypto', (event) =>
 *   applyOnce(effectKey(event), event),
 * );
 *
 * export const receive = webhooks.fetch;
 * export const everyMinute = () => inbox.drain({ timeLimitMs: 50_000 });
 * ```
 */
export function storeInbox(options: StoreInboxOptions): StoreInbox {
  const settings = readOptions(options);
  const { role, retry, random } = settings;
  const records = deliveryRecords(settings);
  const call = limitStoreCalls(settings);
  // Within a process one call after the other: so `concurrency` and "alone" hold for the process.
  const inTurn = sharedKeyQueue();
  const workers = new Set<Worker>();
  let host: InboxHost | undefined;
  let isStopping = false;

  const source: WorkSource<RecordLease> = {
    lease: (limit) => call(() => records.lease(limit)),
    isIsolatedDue: () => call(records.isIsolatedDue),
    leaseIsolated: () => call(records.leaseIsolated),
    remove: (leased) => call(() => records.remove(leased)),
    postpone: (leased, reason) =>
      call(() => records.postpone(leased, backoffDelay(leased.attempt, retry, random), reason)),
    putBack: (leased, delayMs) => call(() => records.putBack(leased, delayMs)),
    moveToDeadLetters: (leased, reason) => call(() => records.moveToDeadLetters(leased, reason)),
    async release(left) {
      await Promise.all(left.map((leased) => call(() => records.putBack(leased, 0))));
    },
  };

  async function drain(given: DrainOptions = {}): Promise<DrainResult> {
    const { limit, timeLimitMs: ms, signal } = readDrainOptions(given);
    if (role === 'receiver') throw invalidOption("An inbox with role: 'receiver' does not drain.");
    if (host === undefined)
      throw invalidOption('drain needs the handlers: give the inbox to createWebhooks.');
    if (isStopping) throw inboxStopped();
    const figures = { handled: 0, ignored: 0, failed: 0, dead: 0 };
    const counting = countOutcomes(host, figures);
    let worker: Worker | undefined;
    let ending: AbortSignal | undefined = signal;
    const run = () =>
      inTurn(['drain'], async () => {
        if (isStopping) throw inboxStopped();
        if (ending?.aborted) return;
        await host?.review?.();
        if (isStopping || ending?.aborted) return;
        worker = startWorker(source, {
          ...settings,
          host: counting,
          limit,
          pollMs,
          sleep,
          endsWhenIdle: true,
        });
        workers.add(worker);
        await worker.ended().finally(() => worker !== undefined && workers.delete(worker));
      });
    try {
      await withDeadline({ ms, signal }, (inner) => {
        ending = inner;
        return run();
      });
    } catch (error) {
      if (!ending?.aborted) throw error;
      await worker?.stop(0);
    }
    return { ...figures, left: await call(() => records.countOpen(mostCounted)) };
  }

  const inbox = durableInbox(
    {
      store: (delivery) => call(() => records.insert(delivery)),
      start(given) {
        host = given;
      },
      deadLetters: (query) => call(() => records.deadLetters(query)),
      deadLetter: (digest, read) => call(() => records.deadLetter(digest, read)),
      replay: (digest) => call(() => records.replay(digest)),
      discard: (digest) => call(() => records.discard(digest)),
      counts: () => call(records.counts),
      quarantine: storedQuarantine(settings.store, settings),
      async stop(timeoutMs) {
        isStopping = true;
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
