import { kindOf, PartnerExchangeError } from './partner-exchange-error.ts';

/**
 * - `too_many_failures`: so many messages in a row failed that something is wrong with all of them.
 * - `no_device_left`: the service refused the API key of every device (401 or 403).
 * - `csv_unreadable`: a file has no header, lacks a column, or has a quote that is never closed.
 */
export type BulkErrorCode = 'too_many_failures' | 'no_device_left' | 'csv_unreadable';

/** A bulk run ended before its last row. The results before it hold; a second run goes on where it stopped. */
export class BulkError extends PartnerExchangeError {
  readonly code: BulkErrorCode;

  constructor(code: BulkErrorCode, message: string, options?: { cause?: unknown }) {
    super('BulkError', message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
  }
}

/** True for a {@link BulkError}, also of another copy of the package. */
export function isBulkError(error: unknown): error is BulkError {
  return kindOf(error) === 'BulkError';
}
