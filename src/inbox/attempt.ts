import { withTimeLimit } from '../runtime/time-limit.ts';
import type { AttemptResult, Delivery, InboxHost } from './inbox.ts';

/** A delivery that belongs to a worker until its lease ends. */
export interface LeasedDelivery {
  readonly delivery: Delivery;
  /** Counting this one, from 1; without lost leases among others, after which it is tried again alone. */
  readonly attempt: number;
  readonly receivedAt: number;
  /** Milliseconds that its lease leaves for handling it, where that may be less than the time limit. */
  readonly timeLimitMs?: number | undefined;
}

/**
 * One attempt to handle a stored delivery. Never rejects: what a handler throws, and a handler that does not settle
 * in time, is an outcome.
 */
export async function attemptDelivery(
  host: InboxHost,
  { delivery, attempt, receivedAt, timeLimitMs = Number.POSITIVE_INFINITY }: LeasedDelivery,
  options: {
    readonly maxAttempts: number;
    readonly timeLimitMs: number;
    readonly now: () => number;
    /** Cuts the attempt off. */
    readonly signal?: AbortSignal | undefined;
  },
): Promise<AttemptResult> {
  // Not less than nothing, where the clock went back.
  const waitedMs = Math.max(0, options.now() - receivedAt);
  const begun = performance.now();
  const timings = () => ({ attempt, waitedMs, durationMs: performance.now() - begun });
  try {
    const work = (handleOptions: { readonly signal: AbortSignal }) => host.handle(delivery, handleOptions);
    await withTimeLimit(work, Math.min(timeLimitMs, options.timeLimitMs), options.signal);
    return { outcome: 'handled', ...timings() };
  } catch (error) {
    // A stop cuts off what it finds: that makes no dead letter.
    const isLast = attempt >= options.maxAttempts && options.signal?.aborted !== true;
    return { outcome: isLast ? 'dead' : 'failed', error, ...timings() };
  }
}
