import { InboxError } from '../../errors/inbox-error.ts';
import { describeError } from '../../redaction/describe-error.ts';
import { redactCommand } from '../../redaction/redact-command.ts';
import { backoffDelay } from '../../runtime/backoff.ts';
import { settledWithin } from '../../runtime/settled-within.ts';
import { attemptDelivery } from '../attempt.ts';
import type { Handling } from '../handling-options.ts';
import type { AttemptResult, InboxHost } from '../inbox.ts';
import { leaseLost } from '../lease-lost.ts';
import { findDelivery, readDelivery } from '../stored-delivery.ts';
import { reportStore } from '../worker.ts';
import type { BullJob, BullWorker, BullWorkerOptions } from './bullmq-types.ts';
import { attemptsOf } from './count-attempts.ts';

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

/** Has a BullMQ worker handle deliveries, and reports what BullMQ has written down of each attempt. */
export function startBullmqWorker(
  makeWorker: MakeWorker,
  { host, handling }: { readonly host: InboxHost; readonly handling: Handling },
): BullmqWorker {
  // BullMQ renews the lock of a process that lives: this is how soon a dead one is noticed.
  const lockMs = Math.min(longestLockMs, handling.timeLimitMs);
  const cutOff = new AbortController();
  /** Of the attempts that failed, by what was thrown at BullMQ. */
  const results = new WeakMap<Error, AttemptResult>();
  let worker: BullWorker | undefined;
  let stopping = false;

  async function process(job: BullJob): Promise<void> {
    const delivery = readDelivery(job.data);
    // Handled already by a process that died before it could say so.
    if (delivery === 'handled') return;
    const attempt = job.attemptsStarted;
    const lost: AttemptResult = { outcome: 'dead', attempt: attempt - 1, error: leaseLost() };
    if (attempt > handling.maxAttempts) throw failure(lost);
    const taken = { delivery, attempt, receivedAt: job.timestamp };
    const result = await attemptDelivery(host, taken, { ...handling, signal: cutOff.signal });
    if (result.outcome !== 'handled') throw failure(result);
    // The job is kept as the memory of its digest: without the body it needs little room.
    await job.updateData({ handled: true, name: delivery.name });
    host.report(delivery, result);
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
    if (stopping) return;
    worker = makeWorker(process, {
      concurrency: handling.concurrency,
      lockDuration: lockMs,
      stalledInterval: lockMs,
      // Counted by process: BullMQ would not forget those before a replay.
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
      stopping = true;
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
