import { InboxError, isInboxError, isOrderError } from '../errors/errors.ts';
import { withDeadline } from '../internal/deadline.ts';
import { isNewerFormat } from '../store/stored-form.ts';
import { type Handling, ignoreAfterMs, reportStore } from './handling-options.ts';
import type { AttemptResult, Delivery, HandleResult, HandlingOutcome, InboxHost } from './inbox.ts';
import type { Marking } from './marking.ts';

/** Belongs to one worker until its lease ends. */
export interface LeasedDelivery {
  readonly delivery: Delivery;
  /** The number of this attempt, from 1. A lease that was lost while others ran does not count. */
  readonly attempt: number;
  readonly receivedAt: number;
}

/** It goes back for another process or another time, and that is no attempt. */
interface PutBack {
  readonly outcome: Extract<HandlingOutcome, 'put-back'>;
  readonly delayMs: number;
}

/** Never rejects: a handler that throws or takes too long is an outcome. */
export async function attemptDelivery(
  host: InboxHost,
  { delivery, attempt, receivedAt }: LeasedDelivery,
  options: Pick<Handling, 'maxAttempts' | 'timeLimitMs' | 'now' | 'onStoreError'> & {
    /** Milliseconds since the lease was asked for. */
    readonly elapsedMs: () => number;
    readonly signal?: AbortSignal | undefined;
    readonly marking?: Marking | undefined;
  },
): Promise<AttemptResult | PutBack> {
  // Read the clock here: the event loop may have been blocked, and the lease may be over.
  const { marking } = options;
  const leftMs = options.timeLimitMs - options.elapsedMs();
  if (leftMs <= 0) return { outcome: 'put-back', delayMs: 0 };
  // The clock may have gone back.
  const waitedMs = Math.max(0, options.now() - receivedAt);
  const begun = performance.now();
  const timings = () => ({ attempt, waitedMs, durationMs: performance.now() - begun });
  try {
    const result = await handleWithin(leftMs, options.signal, (signal) =>
      host.handle(delivery, { signal, attempt, mark: marking?.mark }),
    );
    if (marking?.isAsked && !(await marking.isThere())) {
      const message = 'The transaction in which a handler marked its delivery was not committed.';
      throw new InboxError('not_committed', message);
    }
    if (result === 'put-back' && waitedMs < ignoreAfterMs) {
      return putBack(waitedMs, ignoreAfterMs - waitedMs);
    }
    return { outcome: result === 'handled' ? 'handled' : 'ignored', ...timings() };
  } catch (error) {
    // Its effect is committed, whatever the handler threw after that.
    if (marking?.isAsked && (await marking.isThere().catch(() => false)))
      return { outcome: 'handled', error, ...timings() };
    // A process of that version handles it, or this one once it is updated.
    if (isNewerFormat(error)) {
      reportStore(error, options);
      return putBack(waitedMs, ignoreAfterMs);
    }
    // Another attempt ends in the same way.
    const isLast = attempt >= options.maxAttempts || isUnrecognizedError(error) || isMismatch(error);
    // A stop never makes a dead letter of what it interrupts.
    return { outcome: isLast && !options.signal?.aborted ? 'dead' : 'failed', error, ...timings() };
  }
}

/** Ever longer, so that a delivery is put back about fifteen times: often enough for another process to find it. */
function putBack(waitedMs: number, mostMs: number): PutBack {
  return { outcome: 'put-back', delayMs: Math.ceil(Math.min(Math.max(1_000, waitedMs / 2), mostMs)) };
}

/**
 * Starts a clock for a lease. The machine may sleep, which only the wall clock shows, and the wall clock may be set
 * forward, which ends leases too.
 */
export function startLeaseClock({ now }: Pick<Handling, 'now'>): () => number {
  const [monotonic, wall] = [performance.now(), now()];
  return () => Math.max(performance.now() - monotonic, now() - wall);
}

/** The event does not fit the order, so a person has to decide. */
function isMismatch(error: unknown): boolean {
  return isOrderError(error) && error.code === 'order_mismatch';
}

/** Whether the event cannot be read in this version. */
export function isUnrecognizedError(error: unknown): error is InboxError {
  return isInboxError(error) && error.code === 'event_unrecognized';
}

/** Runs a handler, which rejects with `handler_timeout` past the time limit. */
export function handleWithin(
  timeLimitMs: number,
  signal: AbortSignal | undefined,
  handle: (signal: AbortSignal) => Promise<HandleResult>,
): Promise<HandleResult> {
  const tooLate = () =>
    new InboxError(
      'handler_timeout',
      `A handler did not settle within ${Math.ceil(timeLimitMs)} ms: its delivery counts as failed.`,
    );
  return withDeadline({ ms: timeLimitMs, signal, tooLate }, handle);
}

/** Refuses what comes after a stop, and aborts what still runs then. */
export function inboxStopped(): InboxError {
  return new InboxError('inbox_stopped', 'The inbox was stopped.');
}

/** The error of a dead letter whose last attempt never reported back. */
export function leaseLost(): InboxError {
  return new InboxError(
    'lease_lost',
    'The process that handled it for the last time died, or lost its lease.',
  );
}
