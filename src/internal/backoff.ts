import { longestTimerMs } from './deadline.ts';
import type { RandomBytes } from './options.ts';

/** How long to wait between attempts. */
export interface RetryDelays {
  /** Milliseconds before the second attempt, doubled for each further one, less up to half by chance. */
  firstDelayMs?: number | undefined;
  /** Milliseconds between two attempts at most. */
  maxDelayMs?: number | undefined;
}

/** Milliseconds to wait, from 1: doubled each time, minus up to half at random to spread what failed together. */
export function backoffDelay(
  attempt: number,
  { firstDelayMs, maxDelayMs }: Readonly<Record<keyof RetryDelays, number>>,
  // Not from options.ts: the command line prints its help without loading the errors.
  random: RandomBytes = (size) => crypto.getRandomValues(new Uint8Array(size)),
): number {
  const whole = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(attempt - 1, 50));
  const [high = 0, low = 0] = random(2);
  const fraction = (high * 256 + low) / 65_536;
  return Math.round(whole * (1 - fraction / 2));
}

/** Resolves after this many milliseconds, or at once when the signal is aborted. Never rejects. @inline */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** Waits at most 24 days, the longest time of `setTimeout`. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const timer = setTimeout(done, Math.min(ms, longestTimerMs));
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
    signal?.addEventListener('abort', done);
  });
}
