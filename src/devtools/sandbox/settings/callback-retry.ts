import { integer, invalidOption, nested, type OptionTable, timerMs } from '../../../internal/options.ts';

/** How often an unacknowledged event is posted again. @inline */
export interface CallbackRetry {
  /** The most times that an event is posted, the first included. @default 5 */
  readonly maxAttempts?: number | undefined;
  /** Milliseconds on the sandbox's clock before the first repetition; doubled each time. @default 1000 */
  readonly firstDelayMs?: number | undefined;
  /** The longest time between two repetitions, in milliseconds. @default 60000 */
  readonly maxDelayMs?: number | undefined;
}

/** `none`: each event is posted once. @inline */
export type CallbackRetryPolicy = 'none' | CallbackRetry;

/** Milliseconds until the next attempt, after this many; `undefined` if there is none. */
type RetryDelay = (attempts: number) => number | undefined;

export function retryDelay(policy: CallbackRetryPolicy = 'none'): RetryDelay {
  if (policy === 'none') return () => undefined;
  if (typeof policy !== 'object') {
    throw invalidOption("callbackRetry must be 'none' or an object with maxAttempts.");
  }
  const { maxAttempts, firstDelayMs, maxDelayMs } = retryRows(policy, 'callbackRetry');
  return (attempts) =>
    attempts >= maxAttempts
      ? undefined
      : Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(attempts - 1, 50));
}

const retryRows = nested({
  maxAttempts: integer({ default: 5 }),
  firstDelayMs: timerMs({ default: 1000 }),
  maxDelayMs: timerMs({ default: 60_000 }),
} satisfies OptionTable<CallbackRetry>);
