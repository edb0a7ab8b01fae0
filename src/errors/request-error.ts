import { kindOf, PartnerExchangeError } from './partner-exchange-error.ts';

/**
 * Whether the service can have acted on a failed request.
 *
 * - `not-sent`: it never reached the service; repeating it is safe.
 * - `refused`: the service answered that it did not do it.
 * - `unknown`: it may or may not have acted. Look before you repeat it.
 */
export type RequestOutcome = 'not-sent' | 'refused' | 'unknown';

/**
 * - `connection_failed`: no connection was made (refused, unreachable, name or certificate not accepted).
 * - `network_error`: the connection broke before a whole reply was read.
 * - `timeout`: no reply within `timeoutMs` or `totalTimeoutMs`, or no turn among the requests under way within half of
 *   the latter.
 * - `aborted`: the caller's signal ended it.
 * - `redirected`: the service answered with a redirect, which is never followed.
 * - `http_error`: the service answered with status 4xx or 5xx.
 * - `reply_too_large`: the reply passed `maxReplyBytes`.
 * - `reply_nonconforming`: the reply does not fit the schema the caller gave.
 */
export type RequestErrorCode =
  | 'connection_failed'
  | 'network_error'
  | 'timeout'
  | 'aborted'
  | 'redirected'
  | 'http_error'
  | 'reply_too_large'
  | 'reply_nonconforming';

export interface RequestErrorDetails {
  code: RequestErrorCode;
  outcome: RequestOutcome;
  /** Which call failed, e.g. `createOrder`. */
  operation: string;
  method: string;
  /** Without query values. */
  url: string;
  /** How often it was sent: 0 if never, 1 if it was not repeated. */
  attempts?: number;
  status?: number;
  headers?: Headers;
  body?: unknown;
  retryAfterMs?: number;
  issues?: readonly { readonly message: string; readonly path: readonly PropertyKey[] }[];
  assumptions?: readonly string[];
  cause?: unknown;
}

/** A request failed; {@link outcome} says whether the service can have acted on it. */
export class RequestError extends PartnerExchangeError {
  readonly code: RequestErrorCode;
  readonly outcome: RequestOutcome;
  readonly operation: string;
  readonly method: string;
  readonly url: string;
  readonly attempts: number;
  /** HTTP status, when there was a reply. */
  readonly status: number | undefined;
  /** Milliseconds that the service asked to wait (`Retry-After`), if it did. */
  readonly retryAfterMs: number | undefined;
  /** What the caller's schema found wrong with the reply. */
  readonly issues: RequestErrorDetails['issues'];
  /** Ids of the assumptions (see the ledger) that may be wrong when this error occurs. */
  readonly assumptions: readonly string[];
  /** Reply headers, when there was a reply. Not enumerable: a printed error does not show them. */
  declare readonly headers: Headers | undefined;
  /**
   * The reply's body: parsed JSON, or text when it is not JSON; `undefined` when none was read.
   * Not enumerable, since a reply may hold a key: a printed error does not show it.
   */
  declare readonly body: unknown;

  constructor(message: string, details: RequestErrorDetails) {
    super('RequestError', message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.outcome = details.outcome;
    this.operation = details.operation;
    this.method = details.method;
    this.url = details.url;
    this.attempts = details.attempts ?? 1;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.issues = details.issues;
    this.assumptions = details.assumptions ?? [];
    Object.defineProperty(this, 'headers', { value: details.headers });
    Object.defineProperty(this, 'body', { value: details.body });
  }
}

/** True for a {@link RequestError}, also of another copy of the package. */
export function isRequestError(error: unknown): error is RequestError {
  return kindOf(error) === 'RequestError';
}
