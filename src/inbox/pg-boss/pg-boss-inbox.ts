import { checkNames, type OptionNames } from '../../options/check-names.ts';
import { checkFunction, checkTimerMs, invalidOption } from '../../options/check-values.ts';
import { describeError } from '../../redaction/describe-error.ts';
import { batched } from '../../runtime/batched.ts';
import { settledWithin } from '../../runtime/settled-within.ts';
import { type Sleep, sleep } from '../../runtime/sleep.ts';
import { durableInbox } from '../durable-inbox.ts';
import { checkHandling, type HandlingOptions, handlingOptionNames } from '../handling-options.ts';
import type { Delivery } from '../inbox.ts';
import { leaseLost } from '../lease-lost.ts';
import type { ManagedInbox } from '../managed-inbox.ts';
import { limitStoreCalls, type StoreCallOptions } from '../store-calls.ts';
import { reportStore, startWorker, type Worker, type WorkSource } from '../worker.ts';
import { type BossLease, toLease } from './boss-lease.ts';
import { pendingFetch } from './pending-fetch.ts';
import { pgBossStore } from './pg-boss-store.ts';
import type { Boss, BossJob } from './pg-boss-types.ts';

/**
 * pg-boss waits in whole seconds: `retry`, `rememberMs` and the lease are rounded up. Its retry delays have their own
 * random part: a retry waits for its delay and up to as much again, at most `retry.maxDelayMs`. A lease lasts at most
 * 24 hours, `timeLimitMs` a little less. A job has the lease of the process that stored it: if `timeLimitMs` differs
 * where it is handled, the shorter one counts.
 */
export interface PgBossInboxOptions extends Omit<HandlingOptions, 'random'>, StoreCallOptions {
  /** A started pg-boss. You stop it, after the inbox. */
  boss: Boss;
  /**
   * The name of the queue, which is made if it is missing; dead letters are in `<queue>_dead`. @default 'partner_inbox'
   */
  queue?: string | undefined;
  /** Milliseconds between two checks for due deliveries. @default 500 */
  pollMs?: number | undefined;
  /** Resolves after this many milliseconds, or at once when the signal is aborted. @default setTimeout */
  sleep?: Sleep | undefined;
}

const { random: _, ...sharedNames } = handlingOptionNames;
const names: OptionNames<PgBossInboxOptions> = {
  ...sharedNames,
  storeTimeoutMs: true,
  maxPending: true,
  boss: true,
  queue: true,
  pollMs: true,
  sleep: true,
};

const methods: readonly (keyof Boss)[] = [
  'createQueue',
  'insert',
  'fetch',
  'complete',
  'fail',
  'findJobs',
  'deleteJob',
  'getDb',
];

/** The same range as in peerDependencies. */
const testedVersions = '12.26 or later';

const defaults = Object.freeze({ queue: 'partner_inbox', pollMs: 500, sleep });

/**
 * Deliveries stored, or marked as handled, in one transaction. Two such transactions are under way at a time, so that
 * PostgreSQL works on one while the next is written. The pool has other connections for the rest.
 */
const batches = Object.freeze({ most: 100, atOnce: 2, patienceMs: 5_000 });

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
  checkNames('pgBossInbox', options, names);
  const handling = checkHandling(options);
  const boss = checkBoss(options.boss);
  const queue = checkQueue(options.queue ?? defaults.queue);
  const pollMs = checkTimerMs('pollMs', options.pollMs ?? defaults.pollMs);
  const wait = checkFunction('sleep', options.sleep ?? defaults.sleep);
  const call = limitStoreCalls(options);
  // Limited by concurrency only: handling must not wait behind incoming deliveries.
  const callForWorker = limitStoreCalls({
    storeTimeoutMs: options.storeTimeoutMs,
    maxPending: Number.MAX_SAFE_INTEGER,
  });
  const store = pgBossStore(boss, queue, handling);
  const fetchOptions = {
    leaseMs: store.leaseMs,
    inTime: (jobs: Promise<BossJob[]>) => callForWorker(() => jobs),
  };
  const fetchSideBySide = pendingFetch(store.lease, fetchOptions);
  const fetchAlone = pendingFetch(store.leaseAlone, fetchOptions);
  const incoming = batched<Delivery, 'stored' | 'duplicate'>(store.insert, batches);
  const handled = batched(store.complete, batches);
  let worker: Worker | undefined;

  const source: WorkSource<BossLease> = {
    async lease(limit) {
      const jobs = await fetchSideBySide.next(limit);
      const leased: BossLease[] = [];
      async function sort(job: BossJob): Promise<void> {
        const one = toLease(job);
        if (one === undefined) await callForWorker(() => store.refuse(job));
        else if (one.lost && !one.alone) await callForWorker(() => store.setApart(one));
        else leased.push(one);
      }
      // If this fails, the lease expires and the job is found again. The others do not wait for it.
      await Promise.all(jobs.map((job) => sort(job).catch((error) => reportStore(error, handling))));
      return { leased, pauseMs: jobs.length >= limit ? 0 : Number.POSITIVE_INFINITY };
    },
    isAloneDue: () => callForWorker(store.isAloneDue),
    async leaseAlone() {
      const [job] = await fetchAlone.next(1);
      const one = job && toLease(job);
      if (one === undefined) {
        if (job !== undefined) await callForWorker(() => store.refuse(job));
        return { leased: undefined, dead: [] };
      }
      if (!one.lost || one.attempt <= handling.maxAttempts) return { leased: one, dead: [] };
      const dead = { ...one, attempt: one.attempt - 1 };
      const end = { attempts: dead.attempt, reason: describeError(leaseLost()) };
      const moved = await callForWorker(() => store.moveToDeadLetters(one, end));
      return { leased: undefined, dead: moved ? [dead] : [] };
    },
    settle: (leased, { outcome, attempt, error }) =>
      callForWorker(async () => {
        const reason = describeError(error);
        if (outcome === 'failed') return await store.postpone(leased, reason);
        if (outcome === 'dead') return await store.moveToDeadLetters(leased, { attempts: attempt, reason });
        return await handled.add(leased);
      }),
    async release(left) {
      await Promise.all(left.map((one) => callForWorker(() => store.postpone(one, 'Cut off by a stop.'))));
    },
  };

  return durableInbox(
    {
      start(host) {
        worker = startWorker(source, { host, handling, pollMs, sleep: wait });
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
      async stop(timeoutMs) {
        // What was received before is stored, so that it can still be acknowledged.
        const stored = settledWithin([incoming.drain()], timeoutMs);
        const end = (await worker?.stop(timeoutMs)) ?? 'drained';
        await stored;
        // Another process handles what a late fetch leases.
        for (const { late } of [fetchSideBySide, fetchAlone]) {
          const released = late?.then((jobs) => source.release(jobs.flatMap((job) => toLease(job) ?? [])));
          released?.catch((error: unknown) => reportStore(error, handling));
        }
        return end;
      },
    },
    handling,
  );
}

function checkBoss(boss: Boss): Boss {
  if (typeof boss?.insert !== 'function') throw invalidOption('pgBossInbox needs a pg-boss instance.');
  const missing = methods.find((method) => typeof boss[method] !== 'function');
  if (missing === undefined) return boss;
  throw invalidOption(`pgBossInbox needs pg-boss ${testedVersions}: the one given has no ${missing}().`);
}

function checkQueue(queue: unknown): string {
  if (typeof queue === 'string' && /^[\w./-]+$/.test(queue)) return queue;
  throw invalidOption('queue must be a name of letters, digits and . _ - / only: pg-boss takes no other.');
}
