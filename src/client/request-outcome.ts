import { subscribe } from 'node:diagnostics_channel';
import type { OrderStatuses } from '../deployment/order-reply.ts';
import { codeOf, type RequestErrorCode, type RequestOutcome } from '../errors/errors.ts';

/** An attempt failed: anything but a whole 2xx reply. */
export class AttemptFailure extends Error {
  readonly code: RequestErrorCode;
  readonly outcome: RequestOutcome;

  constructor(code: RequestErrorCode, outcome: RequestOutcome, cause?: unknown) {
    super(code, { cause });
    this.code = code;
    this.outcome = outcome;
  }
}

/**
 * Failures before a byte of the request can have left: name look-up, connecting, checking the certificate. These are
 * the names of Node (undici), Bun and workerd. Any other counts as `unknown`, also broken TLS (`EPROTO`, `ERR_SSL_…`):
 * Bun reports that too when a connection breaks after the request was sent.
 */
const beforeSending = new Set([
  'EAI_AGAIN',
  'EAI_FAIL',
  'ECONNREFUSED',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'ConnectionRefused',
  'ERR_PROXY_TUNNEL',
  'FailedToOpenSocket',
]);

/** Other certificate errors of OpenSSL: `CERT_HAS_EXPIRED`, `UNABLE_TO_GET_ISSUER_CERT_LOCALLY` … */
const certificateCode = /^(?:CERT|ERROR_IN_CERT|UNABLE_TO)_[A-Z_]+$/;

/**
 * Failures without a code: Deno says that connecting failed, and `fetch` itself refuses some ports (Fetch standard:
 * port blocking).
 */
const beforeSendingMessages = [
  /client error \(Connect\)/,
  /tcp connect error/,
  /dns error/,
  /^bad port$/,
  /^Fetch failed: Requests to port \d+ are blocked/,
  /^Client network socket disconnected before secure TLS connection was established$/,
];

/** Classifies the error of a rejected `fetch`. */
export function classifyFetchError(error: unknown): AttemptFailure {
  return isBeforeSending(error, 0)
    ? new AttemptFailure('connection_failed', 'not-sent', error)
    : new AttemptFailure('network_error', 'unknown', error);
}

function isBeforeSending(error: unknown, depth: number): boolean {
  if (!(error instanceof Error) || depth > 4) return false;
  // undici failed while connecting (TCP, proxy, TLS), so no request can have left.
  if (connectErrors.has(error)) return true;
  const code = codeOf(error);
  const syscall = 'syscall' in error ? error.syscall : undefined;
  // "Host unreachable" can also end a connection that has already carried the request.
  if (syscall === 'read' || syscall === 'write') return false;
  if (beforeSending.has(code) || certificateCode.test(code)) return true;
  // A connect that timed out has a general code; `syscall` tells that it was connecting.
  if (code === 'ETIMEDOUT' && syscall === 'connect') return true;
  if (beforeSendingMessages.some((said) => said.test(String(error.message)))) return true;
  // Several addresses were tried: the request was certainly not sent only if none was reached.
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.every((one) => isBeforeSending(one, depth + 1));
  return isBeforeSending(error.cause, depth + 1);
}

/**
 * The outcome of a status outside 2xx (ledger: `errors`). 4xx: the service says that it did not act. 408 and 5xx may
 * come from a proxy while the service goes on. 307 and 308 ask for the same request at another address; 301, 302 and
 * 303 may also end a POST that was carried out.
 *
 * @param others statuses that say something else of this call
 */
export function outcomeOfStatus(status: number, others: OrderStatuses = {}): RequestOutcome {
  const other = others[status];
  if (other !== undefined) return other;
  if (status === 307 || status === 308) return 'refused';
  return status >= 400 && status < 500 && status !== 408 ? 'refused' : 'unknown';
}

const uncertainty: Readonly<Record<RequestOutcome, number>> = { 'not-sent': 0, refused: 1, unknown: 2 };

/** The outcome of several attempts is the least certain one. */
export function lessCertain(one: RequestOutcome, other: RequestOutcome): RequestOutcome {
  return uncertainty[one] >= uncertainty[other] ? one : other;
}

const connectErrors = new WeakSet<Error>();

// undici (Node's fetch) reports each failed connection here, with the error object that becomes the cause of the
// rejected fetch. Codes alone do not tell: a reset or a broken TLS record can also come after the request has left.
subscribe('undici:client:connectError', (message) => {
  const error = typeof message === 'object' && message !== null && 'error' in message && message.error;
  if (error instanceof Error) connectErrors.add(error);
});
