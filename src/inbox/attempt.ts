import { InboxError } from '../errors/errors.ts';
import { withDeadline } from '../internal/deadline.ts';
import type { AttemptResult, Delivery, InboxHost } from './inbox.ts';

/** Belongs to one worker until its lease ends. */
export interface LeasedDelivery {
  readonly delivery: Delivery;
  /** The number of this attempt, from 1. A lease that was lost while others ran does not count. */
  readonly attempt: number;
  readonly receivedAt: number;
  /** Milliseconds that the lease leaves for the handler, if that may be less than the time limit. */
  readonly timeLimitMs?: number | undefined;
}

/** Never rejects: a handler that throws or takes too long is an outcome. */
export async function attemptDelivery(
  host: InboxHost,
  { delivery, attempt, receivedAt, timeLimitMs = Number.POSITIVE_INFINITY }: LeasedDelivery,
  options: {
    readonly maxAttempts: number;
    readonly timeLimitMs: number;
    readonly now: () => number;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<AttemptResult> {
  // The clock may have gone back.
  const waitedMs = Math.max(0, options.now() - receivedAt);
  const begun = performance.now();
  const timings = () => ({ attempt, waitedMs, durationMs: performance.now() - begun });
  try {
    await handleWithin(Math.min(timeLimitMs, options.timeLimitMs), options.signal, (signal) =>
      host.handle(delivery, { signal, attempt }),
    );
    return { outcome: 'handled', ...timings() };
  } catch (error) {
    // A stop never makes a dead letter of what it interrupts.
    const isLast = attempt >= options.maxAttempts && options.signal?.aborted !== true;
    return { outcome: isLast ? 'dead' : 'failed', error, ...timings() };
  }
}

/** Runs a handler, which rejects with `handler_timeout` past the time limit. */
export function handleWithin(
  timeLimitMs: number,
  signal: AbortSignal | undefined,
  handle: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const tooLate = () =>
    new InboxError(
      'handler_timeout',
      `A handler did not settle within ${timeLimitMs} ms: its delivery counts as failed.`,
    );
  return withDeadline({ ms: timeLimitMs, signal, tooLate }, handle);
}

export function inboxStopped(): InboxError {
  return new InboxError('inbox_stopped', 'The inbox was stopped.');
}

/** Why a stop aborts a handler. */
export function handlerStopped(): InboxError {
  return new InboxError('inbox_stopped', 'The inbox was stopped while the handler was running.');
}

/** Of a dead letter whose last attempt never reported its end. */
export function leaseLost(): InboxError {
  return new InboxError(
    'lease_lost',
    'The process that handled it for the last time died, or lost its lease.',
  );
}
