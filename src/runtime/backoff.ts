import type { Handling } from '../inbox/handling-options.ts';

/** Milliseconds to wait after an attempt that failed: doubled each time, and between half and all of that. */
export function backoffDelay(
  attempt: number,
  { retryFirstMs, retryMaxMs, random }: Pick<Handling, 'retryFirstMs' | 'retryMaxMs' | 'random'>,
): number {
  const whole = Math.min(retryMaxMs, retryFirstMs * 2 ** Math.min(attempt - 1, 50));
  return Math.round(whole * (1 - random() / 2));
}
