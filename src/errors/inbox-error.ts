import { kindOf, PartnerExchangeError } from './partner-exchange-error.ts';

/**
 * - `store_unavailable`: the store did not answer, not in time, or with an error.
 * - `store_full`: the store has no room (SQLite: the disk, or `max_page_count`).
 * - `inbox_stopped`: `stop` was called; this process takes nothing more.
 * - `handler_timeout`: a handler did not settle within `timeLimitMs`.
 * - `lease_lost`: the process that handled a delivery for the last time died, or lost it to another one.
 * - `no_handler`: nothing is registered for a stored delivery.
 */
export type InboxErrorCode =
  | 'store_unavailable'
  | 'store_full'
  | 'inbox_stopped'
  | 'handler_timeout'
  | 'lease_lost'
  | 'no_handler';

/** An inbox could not keep a delivery, or not have it handled. Holds neither the body nor anything of it. */
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
