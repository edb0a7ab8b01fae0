import type { Delivery, HandledFate, InboxHost } from './inbox.ts';
import { withTimeLimit } from '../runtime/time-limit.ts';

/** A delivery that a worker has taken from its store. */
export interface Taken {
  readonly delivery: Delivery;
  /** Counting this one, from 1. */
  readonly attempt: number;
  readonly receivedAt: number;
  /** Milliseconds that its lease leaves for handling it, where that may be less than the time limit. */
  readonly timeLimitMs?: number | undefined;
}

/**
 * One attempt to handle a stored delivery. Never rejects: what a handler throws, and a handler that does not settle
 * in time, is a fate.
 */
export async function attemptDelivery(
  host: InboxHost,
  { delivery, attempt, receivedAt, timeLimitMs = Number.POSITIVE_INFINITY }: Taken,
  options: {
    readonly maxAttempts: number;
    readonly timeLimitMs: number;
    readonly now: () => number;
    /** Cuts the attempt off. */
    readonly signal?: AbortSignal | undefined;
  },
): Promise<HandledFate> {
  // Not less than nothing, where the clock went back.
  const waitedMs = Math.max(0, options.now() - receivedAt);
  const begun = performance.now();
  const timings = () => ({ attempt, waitedMs, durationMs: performance.now() - begun });
  try {
    const work = (handleOptions: { readonly signal: AbortSignal }) => host.handle(delivery, handleOptions);
    await withTimeLimit(work, Math.min(timeLimitMs, options.timeLimitMs), options.signal);
    return { fate: 'handled', ...timings() };
  } catch (error) {
    return { fate: attempt >= options.maxAttempts ? 'dead' : 'failed', error, ...timings() };
  }
}
