import { checkNames } from '../../options/check-names.ts';
import { checkInteger, checkTimerMs, invalidOption } from '../../options/check-values.ts';

/** How often an event that was not acknowledged is posted again. */
export interface CallbackRetry {
  /** Times that an event is posted at most, the first included. @default 5 */
  readonly maxAttempts?: number | undefined;
  /** Milliseconds on the sandbox's clock before it is posted again; doubled each time. @default 1000 */
  readonly firstDelayMs?: number | undefined;
  /** Milliseconds between two times at most. @default 60000 */
  readonly maxDelayMs?: number | undefined;
}

/** `none`: an event is posted once. */
export type CallbackRetryPolicy = 'none' | CallbackRetry;

/** Milliseconds until the next time, after this many; `undefined` for never again. */
export type RetryDelay = (attempts: number) => number | undefined;

/** @throws {ConfigurationError} `invalid_option` */
export function retryDelay(policy: CallbackRetryPolicy): RetryDelay {
  if (policy === 'none') return () => undefined;
  if (typeof policy !== 'object' || policy === null) {
    throw invalidOption("callbackRetry must be 'none' or an object with maxAttempts.");
  }
  checkNames('callbackRetry', policy, { maxAttempts: true, firstDelayMs: true, maxDelayMs: true });
  const maxAttempts = checkInteger('callbackRetry.maxAttempts', policy.maxAttempts ?? 5);
  const firstDelayMs = checkTimerMs('callbackRetry.firstDelayMs', policy.firstDelayMs ?? 1000);
  const maxDelayMs = checkTimerMs('callbackRetry.maxDelayMs', policy.maxDelayMs ?? 60_000);
  return (attempts) =>
    attempts >= maxAttempts
      ? undefined
      : Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(attempts - 1, 50));
}
