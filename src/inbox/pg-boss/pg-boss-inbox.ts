import { type Sleep, sleep } from '../../internal/backoff.ts';
import { settledWithin } from '../../internal/deadline.ts';
import { describeError } from '../../internal/driver-error.ts';
import { callLimitRows, type StoreCallOptions } from '../../internal/limited-calls.ts';
import {
  callback,
  defineOptions,
  invalidOption,
  type OptionTable,
  timerMs,
  value,
} from '../../internal/options.ts';
import { isNewer, newerFormat } from '../../internal/stored-version.ts';
import { batched } from '../../store/batches.ts';
import { checkMethods, durableInbox, limitStoreCalls } from '../durable-inbox.ts';
import { leaseLost } from '../handling-attempt.ts';
import { type HandlingOptions, handlingRows, reportStore } from '../handling-options.ts';
import type { Delivery, ManagedInbox } from '../inbox.ts';
import { limitedQuarantine, reviewRegularly } from '../quarantine/inbox-quarantine.ts';
import { type QuarantineOptions, quarantineRows } from '../quarantine/quarantine.ts';
import { newerAgainMs } from '../stored-delivery.ts';
import { startWorker, type Worker, type WorkSource } from '../worker.ts';
import type { Boss, BossJob } from './pg-boss-job.ts';
import { type BossLease, toLease } from './pg-boss-lease.ts';
import { pgBossQuarantine } from './pg-boss-quarantine.ts';
import { pgBossStore } from './pg-boss-store.ts';

/**
 * pg-boss waits in whole seconds: `retry`, `rememberMs` and the lease are rounded up. Its retry delays have their own
 * random part: a retry waits for its delay and up to as much again, at most `retry.maxDelayMs`. A lease lasts at most
 * 24 hours, `timeLimitMs` a little less. A job has the lease of the process that stored it: if `timeLimitMs` differs
 * where it is handled, the shorter one counts.
 */
export interface PgBossInboxOptions
  extends Omit<HandlingOptions, 'random'>,
    StoreCallOptions,
    QuarantineOptions {
  /** A started pg-boss. You stop it, after the inbox. */
  boss: Boss;
  /**
   * The name of the queue, which is made if it is missing; dead letters are in `<queue>_dead`, and what nobody can
   * verify yet in `<queue>_unverified`. @default 'partner_inbox'
   */
  queue?: string | undefined;
  /** Milliseconds between two checks for due deliveries. @default 500 */
  pollMs?: number | undefined;
  /** Resolves after this many milliseconds, or at once when the signal is aborted. @default setTimeout */
  sleep?: Sleep | undefined;
}

const { random: _, ...sharedRows } = handlingRows;
const readOptions = defineOptions('pgBossInbox', {
  ...sharedRows,
  ...callLimitRows({ maxPending: 1_000 }),
  ...quarantineRows,
  boss: (given) =>
    checkMethods<Boss>(given, {
      owner: 'pgBossInbox',
      what: 'a pg-boss instance',
      // The same range as in peerDependencies.
      versions: 'pg-boss 12.26 or later',
      methods: ['insert', 'createQueue', 'fetch', 'complete', 'fail', 'findJobs', 'deleteJob', 'getDb'],
    }),
  queue: value(checkQueue, { default: 'partner_inbox' }),
  pollMs: timerMs({ default: 500 }),
  sleep: callback({ default: sleep }),
} satisfies OptionTable<PgBossInboxOptions>);

/**
 * Deliveries stored, or marked as handled, in one transaction. PostgreSQL works on one while the next is written; the
 * pool has other connections for the rest.
 */
const batches = Object.freeze({ maxItems: 100, concurrency: 2, slowAfterMs: 5_000 });

/**
 * A durable inbox on your pg-boss. A delivery is a job whose id comes from its digest: while the job is kept, its
 * repetitions are duplicates. Jobs that were handled or became dead letters are kept for `rememberMs`, until the next
 * maintenance of pg-boss (`maintenanceIntervalSeconds`, daily by default) deletes them; dead letters themselves stay.
 *
 * Deliveries of a process that died are found by the supervision of any pg-boss on the schema (`supervise`, on by
 * default). One that kills every process becomes a dead letter after `maxAttempts` too; the process that finds it
 * reports it.
 *
 * All times are those of the database, so the machines' clocks do not matter.
 *
 * @throws {ConfigurationError} `invalid_option`
 */
export function pgBossInbox(options: PgBossInboxOptions): ManagedInbox {
  const settings = readOptions(options);
  const call = limitStoreCalls(settings);
  // Limited by concurrency only: handling must not wait behind incoming deliveries.
  const callForWorker = limitStoreCalls({ ...settings, maxPending: Number.MAX_SAFE_INTEGER });
  const store = pgBossStore(settings);
  const fetchOptions = {
    leaseMs: store.leaseMs,
    inTime: (jobs: Promise<BossJob[]>) => callForWorker(() => jobs),
  };
  const fetchSideBySide = pendingFetch(store.lease, fetchOptions);
  const fetchIsolated = pendingFetch(store.leaseIsolated, fetchOptions);
  const incoming = batched<Delivery, 'stored' | 'duplicate'>(store.insert, batches);
  const handled = batched(store.complete, batches);
  let worker: Worker | undefined;
  let endReviews = () => {};

  /** A process of the version that stored it may fetch it next. Not an attempt. */
  async function leaveToNewer(job: BossJob): Promise<void> {
    reportStore(newerFormat('A stored delivery'), settings);
    await callForWorker(() => store.undoLease(job, newerAgainMs));
  }

  const source: WorkSource<BossLease> = {
    async lease(limit) {
      const jobs = await fetchSideBySide.next(limit);
      const leased: BossLease[] = [];
      async function sort(job: BossJob): Promise<void> {
        if (isNewer(job.data)) return await leaveToNewer(job);
        const one = toLease(job);
        if (one === undefined) await callForWorker(() => store.failForeignJob(job));
        else if (one.lost && !one.isolated) await callForWorker(() => store.isolate(one));
        else leased.push(one);
      }
      // If this fails, the lease expires and the job is found again.
      await Promise.all(jobs.map((job) => sort(job).catch((error) => reportStore(error, settings))));
      return { leased, pauseMs: jobs.length >= limit ? 0 : Number.POSITIVE_INFINITY };
    },
    isIsolatedDue: () => callForWorker(store.isIsolatedDue),
    async leaseIsolated() {
      const [job] = await fetchIsolated.next(1);
      if (job !== undefined && isNewer(job.data)) {
        await leaveToNewer(job);
        return { leased: undefined, dead: [] };
      }
      const one = job && toLease(job);
      if (one === undefined) {
        if (job !== undefined) await callForWorker(() => store.failForeignJob(job));
        return { leased: undefined, dead: [] };
      }
      if (!one.lost || one.attempt <= settings.maxAttempts) return { leased: one, dead: [] };
      const dead = { ...one, attempt: one.attempt - 1 };
      const moved = await callForWorker(() => store.moveToDeadLetters(dead, describeError(leaseLost())));
      return { leased: undefined, dead: moved ? [dead] : [] };
    },
    remove: (leased) => callForWorker(() => handled.add(leased)),
    postpone: (leased, reason) => callForWorker(() => store.postpone(leased, reason)),
    putBack: (leased, delayMs) => callForWorker(() => store.putBack(leased, delayMs)),
    moveToDeadLetters: (leased, reason) => callForWorker(() => store.moveToDeadLetters(leased, reason)),
    async release(left) {
      await Promise.all(left.map((one) => callForWorker(() => store.postpone(one, 'Cut off by a stop.'))));
    },
  };

  return durableInbox(
    {
      start(host) {
        worker = startWorker(source, { host, ...settings });
        endReviews = reviewRegularly(host);
      },
      async store(delivery) {
        const result = await call(() => incoming.add(delivery));
        if (result === 'stored') worker?.wake();
        return result;
      },
      deadLetters: (query) => call(() => store.deadLetters(query)),
      deadLetter: (digest, read) => call(() => store.deadLetter(digest, read)),
      async replay(digest) {
        const found = await call(() => store.replay(digest));
        worker?.wake();
        return found;
      },
      discard: (digest) => call(() => store.discard(digest)),
      counts: () => call(() => store.counts()),
      oldestReceivedAt: () => call(() => store.oldestCreatedAt()),
      quarantine: limitedQuarantine(pgBossQuarantine(settings), settings),
      async stop(timeoutMs) {
        endReviews();
        // Stored, so that it can still be acknowledged.
        const stored = settledWithin([incoming.drain()], timeoutMs);
        const end = (await worker?.stop(timeoutMs)) ?? 'drained';
        await stored;
        // Another process handles the jobs of a fetch that is answered after the stop.
        for (const { unanswered } of [fetchSideBySide, fetchIsolated]) {
          const released = unanswered()?.then((jobs) =>
            source.release(jobs.flatMap((job) => (isNewer(job.data) ? [] : (toLease(job) ?? [])))),
          );
          released?.catch((error: unknown) => reportStore(error, settings));
        }
        return end;
      },
    },
    settings,
  );
}

function checkQueue(queue: unknown): string {
  if (typeof queue === 'string' && /^[\w./-]+$/.test(queue)) return queue;
  throw invalidOption('queue must be a name of letters, digits and . _ - / only: pg-boss takes no other.');
}

/** A fetch that outlasts the store's time limit is kept: the next call gets its jobs while their lease holds. */
function pendingFetch(
  fetch: (limit: number) => Promise<BossJob[]>,
  { leaseMs, inTime }: { leaseMs: number; inTime: (jobs: Promise<BossJob[]>) => Promise<BossJob[]> },
) {
  let pending: { readonly jobs: Promise<BossJob[]>; readonly begun: number } | undefined;
  return {
    /** Rejects if the store does not answer in time. */
    async next(limit: number): Promise<BossJob[]> {
      const now = performance.now();
      if (pending === undefined || now - pending.begun >= leaseMs) {
        pending = { jobs: fetch(limit), begun: now };
      }
      const { jobs } = pending;
      const forget = () => {
        if (pending?.jobs === jobs) pending = undefined;
      };
      jobs.catch(forget);
      const fetched = await inTime(jobs);
      forget();
      return fetched;
    },
    unanswered: () => pending?.jobs,
  };
}
