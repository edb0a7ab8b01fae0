import { durableInbox } from '../durable-inbox.ts';
import { checkHandling, type HandlingOptions, invalid } from '../handling-options.ts';
import type { ManagedInbox } from '../managed-inbox.ts';
import { type StoreGateOptions, storeGate } from '../store-gate.ts';
import { findDelivery, writeDelivery } from '../stored-delivery.ts';
import type { BullJob, BullQueue, BullWorker, BullWorkerOptions } from './bullmq-types.ts';
import { type BullmqWorker, startBullmqWorker } from './bullmq-worker.ts';
import { attemptsOf } from './count-attempts.ts';

export interface BullmqInboxOptions extends HandlingOptions, StoreGateOptions {
  /** A queue for these deliveries alone. Closing it is yours. */
  queue: BullQueue;
  /**
   * Makes the worker of this process: `(name, processor, options) => new Worker(name, processor, { ...options,
   * connection })`. Not needed with `role: 'receiver'`. Stopping the inbox closes it.
   */
  createWorker?:
    | ((name: string, processor: (job: BullJob) => Promise<void>, options: BullWorkerOptions) => BullWorker)
    | undefined;
}

/** Attempts are counted by who handles, with its `maxAttempts`: BullMQ gives nothing up by itself. */
const never = 1_000_000_000;

/**
 * A durable inbox on a BullMQ queue of yours. A delivery is a job whose id is made of its digest: as long as the
 * job is kept, its repetitions are duplicates. A handled job is kept for `rememberMs`, without the body.
 *
 * An attempt that ends with its process counts: a delivery that kills whoever handles it becomes a dead letter after
 * `maxAttempts` too, and is reported as one by the process that finds it.
 *
 * As durable as your Redis: run it with `appendonly yes`, and `appendfsync always` where no acknowledged event may
 * be lost with the machine; and with `maxmemory-policy noeviction`.
 *
 * @throws {ConfigurationError} `invalid_option`
 */
export function bullmqInbox(options: BullmqInboxOptions): ManagedInbox {
  const handling = checkHandling(options);
  const { queue, createWorker } = options;
  if (typeof queue?.add !== 'function') throw invalid('bullmqInbox needs a BullMQ queue.');
  if (handling.role === 'both' && typeof createWorker !== 'function') {
    throw invalid("bullmqInbox needs createWorker, or role: 'receiver'.");
  }
  const ask = storeGate(options);
  let worker: BullmqWorker | undefined;

  const jobOptions = {
    attempts: never,
    backoff: { type: 'inbox' },
    removeOnComplete: { age: Math.ceil(handling.rememberMs / 1000) },
    removeOnFail: false,
    // The reason is kept; a stack for each attempt would only grow.
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
      // Somebody else did at the same time.
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
        return await ask(async () => {
          if ((await queue.getJobState(jobId)) !== 'unknown') return 'duplicate';
          // Of two that get here at the same time, Redis adds one.
          await queue.add(delivery.name || 'unnamed', writeDelivery(delivery), { ...jobOptions, jobId });
          return 'stored';
        });
      },
      async deadLetters({ limit }) {
        const jobs = await ask(() => queue.getJobs(['failed'], 0, limit - 1, true));
        return jobs.flatMap((job) => {
          const delivery = findDelivery(job?.data);
          if (job === undefined || delivery === undefined) return [];
          const { digest, name } = delivery;
          const receivedAt = new Date(job.timestamp);
          const reason = String(job.failedReason ?? '').slice(0, 500);
          return [{ digest, name, attempts: attemptsOf(job), receivedAt, reason }];
        });
      },
      replay: (digest) =>
        ask(async () => {
          const job = await findDead(digest);
          if (job !== undefined) await putBack(job);
          return job !== undefined;
        }),
      discard: (digest) =>
        ask(async () => {
          const job = await findDead(digest);
          if (job === undefined) return false;
          // Remembered as one that was handled.
          await job.updateData({ handled: true, name: job.name });
          await putBack(job);
          return true;
        }),
      async counts() {
        const counts = await ask(() =>
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

/** BullMQ takes no id of digits alone. */
function jobIdOf(digest: string): string {
  return `delivery-${digest}`;
}
