import { describeError } from '../../redaction/describe-error.ts';
import { longestTimerMs } from '../../runtime/longest-timer.ts';
import { type Sleep, sleep } from '../../runtime/sleep.ts';
import type { LeasedDelivery } from '../attempt.ts';
import { durableInbox } from '../durable-inbox.ts';
import { checkHandling, type HandlingOptions, invalid, wholeNumber } from '../handling-options.ts';
import { leaseLost } from '../lease-lost.ts';
import type { ManagedInbox } from '../managed-inbox.ts';
import { type StoreGateOptions, storeGate } from '../store-gate.ts';
import { reportStore, startWorker, type Worker, type WorkSource } from '../worker.ts';
import { pgBossStore, type TakenJob, toTaken } from './pg-boss-store.ts';
import type { Boss, BossJob } from './pg-boss-types.ts';

/**
 * The waits of pg-boss are whole seconds: `retry`, `rememberMs` and the lease are rounded up. It
 * adds chance itself: a retry waits for its delay and up to as much again, `retry.maxDelayMs` at most. A lease is 24 hours at
 * most, `timeLimitMs` a little less. A job has the lease of the process that stored it: with another `timeLimitMs`
 * where it is handled, the shorter one counts.
 */
export interface PgBossInboxOptions extends Omit<HandlingOptions, 'random'>, StoreGateOptions {
  /** A started pg-boss. Stopping it is yours, after the inbox. */
  boss: Boss;
  /** The name of the queue, made when there is none; the dead letters are in `<queue>_dead`. @default 'partner_inbox' */
  queue?: string | undefined;
  /** Milliseconds between two looks for what is due. @default 500 */
  pollMs?: number | undefined;
  /** Resolves after so many milliseconds, or at once when the signal is aborted. @default setTimeout */
  sleep?: Sleep | undefined;
}

const defaults = Object.freeze({ queue: 'partner_inbox', pollMs: 500 });

/**
 * A durable inbox on a pg-boss of yours. A delivery is a job whose id is made of its digest: as long as the job is
 * kept, its repetitions are duplicates. A job that was handled, or is a dead letter, is kept for `rememberMs`, until
 * the maintenance of pg-boss that follows (`maintenanceIntervalSeconds`, daily by default) deletes it; the dead
 * letter itself stays.
 *
 * What a process that died had in hand is found by the supervision of any pg-boss on the schema (`supervise`, on by
 * default), and becomes a dead letter after `maxAttempts` too, reported as one by the process that takes it.
 *
 * All times are those of the database: the clocks of the machines do not matter.
 *
 * @throws {ConfigurationError} `invalid_option`
 */
export function pgBossInbox(options: PgBossInboxOptions): ManagedInbox {
  const handling = checkHandling(options);
  const { boss } = options;
  if (typeof boss?.send !== 'function') throw invalid('pgBossInbox needs a pg-boss instance.');
  const queue = options.queue ?? defaults.queue;
  if (typeof queue !== 'string' || !/^[\w./-]+$/.test(queue)) {
    throw invalid('queue must be a name of letters, digits and . _ - / only: pg-boss takes no other.');
  }
  const pollMs = wholeNumber('pollMs', options.pollMs ?? defaults.pollMs, longestTimerMs);
  const wait = options.sleep ?? sleep;
  const ask = storeGate(options);
  // Bounded by its concurrency: what is handled must not wait behind what comes in.
  const askForWorker = storeGate({ ...options, maxPending: Number.MAX_SAFE_INTEGER });
  const store = pgBossStore(boss, queue, handling);
  let worker: Worker | undefined;
  /** A fetch that outlasts the time limit is not lost: the next look finds what it took, while the lease holds. */
  let fetching: { readonly jobs: Promise<BossJob[]>; readonly begun: number } | undefined;

  async function fetchJobs(limit: number): Promise<BossJob[]> {
    const now = performance.now();
    if (fetching === undefined || now - fetching.begun >= store.leaseMs) {
      fetching = { jobs: store.take(limit), begun: now };
    }
    const { jobs } = fetching;
    const forget = () => {
      if (fetching?.jobs === jobs) fetching = undefined;
    };
    jobs.catch(forget);
    const taken = await askForWorker(() => jobs);
    forget();
    return taken;
  }

  const source: WorkSource<TakenJob> = {
    async take(limit) {
      const jobs = await fetchJobs(limit);
      const taken: TakenJob[] = [];
      const dead: LeasedDelivery[] = [];
      async function sort(job: BossJob): Promise<void> {
        const one = toTaken(job);
        if (one === undefined) await askForWorker(() => store.refuse(job));
        else if (one.attempt <= handling.maxAttempts) taken.push(one);
        else {
          const attempts = one.attempt - 1;
          const buried = await askForWorker(() =>
            store.bury(one, { attempts, reason: describeError(leaseLost()) }),
          );
          if (buried) dead.push({ ...one, attempt: attempts });
        }
      }
      // What cannot be written down now is found again when its lease runs out; the others do not wait for it.
      await Promise.all(jobs.map((job) => sort(job).catch((error) => reportStore(error, handling))));
      return { taken, dead, pauseMs: jobs.length >= limit ? 0 : Number.POSITIVE_INFINITY };
    },
    settle: (taken, { outcome, attempt, error }) =>
      askForWorker(async () => {
        const reason = describeError(error);
        if (outcome === 'failed') return await store.postpone(taken, reason);
        if (outcome === 'dead') return await store.bury(taken, { attempts: attempt, reason });
        await store.complete(taken);
        return true;
      }),
    async release(left) {
      await Promise.all(left.map((taken) => askForWorker(() => store.postpone(taken, 'Cut off by a stop.'))));
    },
  };

  return durableInbox(
    {
      start(host) {
        worker = startWorker(source, { host, handling, pollMs, sleep: wait });
      },
      async store(delivery) {
        const result = await ask(() => store.insert(delivery));
        if (result === 'stored') worker?.wake();
        return result;
      },
      deadLetters: ({ limit }) => ask(() => store.deadLetters(limit)),
      async replay(digest) {
        const found = await ask(() => store.replay(digest));
        worker?.wake();
        return found;
      },
      discard: (digest) => ask(() => store.discard(digest)),
      counts: () => ask(() => store.counts()),
      async stop(timeoutMs) {
        const end = (await worker?.stop(timeoutMs)) ?? 'drained';
        // What a late fetch takes goes to another process.
        const left = fetching?.jobs.then((jobs) => source.release(jobs.flatMap((job) => toTaken(job) ?? [])));
        left?.catch((error: unknown) => reportStore(error, handling));
        return end;
      },
    },
    handling,
  );
}
