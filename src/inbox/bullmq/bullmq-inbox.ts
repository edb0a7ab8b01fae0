import { randomUUID } from 'node:crypto';
import { callLimitRows, type StoreCallOptions } from '../../internal/limited-calls.ts';
import {
  callback,
  defineOptions,
  invalidOption,
  type OptionTable,
  optional,
} from '../../internal/options.ts';
import { isNewer, refuseNewer } from '../../internal/stored-version.ts';
import { checkMethods, durableInbox, limitStoreCalls } from '../durable-inbox.ts';
import { type HandlingOptions, handlingRows } from '../handling-options.ts';
import { type DeadLetter, type DeadLetterRead, type ManagedInbox, toDeadLetter } from '../inbox.ts';
import { reviewRegularly } from '../quarantine/inbox-quarantine.ts';
import { type QuarantineOptions, quarantineRows } from '../quarantine/quarantine.ts';
import { findDelivery, handledData, writeDelivery } from '../stored-delivery.ts';
import type { BullJob, BullQueue, BullWorker, BullWorkerOptions } from './bullmq-job.ts';
import { attemptsOf, reasonOf } from './bullmq-job.ts';
import { bullmqQuarantine } from './bullmq-quarantine.ts';
import { type BullmqWorker, startBullmqWorker } from './bullmq-worker.ts';

/** Options of {@link bullmqInbox}. */
export interface BullmqInboxOptions extends HandlingOptions, StoreCallOptions, QuarantineOptions {
  /** A queue used for nothing else. You close it. */
  queue: BullQueue;
  /**
   * Makes the worker of this process: `(name, processor, options) => new Worker(name, processor, { ...options,
   * connection })`. Not needed with `role: 'receiver'`. Stopping the inbox closes the worker.
   */
  createWorker?:
    | ((name: string, processor: (job: BullJob) => Promise<void>, options: BullWorkerOptions) => BullWorker)
    | undefined;
}

const readOptions = defineOptions('bullmqInbox', {
  ...handlingRows,
  ...callLimitRows({ maxPending: 1_000 }),
  ...quarantineRows,
  queue: (given) =>
    checkMethods<BullQueue>(given, {
      owner: 'bullmqInbox',
      what: 'a BullMQ queue',
      // The same range as in peerDependencies.
      versions: 'BullMQ 5.81.5 or later',
      methods: ['add', 'getDeduplicationJobId', 'getJob', 'getJobs', 'getJobCounts'],
    }),
  createWorker: optional(callback()),
} satisfies OptionTable<BullmqInboxOptions>);

/** The handling process counts attempts, so BullMQ itself must never give up. */
const never = 1_000_000_000;

/**
 * How long BullMQ knows the digest of a delivery that waits or is a dead letter. Without a time it would forget the
 * digest when the job completes or fails.
 */
const tenYearsMs = 10 * 365 * 24 * 60 * 60 * 1000;

/**
 * A durable inbox on your BullMQ queue. A delivery is a job whose deduplication id is its digest, so its repetitions are
 * duplicates. A handled job is deleted, and BullMQ remembers its deduplication id for `rememberMs`.
 *
 * Deliveries of a process that died are tried again alone, and a lost lock counts as an attempt only for a delivery
 * that ran alone. So a delivery that kills every process becomes a dead letter after `maxAttempts` too; the process
 * that finds it reports it.
 *
 * It is as durable as your Redis: use `appendonly yes` and `maxmemory-policy noeviction`, and `appendfsync always` if
 * no acknowledged event may be lost with the machine.
 *
 * @throws {ConfigurationError} `invalid_option`
 */
export function bullmqInbox(options: BullmqInboxOptions): ManagedInbox {
  const settings = readOptions(options);
  const { queue, createWorker, role, rememberMs } = settings;
  if (createWorker === undefined && role === 'both') {
    throw invalidOption("bullmqInbox needs createWorker, or role: 'receiver'.");
  }
  const call = limitStoreCalls(settings);
  let worker: BullmqWorker | undefined;
  let endReviews = () => {};

  const jobOptions = {
    attempts: never,
    backoff: { type: 'inbox' },
    removeOnComplete: true,
    removeOnFail: false,
    // The reason is kept; stack traces would grow with every attempt.
    stackTraceLimit: 0,
  };

  async function findDead(digest: string): Promise<BullJob | undefined> {
    const id = await queue.getDeduplicationJobId(digest);
    const job = id ? await queue.getJob(id) : undefined;
    return job !== undefined && (await job.isFailed()) ? job : undefined;
  }

  async function putBack(job: BullJob): Promise<void> {
    try {
      await job.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
    } catch (error) {
      // Another process has replayed it meanwhile.
      if (await job.isFailed()) throw error;
    }
  }

  /**
   * The id is in use, so BullMQ stores no job and only sets how long the id is known. If the id was evicted, it
   * stores a job that no handler gets.
   */
  async function remember(job: BullJob): Promise<void> {
    const id = job.deduplicationId;
    // Another program's job.
    if (id === undefined) return;
    const deduplication = { id, ttl: rememberMs, extend: true };
    await queue.add(job.name, handledData, { removeOnComplete: true, deduplication });
  }

  return durableInbox(
    {
      start(host) {
        const make = (processor: (job: BullJob) => Promise<void>, workerOptions: BullWorkerOptions) =>
          createWorker?.(queue.name, processor, workerOptions);
        worker = startBullmqWorker(make, { host, handling: settings, remember });
        endReviews = reviewRegularly(host);
      },
      async store(delivery) {
        const jobId = randomUUID();
        return await call(async () => {
          const deduplication = { id: delivery.digest, ttl: tenYearsMs };
          const job = await queue.add(delivery.name || 'unnamed', writeDelivery(delivery), {
            ...jobOptions,
            jobId,
            deduplication,
          });
          // For a duplicate BullMQ answers with the job that it has.
          return job.id === jobId ? 'stored' : 'duplicate';
        });
      },
      async deadLetters({ limit, withBody }) {
        const jobs = await call(() => queue.getJobs(['failed'], 0, limit - 1, true));
        const readable = jobs.filter((job) => !isNewer(job?.data));
        return readable.flatMap((job) => readDeadLetter(job, { withBody }) ?? []);
      },
      deadLetter: (digest, read) => call(async () => readDeadLetter(await findDead(digest), read)),
      replay: (digest) =>
        call(async () => {
          const job = await findDead(digest);
          if (job !== undefined) await putBack(job);
          return job !== undefined;
        }),
      discard: (digest) =>
        call(async () => {
          const job = await findDead(digest);
          if (job === undefined) return false;
          refuseNewer(job.data, 'The dead letter');
          // Ends like a handled job, so that its digest is remembered.
          await job.updateData(handledData);
          await putBack(job);
          return true;
        }),
      async counts() {
        const counts = await call(() =>
          queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized', 'failed'),
        );
        const { failed = 0, ...open } = counts;
        return { open: Object.values(open).reduce((sum, count) => sum + count, 0), dead: failed };
      },
      async oldestReceivedAt() {
        // The first of each: BullMQ would read whole jobs, with their bodies.
        const jobs = await call(() =>
          queue.getJobs(['waiting', 'active', 'delayed', 'prioritized'], 0, 0, true),
        );
        const received = jobs.flatMap((job) => job?.timestamp ?? []);
        return received.length === 0 ? undefined : Math.min(...received);
      },
      quarantine: bullmqQuarantine(queue, settings),
      async stop(timeoutMs) {
        endReviews();
        return (await worker?.stop(timeoutMs)) ?? 'drained';
      },
    },
    settings,
  );
}

/** `undefined` if the job holds no delivery. */
function readDeadLetter(job: BullJob | undefined, read: DeadLetterRead): DeadLetter | undefined {
  const delivery = findDelivery(job?.data);
  if (job === undefined || delivery === undefined) return undefined;
  const receivedAt = new Date(job.timestamp);
  return toDeadLetter(delivery, { attempts: attemptsOf(job), receivedAt, reason: reasonOf(job) }, read);
}
