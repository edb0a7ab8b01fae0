import { randomUUID } from 'node:crypto';
import { checkNames, type OptionNames } from '../../options/check-names.ts';
import { checkFunction, invalidOption } from '../../options/check-values.ts';
import type { DeadLetterRead } from '../dead-letter-options.ts';
import { durableInbox } from '../durable-inbox.ts';
import { checkHandling, type HandlingOptions, handlingOptionNames } from '../handling-options.ts';
import type { DeadLetter, ManagedInbox } from '../managed-inbox.ts';
import { limitStoreCalls, type StoreCallOptions } from '../store-calls.ts';
import { findDelivery } from '../stored-delivery.ts';
import type { BullJob, BullQueue, BullWorker, BullWorkerOptions } from './bullmq-types.ts';
import { type BullmqWorker, startBullmqWorker } from './bullmq-worker.ts';
import { attemptsOf, handledJobData, isStoredBy, newJobData } from './job-data.ts';

export interface BullmqInboxOptions extends HandlingOptions, StoreCallOptions {
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

const names: OptionNames<BullmqInboxOptions> = {
  ...handlingOptionNames,
  storeTimeoutMs: true,
  maxPending: true,
  queue: true,
  createWorker: true,
};

const methods: readonly (keyof BullQueue)[] = ['add', 'getJob', 'getJobs', 'getJobCounts'];
/** The same range as in peerDependencies. */
const testedVersions = '5.81.5 or later';

/** The handling process counts attempts by its `maxAttempts`. BullMQ itself never gives up. */
const never = 1_000_000_000;

/**
 * A durable inbox on your BullMQ queue. A delivery is a job whose id comes from its digest: while the job is kept, its
 * repetitions are duplicates. A handled job is kept for `rememberMs`, without the body.
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
  checkNames('bullmqInbox', options, names);
  const handling = checkHandling(options);
  const queue = checkQueue(options.queue);
  const { createWorker } = options;
  if (createWorker !== undefined) checkFunction('createWorker', createWorker);
  else if (handling.role === 'both')
    throw invalidOption("bullmqInbox needs createWorker, or role: 'receiver'.");
  const call = limitStoreCalls(options);
  let worker: BullmqWorker | undefined;

  const jobOptions = {
    attempts: never,
    backoff: { type: 'inbox' },
    removeOnComplete: { age: Math.ceil(handling.rememberMs / 1000) },
    removeOnFail: false,
    // The reason is kept; stack traces would grow with every attempt.
    stackTraceLimit: 0,
  };

  /** A failed job of this digest. */
  async function findDead(digest: string): Promise<BullJob | undefined> {
    const job = await queue.getJob(jobIdOf(digest));
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

  return durableInbox(
    {
      start(host) {
        const make = (processor: (job: BullJob) => Promise<void>, workerOptions: BullWorkerOptions) =>
          createWorker?.(queue.name, processor, workerOptions);
        worker = startBullmqWorker(make, { host, handling });
      },
      async store(delivery) {
        const jobId = jobIdOf(delivery.digest);
        const storedBy = randomUUID();
        return await call(async () => {
          const data = newJobData(delivery, storedBy);
          const added = queue.add(delivery.name || 'unnamed', data, { ...jobOptions, jobId });
          // Sent right behind it, and not once that is answered: one wait for Redis instead of two.
          const [found] = await Promise.all([queue.getJob(jobId), added]);
          // BullMQ promises no order, so what was not there yet is looked for again.
          const job = found ?? (await queue.getJob(jobId));
          if (job === undefined) throw new Error('BullMQ did not keep the job: does Redis evict keys?');
          return isStoredBy(storedBy, job) ? 'stored' : 'duplicate';
        });
      },
      async deadLetters({ limit, withBody }) {
        const jobs = await call(() => queue.getJobs(['failed'], 0, limit - 1, true));
        return jobs.flatMap((job) => toDeadLetter(job, { withBody }) ?? []);
      },
      deadLetter: (digest, read) => call(async () => toDeadLetter(await findDead(digest), read)),
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
          // Keep it like a handled job, so that it is still a duplicate.
          await job.updateData(handledJobData(job));
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
      stop: async (timeoutMs) => (await worker?.stop(timeoutMs)) ?? 'drained',
    },
    handling,
  );
}

/** `undefined` if the job holds no delivery. */
function toDeadLetter(job: BullJob | undefined, { withBody }: DeadLetterRead): DeadLetter | undefined {
  const delivery = findDelivery(job?.data);
  if (job === undefined || delivery === undefined) return undefined;
  const { digest, name, body } = delivery;
  const receivedAt = new Date(job.timestamp);
  const reason = String(job.failedReason ?? '').slice(0, 500);
  return { digest, name, attempts: attemptsOf(job), receivedAt, reason, ...(withBody && { body }) };
}

/** BullMQ refuses an id of digits only. */
function jobIdOf(digest: string): string {
  return `delivery-${digest}`;
}

function checkQueue(queue: BullQueue): BullQueue {
  if (typeof queue?.add !== 'function') throw invalidOption('bullmqInbox needs a BullMQ queue.');
  const missing = methods.find((method) => typeof queue[method] !== 'function');
  if (missing === undefined) return queue;
  throw invalidOption(`bullmqInbox needs BullMQ ${testedVersions}: the queue given has no ${missing}().`);
}
