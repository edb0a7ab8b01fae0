import { InboxError, isStoreError, partsOf } from '../errors/errors.ts';
import { storeRemedies } from '../errors/remedies.ts';
import { driverError } from '../internal/driver-error.ts';
import { limitCalls } from '../store/limited-calls.ts';
import type { RecordStore } from '../store/record-store.ts';
import { isNewerFormat } from '../store/stored-form.ts';

/** More deliveries than these would fill the memory while their store is away. */
const mostWaiting = 1_000;

/** The store of an inbox, each call of which is limited as {@link limitStoreCalls} says. */
export function limitedStore(store: RecordStore, storeTimeoutMs: number, maxPending?: number): RecordStore {
  const call = limitStoreCalls(storeTimeoutMs, maxPending);
  return {
    transact: (keys, change) => call(() => store.transact(keys, change)),
    list: (options) => call(() => store.list(options)),
    close: () => store.close(),
  };
}

/** Has each call reject with an {@link InboxError} when the time is over: the sender of a webhook waits no longer either. */
export function limitStoreCalls(
  storeTimeoutMs: number,
  maxPending = mostWaiting,
): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const message = `${maxPending} deliveries wait for the store of the inbox.`;
  const call = limitCalls({ storeTimeoutMs, maxPending }, () => new InboxError('store_unavailable', message));
  return (work) => call(work, toInboxError);
}

/** The error of a store, as the sender of a webhook and `onStoreError` get it. */
export function toInboxError(error: unknown): InboxError {
  const cause = driverError(error);
  if (isStoreError(error)) {
    if (error.code === 'disk_full')
      return new InboxError('store_full', 'The disk of the inbox is full.', { cause });
    // It knows more: a file was replaced, or a newer version wrote a record.
    const { what, remedy } = partsOf(error);
    if (isNewerFormat(error) || remedy !== storeRemedies[error.code])
      return new InboxError('store_unavailable', what, { cause, remedy });
  }
  return new InboxError('store_unavailable', 'The store of the inbox cannot be used now.', { cause });
}
