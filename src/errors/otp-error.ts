import { kindOf, PartnerExchangeError } from './partner-exchange-error.ts';

/**
 * - `cool_down`: the phone number got a code a moment ago; `retryAfterMs` says when it can get the next one.
 * - `limit_reached`: a limit is used up, see `limit`; `retryAfterMs` says when there is room again, if time gives any.
 * - `not_allowed`: the phone number has none of `allowedPrefixes`, or there is nothing to send again: issue a new code.
 * - `not_sent`: no message left; nothing was counted. Repeating it is safe.
 * - `refused`: the service does not take this phone number.
 * - `store_unavailable`: the store failed, and nothing was sent or accepted. Also a code of `InboxError`, the one that
 *   two classes share.
 */
export type OtpErrorCode =
  | 'cool_down'
  | 'limit_reached'
  | 'not_allowed'
  | 'not_sent'
  | 'refused'
  | 'store_unavailable';

/** Which limit was reached: one of the options `limits`, or `maxSends`. */
export type OtpLimit = 'phone' | 'ip' | 'unconfirmedPerIp' | 'failuresPerPhone' | 'total' | 'maxSends';

/** A one-time code could not be issued, sent again or checked. Holds neither a code nor a phone number. */
export class OtpError extends PartnerExchangeError {
  readonly code: OtpErrorCode;
  /** Milliseconds after which it makes sense to try again, where that is known. */
  readonly retryAfterMs: number | undefined;
  /** Of `limit_reached`. */
  readonly limit: OtpLimit | undefined;

  constructor(
    code: OtpErrorCode,
    message: string,
    options: {
      readonly retryAfterMs?: number | undefined;
      readonly limit?: OtpLimit | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super('OtpError', message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.limit = options.limit;
  }
}

/** True for an {@link OtpError}, also of another copy of the package. */
export function isOtpError(error: unknown): error is OtpError {
  return kindOf(error) === 'OtpError';
}
