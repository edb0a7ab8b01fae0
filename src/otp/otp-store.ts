import { isConfigurationError } from '../errors/configuration-error.ts';
import { OtpError } from '../errors/otp-error.ts';
import type { RecordSet, RecordStore } from '../store/record-store.ts';

/** A transaction of the store, whose failures are errors of codes. */
export async function transact<Result>(
  store: RecordStore,
  keys: readonly string[],
  change: (records: RecordSet) => Result,
): Promise<Result> {
  try {
    return await store.transact(keys, change);
  } catch (error) {
    // Our own mistake, not a failure of the store.
    if (isConfigurationError(error)) throw error;
    throw new OtpError(
      'store_unavailable',
      'The store of the one-time codes failed: no code was sent or accepted. Try again.',
      { cause: error },
    );
  }
}
