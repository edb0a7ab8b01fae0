import { kindOf, PartnerExchangeError } from './partner-exchange-error.ts';

/**
 * - `store_failed`: the engine failed or did not answer. If the connection broke while it committed, the change may have
 *   been written: run it again, and look at what it reads.
 * - `store_conflict`: other processes kept changing the same records; nothing was written.
 * - `store_closed`: `close` was called.
 */
export type StoreErrorCode = 'store_failed' | 'store_conflict' | 'store_closed';

/** A record store could not do a transaction. Holds no keys or values of records. */
export class StoreError extends PartnerExchangeError {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown }) {
    super('StoreError', message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
  }
}

/** True for a {@link StoreError}, also of another copy of the package. */
export function isStoreError(error: unknown): error is StoreError {
  return kindOf(error) === 'StoreError';
}
