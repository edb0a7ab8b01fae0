import { InboxError } from '../../errors/inbox-error.ts';
import { describeError } from '../../redaction/describe-error.ts';
import { redactCommand } from '../../redaction/redact-command.ts';
import { backoffDelay } from '../../runtime/backoff.ts';
import { settledWithin } from '../../runtime/settled-within.ts';
import { attemptDelivery } from '../attempt.ts';
import type { Handling } from '../handling-options.ts';
import type { AttemptResult, Delivery, InboxHost } from '../inbox.ts';
import { leaseLost } from '../lease-lost.ts';
import { findDelivery, readDelivery } from '../stored-delivery.ts';
import { reportStore } from '../worker.ts';
import type { BullJob, BullWorker, BullWorkerOptions } from './bullmq-types.ts';
import { aloneJobData, attemptsOf, handledJobData, readAloneRecord } from './job-data.ts';

export interface BullmqWorker {
  /** Resolves when nothing is handled any more, or the time is over and the rest was cut off. */
  stop(timeoutMs: number): Promise<'drained' | 'cut-off'>;
}

type MakeWorker = (
  processor: (job: BullJob) => Promise<void>,
  options: BullWorkerOptions,
) => BullWorker | undefined;

const longestLockMs = 30_000;
const closeMs = 1_000;

/**
 * Has a BullMQ worker handle deliveries, and reports what BullMQ has written down of each attempt.
 *
 * BullMQ fetches jobs by itself, so what lost its lock is told from the rest here, where it is processed: it waits
 * until the others have ended, while the worker fetches nothing and BullMQ renews the lock, and then runs alone.
 */
export function startBullmqWorker(
  makeWorker: MakeWorker,
  { host, handling }: { readonly host: InboxHost; readonly handling: Handling },
): BullmqWorker {
  // BullMQ renews the lock of a process that lives: this is how soon a dead one is noticed.
  const lockMs = Math.min(longestLockMs, handling.timeLimitMs);
  const cutOff = new AbortController();
  const stopping = Promise.withResolvers<void>();
  /** Of the attempts that failed, by what was thrown at BullMQ. */
  const results = new WeakMap<Error, AttemptResult>();
  const running = new Set<Promise<void>>();
  let worker: BullWorker | undefined;
  let isStopping = false;
  /** One runs alone, or waits for that. */
  let isAlone = false;

  async function process(job: BullJob): Promise<void> {
    const delivery = readDelivery(job.data);
    // Handled already by a process that died before it could say so.
    if (delivery === 'handled') return;
    // Fetched before the worker was held back.
    if (isAlone) return await giveBack(job);
    if (job.stalledCounter > 0) return await processAlone(job, delivery);
    const attempt = handle(job, delivery, job.attemptsMade + 1);
    running.add(attempt);
    try {
      await attempt;
    } finally {
      running.delete(attempt);
    }
  }

  /** Of a delivery that lost its lock. Nobody knows who killed the process, so nothing runs beside it. */
  async function processAlone(job: BullJob, delivery: Delivery): Promise<void> {
    isAlone = true;
    const letOthersIn = holdBack();
    try {
      await Promise.race([Promise.allSettled(running), stopping.promise]);
      if (isStopping) return await giveBack(job);
      await handleAlone(job, delivery);
    } finally {
      isAlone = false;
      letOthersIn();
    }
  }

  async function handleAlone(job: BullJob, delivery: Delivery): Promise<void> {
    const record = readAloneRecord(job);
    if (record !== undefined && !record.dead && record.attempt >= handling.maxAttempts) {
      const { attempt } = record;
      await job.updateData(aloneJobData(job, { attempt, dead: true }));
      throw failure({ outcome: 'dead', attempt, error: leaseLost() });
    }
    // While it waited, another worker may have got it.
    if ((await job.extendLock(job.token ?? '', lockMs)) !== 1) throw notFinished();
    const before = record === undefined ? job.attemptsMade : record.dead ? 0 : record.attempt;
    // Written down before it begins: a lock that is lost from now on is an attempt.
    await job.updateData(aloneJobData(job, { attempt: before + 1, dead: false }));
    try {
      await handle(job, delivery, before + 1);
    } catch (error) {
      const isDead = error instanceof Error && results.get(error)?.outcome === 'dead';
      if (isDead) await job.updateData(aloneJobData(job, { attempt: before + 1, dead: true }));
      throw error;
    }
  }

  async function handle(job: BullJob, delivery: Delivery, attempt: number): Promise<void> {
    const leased = { delivery, attempt, receivedAt: job.timestamp };
    const result = await attemptDelivery(host, leased, { ...handling, signal: cutOff.signal });
    if (result.outcome !== 'handled') throw failure(result);
    await job.updateData(handledJobData(job));
    host.report(delivery, result);
  }

  /** Has the worker fetch nothing until the one that has its only place ends. */
  function holdBack(): () => void {
    if (worker === undefined) return () => {};
    const held = worker;
    const { concurrency } = held;
    held.concurrency = 1;
    return () => {
      held.concurrency = concurrency;
    };
  }

  /** To the front of the queue, without an attempt. */
  async function giveBack(job: BullJob): Promise<never> {
    await job.moveToWait(job.token ?? '');
    throw notFinished();
  }

  /** A new one: BullMQ keeps the text, and a handler may throw anything. */
  function failure(result: AttemptResult): Error {
    const error = new Error(describeError(result.error));
    // BullMQ tries this one no more.
    if (result.outcome === 'dead') error.name = 'UnrecoverableError';
    results.set(error, result);
    return error;
  }

  /** Redis has it now: as failed for good, or to be tried again. */
  function reportFailed(job: BullJob | undefined, error: Error): void {
    const delivery = findDelivery(job?.data);
    if (job === undefined || delivery === undefined) return;
    const result = results.get(error) ?? { attempt: attemptsOf(job), error: redactCommand(error) };
    host.report(delivery, { ...result, outcome: job.finishedOn ? 'dead' : 'failed' });
  }

  // A worker starts at once, and handlers are registered after createWebhooks has returned.
  setTimeout(() => {
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
    worker?.on('error', (error) => reportStore(error, handling));
    worker?.on('failed', reportFailed);
  }, 0);

  return {
    async stop(timeoutMs) {
      isStopping = true;
      stopping.resolve();
      if (worker === undefined) return 'drained';
      const closed = worker.close();
      closed.catch((error: unknown) => reportStore(error, handling));
      if (await settledWithin([closed], timeoutMs)) return 'drained';
      cutOff.abort(new InboxError('inbox_stopped', 'The inbox was stopped while the handler was running.'));
      // What was cut off is put back, if Redis is there for it. Otherwise its lock runs out, and BullMQ, which would
      // wait for Redis, is cut off too.
      if (!(await settledWithin([closed], closeMs))) await settledWithin([worker.disconnect()], closeMs);
      return 'cut-off';
    },
  };
}

/** BullMQ knows by the name that the job is not with this worker any more. */
function notFinished(): Error {
  return Object.assign(new Error('It is tried later.'), { name: 'WaitingError' });
}
