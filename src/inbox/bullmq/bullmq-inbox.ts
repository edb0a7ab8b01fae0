import { InboxError } from '../../errors/inbox-error.ts';
import type { Delivery, InboxHost } from '../../webhooks/inbox.ts';
import { longestTimerMs } from '../../webhooks/time-limit.ts';
import { attemptDelivery } from '../attempt.ts';
import { describeError } from '../describe-error.ts';
import { checkHandling, type HandlingOptions, invalid, wholeNumber } from '../handling-options.ts';
import type { ManagedInbox } from '../managed-inbox.ts';
import { retryDelay } from '../retry-delay.ts';
import { settledWithin } from '../settled-within.ts';
import { storeGate } from '../store-gate.ts';
import { readDelivery, writeDelivery } from '../stored-delivery.ts';
import { reportStore } from '../worker.ts';
import type { BullJob, BullQueue, BullWorker, BullWorkerOptions } from './bullmq-types.ts';

export interface BullmqInboxOptions extends HandlingOptions {
  /** A queue for these deliveries alone. Closing it is yours. */
  queue: BullQueue;
  /**
   * Makes the worker of this process: `(name, processor, options) => new Worker(name, processor, { ...options,
   * connection })`. Not needed with `handles: 'elsewhere'`. Stopping the inbox closes it.
   */
  createWorker?:
    | ((name: string, processor: (job: BullJob) => Promise<void>, options: BullWorkerOptions) => BullWorker)
    | undefined;
  /** Milliseconds to wait for Redis before a delivery is answered 503. @default 5000 */
  storeTimeoutMs?: number | undefined;
  /** How many deliveries may wait for Redis before further ones are answered 503 at once. @default 1000 */
  maxPending?: number | undefined;
}

const defaults = Object.freeze({
  storeTimeoutMs: 5_000,
  maxPending: 1_000,
  stopTimeoutMs: 10_000,
  lockMs: 30_000,
});

/**
 * A durable inbox on a BullMQ queue of yours. A delivery is a job whose id is made of its digest: as long as the
 * job is kept, its repetitions are duplicates. A handled job is kept for `rememberMs`, without the body.
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
  const { handles, maxAttempts, timeLimitMs, rememberMs } = handling;
  if (handles === 'here' && typeof createWorker !== 'function') {
    throw invalid("bullmqInbox needs createWorker, or handles: 'elsewhere'.");
  }
  const timeoutMs = wholeNumber(
    'storeTimeoutMs',
    options.storeTimeoutMs ?? defaults.storeTimeoutMs,
    longestTimerMs,
  );
  const ask = storeGate({
    timeoutMs,
    maxPending: wholeNumber('maxPending', options.maxPending ?? defaults.maxPending),
  });
  // BullMQ renews the lock of a process that lives: this is how soon a dead one is noticed.
  const lockMs = Math.min(defaults.lockMs, timeLimitMs);
  const workerOptions: BullWorkerOptions = {
    concurrency: handling.concurrency,
    lockDuration: lockMs,
    stalledInterval: lockMs,
    // A process may die with many deliveries in hand: that is no reason to give them up.
    maxStalledCount: maxAttempts - 1,
    settings: { backoffStrategy: (attemptsMade) => retryDelay(attemptsMade, handling) },
  };
  const cutOff = new AbortController();
  let host: InboxHost | undefined;
  let worker: BullWorker | undefined;
  let stopping: Promise<'drained' | 'cut-off'> | undefined;

  async function process(attached: InboxHost, job: BullJob): Promise<void> {
    const delivery = readDelivery(job.data);
    // Handled already by a process that died before it could say so.
    if (delivery === 'handled') return;
    const taken = { delivery, attempt: job.attemptsMade + 1, receivedAt: job.timestamp };
    const fate = await attemptDelivery(attached, taken, { ...handling, signal: cutOff.signal });
    if (fate.fate === 'handled') {
      // The job is kept as the memory of its digest: without the body it needs little room.
      await job.updateData({ handled: true, name: delivery.name });
      attached.report(delivery, fate);
      return;
    }
    attached.report(delivery, fate);
    // A new one: BullMQ keeps the stack, and a handler may throw anything.
    const failure = new Error(describeError(fate.error));
    failure.stack = failure.message;
    throw failure;
  }

  async function stop(stopTimeoutMs: number): Promise<'drained' | 'cut-off'> {
    if (worker === undefined) return 'drained';
    const closed = worker.close();
    closed.catch((error: unknown) => reportStore(error, handling));
    if (await settledWithin([closed], stopTimeoutMs)) return 'drained';
    cutOff.abort(new InboxError('inbox_stopped', 'The inbox was stopped while the handler was running.'));
    // What was cut off is put back, if Redis is there for it; otherwise its lock runs out.
    if (!(await settledWithin([closed], 1_000))) await worker.close(true).catch(() => {});
    return 'cut-off';
  }

  const jobOptions = {
    attempts: maxAttempts,
    backoff: { type: 'inbox' },
    removeOnComplete: { age: Math.ceil(rememberMs / 1000) },
    removeOnFail: false,
  };

  /** A failed job of this digest. */
  async function findDead(digest: string): Promise<BullJob | undefined> {
    const job = await queue.getJob(jobIdOf(digest));
    return job !== undefined && (await job.isFailed()) ? job : undefined;
  }

  return {
    handles,
    attach(given) {
      if (host !== undefined) throw invalid('An inbox belongs to one createWebhooks: make another one.');
      host = given;
      if (handles === 'elsewhere') return;
      // A worker starts at once, and handlers are registered after createWebhooks has returned.
      setTimeout(() => {
        if (stopping !== undefined) return;
        worker = createWorker?.(queue.name, (job) => process(given, job), workerOptions);
        worker?.on('error', (error) => reportStore(error, handling));
      }, 0);
    },
    async receive(delivery: Delivery) {
      if (stopping !== undefined) throw new InboxError('inbox_stopped', 'The inbox was stopped.');
      const jobId = jobIdOf(delivery.digest);
      return await ask(async () => {
        if ((await queue.getJobState(jobId)) !== 'unknown') return 'duplicate';
        // Of two that get here at the same time, Redis adds one.
        await queue.add(delivery.name || 'unnamed', writeDelivery(delivery), { ...jobOptions, jobId });
        return 'stored';
      });
    },
    async deadLetters({ limit = 100 } = {}) {
      const jobs = await ask(() => queue.getJobs(['failed'], 0, limit - 1, true));
      return jobs.flatMap((job) => {
        const delivery = job === undefined ? 'handled' : readDelivery(job.data);
        if (job === undefined || delivery === 'handled') return [];
        const { digest, name } = delivery;
        const receivedAt = new Date(job.timestamp);
        return [
          { digest, name, attempts: job.attemptsMade, receivedAt, reason: job.failedReason.slice(0, 500) },
        ];
      });
    },
    replay: (digest) =>
      ask(async () => {
        const job = await findDead(digest);
        await job?.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
        return job !== undefined;
      }),
    discard: (digest) =>
      ask(async () => {
        const job = await findDead(digest);
        if (job === undefined) return false;
        // Remembered as one that was handled.
        await job.updateData({ handled: true, name: job.name });
        await job.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
        return true;
      }),
    async counts() {
      const counts = await ask(() =>
        queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized', 'failed'),
      );
      const { failed = 0, ...open } = counts;
      return { open: Object.values(open).reduce((sum, count) => sum + count, 0), dead: failed };
    },
    stop({ timeoutMs: stopTimeoutMs = defaults.stopTimeoutMs } = {}) {
      stopping ??= stop(stopTimeoutMs);
      return stopping;
    },
  };
}

/** BullMQ takes no id of digits alone. */
function jobIdOf(digest: string): string {
  return `delivery-${digest}`;
}
