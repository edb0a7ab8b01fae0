/** How long to wait between attempts. */
export interface Backoff {
  /** Milliseconds before the second attempt; doubled for each further one. */
  readonly firstDelayMs: number;
  /** Milliseconds between two attempts at most. */
  readonly maxDelayMs: number;
}

/**
 * Milliseconds to wait after a failed attempt: doubled each time, minus up to half at random, so that callers that
 * failed together do not all come back together.
 *
 * @param attempt the one that failed, from 1
 * @param random a number from 0 up to 1
 */
export function backoffDelay(
  attempt: number,
  { firstDelayMs, maxDelayMs }: Backoff,
  random: () => number,
): number {
  const whole = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(attempt - 1, 50));
  return Math.round(whole * (1 - random() / 2));
}
