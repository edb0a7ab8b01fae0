import { InboxError } from '../errors/errors.ts';
import { driverError } from '../internal/describe-error.ts';
import { limitCalls } from '../internal/limited-calls.ts';

/** Calls a store over the network. Rejects with an {@link InboxError} at the latest when the time is over. */
export type CallStore = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * Waits no longer for the store than the sender of a webhook would, and limits how many deliveries wait.
 */
export function limitStoreCalls(options: { storeTimeoutMs: number; maxPending: number }): CallStore {
  const { storeTimeoutMs: timeoutMs, maxPending } = options;
  const call = limitCalls({
    timeoutMs,
    maxPending,
    tooMany: () =>
      new InboxError('store_unavailable', `${maxPending} deliveries wait for the store of the inbox.`),
  });
  return (work) =>
    call(work, (error) => {
      const cause = driverError(error);
      return new InboxError('store_unavailable', 'The store of the inbox cannot be used now.', { cause });
    });
}
