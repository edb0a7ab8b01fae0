import { InboxError, isStoreError, partsOf } from '../errors/errors.ts';
import { storeRemedies } from '../errors/remedies.ts';
import { driverError } from '../internal/driver-error.ts';
import { limitCalls } from '../store/limited-calls.ts';
import type { RecordStore } from '../store/record-store.ts';
import { isNewerFormat } from '../store/stored-form.ts';

export interface StoreLimits {
  readonly storeTimeoutMs: number;
  readonly maxPending: number;
}

/** The store of an inbox, each call of which is limited as {@link limitStoreCalls} says. */
export function limitedStore(store: RecordStore, limits: StoreLimits): RecordStore {
  const call = limitStoreCalls(limits);
  return {
    transact: (keys, change) => call(() => store.transact(keys, change)),
    list: (options) => call(() => store.list(options)),
    close: () => store.close(),
  };
}

/** Rejects with an {@link InboxError} at the latest when the time is over. */
type CallStore = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** The sender of a webhook does not wait longer either. */
export function limitStoreCalls(limits: StoreLimits): CallStore {
  const { storeTimeoutMs: timeoutMs, maxPending } = limits;
  const tooMany = () =>
    new InboxError('store_unavailable', `${maxPending} deliveries wait for the store of the inbox.`);
  const call = limitCalls({ timeoutMs, maxPending, tooMany });
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
