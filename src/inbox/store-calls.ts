import { InboxError } from '../errors/inbox-error.ts';
import { checkInteger, checkTimerMs } from '../options/check-values.ts';
import { redactCommand } from '../redaction/redact-command.ts';
import { limitCalls } from '../runtime/limit-calls.ts';

/** Limits for a store that is reached over the network. */
export interface StoreCallOptions {
  /** Milliseconds to wait for the store before a delivery is answered 503. @default 5000 */
  storeTimeoutMs?: number | undefined;
  /**
   * Most deliveries waiting for the store; further ones are answered 503 at once. Without effect on
   * Cloudflare Workers. @default 1000
   */
  maxPending?: number | undefined;
}

/** Calls a store over the network. Rejects with an {@link InboxError} at the latest when the time is over. */
export type CallStore = <Result>(work: () => Promise<Result>) => Promise<Result>;

const defaults = Object.freeze({ storeTimeoutMs: 5_000, maxPending: 1_000 });

/**
 * Waits no longer for the store than the sender of a webhook would, and limits how many deliveries wait.
 *
 * @throws {ConfigurationError} `invalid_option`
 */
export function limitStoreCalls(options: StoreCallOptions): CallStore {
  const timeoutMs = checkTimerMs('storeTimeoutMs', options.storeTimeoutMs ?? defaults.storeTimeoutMs);
  const maxPending = checkInteger('maxPending', options.maxPending ?? defaults.maxPending);
  const call = limitCalls({
    timeoutMs,
    maxPending,
    tooMany: () =>
      new InboxError('store_unavailable', `${maxPending} deliveries wait for the store of the inbox.`),
  });
  return (work) =>
    call(work, (error) => {
      const cause = redactCommand(error);
      return new InboxError('store_unavailable', 'The store of the inbox cannot be used now.', { cause });
    });
}
