import { backoffDelay, sleep } from '../../internal/backoff.ts';
import { settledWithin } from '../../internal/deadline.ts';
import { describeError, driverError } from '../../internal/driver-error.ts';
import { isNewer, newerFormat } from '../../internal/stored-version.ts';
import { attemptDelivery, handlerStopped, leaseLost, startLeaseClock } from '../handling-attempt.ts';
import { type Handling, reportStore } from '../handling-options.ts';
import type { AttemptResult, Delivery, InboxHost } from '../inbox.ts';
import { findDelivery, newerAgainMs, readDelivery } from '../stored-delivery.ts';
import type { BullJob, BullWorker, BullWorkerOptions } from './bullmq-job.ts';
import { attemptsOf, deadJobData, isolatedJobData, readIsolationRecord } from './bullmq-job.ts';

export type BullmqWorker = ReturnType<typeof startBullmqWorker>;

interface BullmqHandling {
  readonly host: InboxHost;
  readonly handling: Handling;
  /** Has the digest of a completed job remembered for `rememberMs` from now on. */
  remember(job: BullJob): Promise<void>;
}

type MakeWorker = (
  processor: (job: BullJob) => Promise<void>,
  options: BullWorkerOptions,
) => BullWorker | undefined;

const longestLockMs = 30_000;
const closeMs = 1_000;
/** Milliseconds between two looks for a first handler. */
const handlerPollMs = 100;

/**
 * Handles deliveries with a BullMQ worker, and reports what BullMQ has stored of each attempt.
 *
 * BullMQ fetches jobs by itself, so a job that lost its lock is recognised when it is processed. It waits until the
 * others have ended, while the worker fetches nothing and BullMQ renews the lock; then it runs alone.
 */
export function startBullmqWorker(makeWorker: MakeWorker, { host, handling, remember }: BullmqHandling) {
  // How soon a dead process is noticed: BullMQ renews the locks of a living one.
  const lockMs = Math.min(longestLockMs, handling.timeLimitMs);
  const cutOff = new AbortController();
  const stopping = Promise.withResolvers<void>();
  /** The results of failed attempts, by the error that BullMQ was given. */
  const results = new WeakMap<Error, AttemptResult>();
  const running = new Set<Promise<void>>();
  const remembering = new Set<Promise<void>>();
  let worker: BullWorker | undefined;
  let workerErrorAt = Number.NEGATIVE_INFINITY;
  let isStopping = false;
  /** A delivery runs alone, or is waiting to. */
  let isIsolating = false;

  async function process(job: BullJob): Promise<void> {
    const delivery = isNewer(job.data) ? await leaveToNewer(job) : readDelivery(job.data);
    // It was discarded.
    if (delivery === 'handled') return;
    // It was fetched before the worker was paused.
    if (isIsolating) return await giveBack(job);
    if (job.stalledCounter > 0) return await processIsolated(job, delivery);
    const attempt = handle(job, delivery, job.attemptsMade + 1);
    running.add(attempt);
    try {
      await attempt;
    } finally {
      running.delete(attempt);
    }
  }

  /** A process of the version that stored it may fetch it next. Not an attempt. */
  async function leaveToNewer(job: BullJob): Promise<never> {
    reportStore(newerFormat('A stored delivery'), handling);
    await job.moveToDelayed(Date.now() + newerAgainMs, job.token ?? '');
    throw notFinished('DelayedError');
  }

  /** A delivery that lost its lock may have killed the process, so nothing runs beside it. */
  async function processIsolated(job: BullJob, delivery: Delivery): Promise<void> {
    isIsolating = true;
    const resumeFetching = pauseFetching();
    try {
      await Promise.race([Promise.allSettled(running), stopping.promise]);
      if (isStopping) return await giveBack(job);
      await handleIsolated(job, delivery);
    } finally {
      isIsolating = false;
      resumeFetching();
    }
  }

  async function handleIsolated(job: BullJob, delivery: Delivery): Promise<void> {
    const record = readIsolationRecord(job);
    if (record !== undefined && !record.dead && record.attempt >= handling.maxAttempts) {
      const { attempt } = record;
      await job.updateData(isolatedJobData(job, { attempt, dead: true }));
      return await fail(job, { outcome: 'dead', attempt, error: leaseLost() });
    }
    // Another worker may have got it during the wait.
    if ((await job.extendLock(job.token ?? '', lockMs)) !== 1) throw notFinished();
    const before = record === undefined ? job.attemptsMade : record.dead ? 0 : record.attempt;
    // Stored before the handler starts: if the lock is lost from now on, that was an attempt.
    await job.updateData(isolatedJobData(job, { attempt: before + 1, dead: false }));
    try {
      await handle(job, delivery, before + 1);
    } catch (error) {
      const isDead = error instanceof Error && results.get(error)?.outcome === 'dead';
      if (isDead) await job.updateData(isolatedJobData(job, { attempt: before + 1, dead: true }));
      throw error;
    }
  }

  async function handle(job: BullJob, delivery: Delivery, attempt: number): Promise<void> {
    const leased = { delivery, attempt, receivedAt: job.timestamp };
    // BullMQ renews the lock while this process runs.
    const elapsedMs = startLeaseClock(handling);
    const result = await attemptDelivery(host, leased, { ...handling, elapsedMs, signal: cutOff.signal });
    switch (result.outcome) {
      case 'failed':
      case 'dead':
        return await fail(job, result);
      case 'put-back':
        await job.moveToDelayed(Date.now() + result.delayMs, job.token ?? '');
        throw notFinished('DelayedError');
      case 'handled':
      case 'ignored':
        host.report(delivery, result);
    }
  }

  /** The worker then has only the job that it may run. */
  function pauseFetching(): () => void {
    if (worker === undefined) return () => {};
    const held = worker;
    const { concurrency } = held;
    held.concurrency = 1;
    return () => {
      held.concurrency = concurrency;
    };
  }

  /** To the front of the queue; not an attempt. */
  async function giveBack(job: BullJob): Promise<never> {
    await job.moveToWait(job.token ?? '');
    throw notFinished();
  }

  /** A new error: BullMQ stores its text, and a handler may throw anything. */
  async function fail(job: BullJob, result: AttemptResult): Promise<never> {
    const reason = describeError(result.error);
    const isDead = result.outcome === 'dead';
    if (isDead) await job.updateData(deadJobData(job, reason));
    const error = new Error(isDead ? 'It is a dead letter: its data has the reason.' : reason);
    // This name tells BullMQ not to retry.
    if (isDead) error.name = 'UnrecoverableError';
    results.set(error, result);
    throw error;
  }

  /**
   * Called once Redis has completed the job: until then it may fail, and its digest has to be known while it waits.
   * If the process dies in between, the digest is known for longer than `rememberMs`.
   */
  function rememberCompleted(job: BullJob): void {
    const remembered = remember(job)
      .catch((error: unknown) => reportStore(error, handling))
      .finally(() => remembering.delete(remembered));
    remembering.add(remembered);
  }

  /** BullMQ retries without a pause, such as while Redis is full: one report a second is enough. */
  function reportWorkerError(error: Error): void {
    const at = performance.now();
    if (at - workerErrorAt < 1_000) return;
    workerErrorAt = at;
    reportStore(error, handling);
  }

  /** Redis has stored the failure, final or not. */
  function reportFailed(job: BullJob | undefined, error: Error): void {
    const delivery = isNewer(job?.data) ? undefined : findDelivery(job?.data);
    if (job === undefined || delivery === undefined) return;
    const result = results.get(error) ?? { attempt: attemptsOf(job), error: driverError(error) };
    host.report(delivery, { ...result, outcome: job.finishedOn ? 'dead' : 'failed' });
  }

  /** A worker of BullMQ fetches at once, so there is none before the first handler. */
  async function start(): Promise<void> {
    await sleep(0);
    while (!host.hasHandlers && !isStopping) await Promise.race([sleep(handlerPollMs), stopping.promise]);
    if (isStopping) return;
    worker = makeWorker(process, {
      concurrency: handling.concurrency,
      lockDuration: lockMs,
      stalledInterval: lockMs,
      // Lost locks are counted here, and only those of deliveries that ran alone.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      settings: {
        backoffStrategy: (attemptsMade) => backoffDelay(attemptsMade, handling.retry, handling.random),
      },
    });
    worker?.on('error', reportWorkerError);
    worker?.on('completed', rememberCompleted);
    worker?.on('failed', reportFailed);
  }

  start().catch((error: unknown) => reportStore(error, handling));

  return {
    /** Resolves when all handlers have ended or, past the time, were aborted. */
    async stop(timeoutMs: number): Promise<'drained' | 'cut-off'> {
      isStopping = true;
      stopping.resolve();
      if (worker === undefined) return 'drained';
      const closed = closeWorker(worker, timeoutMs).then(() => Promise.all(remembering));
      closed.catch((error: unknown) => reportStore(error, handling));
      if (await settledWithin([closed], timeoutMs)) return 'drained';
      cutOff.abort(handlerStopped());
      // Aborted jobs are put back if Redis answers; otherwise their locks expire. BullMQ would wait for Redis, so it
      // is disconnected.
      if (!(await settledWithin([closed], closeMs))) await settledWithin([worker.disconnect()], closeMs);
      return 'cut-off';
    },
  };
}

/** BullMQ 5 leaves an unhandled rejection if it is closed while it connects, and that ends the process. */
async function closeWorker(worker: BullWorker, timeoutMs: number): Promise<void> {
  await settledWithin([worker.waitUntilReady()], Math.min(timeoutMs, closeMs));
  await worker.close();
}

/** The name tells BullMQ that the worker no longer has the job. */
function notFinished(name: 'WaitingError' | 'DelayedError' = 'WaitingError'): Error {
  return Object.assign(new Error('It is tried later.'), { name });
}
