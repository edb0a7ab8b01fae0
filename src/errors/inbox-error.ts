import { kindOf, PartnerExchangeError } from './partner-exchange-error.ts';

/**
 * - `store_unavailable`: the store failed, or did not answer in time.
 * - `store_full`: the store has no room (SQLite: the disk, or `max_page_count`).
 * - `inbox_stopped`: `stop` was called; this process accepts nothing more.
 * - `handler_timeout`: a handler did not settle within `timeLimitMs`.
 * - `lease_lost`: the last process that handled a delivery died, or lost the delivery to another one.
 * - `no_handler`: nothing is registered for a stored delivery.
 */
export type InboxErrorCode =
  | 'store_unavailable'
  | 'store_full'
  | 'inbox_stopped'
  | 'handler_timeout'
  | 'lease_lost'
  | 'no_handler';

/** An inbox could not store a delivery or have it handled. Holds nothing of the body. */
export class InboxError extends PartnerExchangeError {
  readonly code: InboxErrorCode;

  constructor(code: InboxErrorCode, message: string, options?: { cause?: unknown }) {
    super('InboxError', message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
  }
}

/** True for an {@link InboxError}, also of another copy of the package. */
export function isInboxError(error: unknown): error is InboxError {
  return kindOf(error) === 'InboxError';
}
