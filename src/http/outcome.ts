import type { RequestErrorCode, RequestOutcome } from '../errors/request-error.ts';
import { isConnectError } from './connect-errors.ts';

/** How one attempt to send a request failed before a whole reply was there. */
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
 * Failures that happen before a byte of the request can have left: name look-up, connecting, checking the certificate.
 * By the names that Node (undici), Bun and workerd give them. A name that is not here counts as `unknown`: also those
 * of broken TLS (`EPROTO`, `ERR_SSL_…`), which Bun gives to a connection that broke after the request was sent, too.
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
  'CRL_HAS_EXPIRED',
  'CRL_NOT_YET_VALID',
  'CRL_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'ConnectionRefused',
  'ERR_PROXY_TUNNEL',
  'FailedToOpenSocket',
]);

/** The rest of what OpenSSL finds wrong with a certificate: `CERT_HAS_EXPIRED`, `UNABLE_TO_GET_ISSUER_CERT_LOCALLY` … */
const certificateCode = /^(?:CERT|ERROR_IN_CERT|UNABLE_TO)_[A-Z_]+$/;

/**
 * Where there are no codes: Deno says that it was the connection that failed, and `fetch` itself refuses some ports
 * (Fetch standard: port blocking).
 */
const beforeSendingMessages = [
  /client error \(Connect\)/,
  /tcp connect error/,
  /dns error/,
  /^bad port$/,
  /^Fetch failed: Requests to port \d+ are blocked/,
  /^Client network socket disconnected before secure TLS connection was established$/,
];

/** What a rejected `fetch` says about the request. */
export function classifyFetchError(error: unknown): AttemptFailure {
  return isBeforeSending(error, 0)
    ? new AttemptFailure('connection_failed', 'not-sent', error)
    : new AttemptFailure('network_error', 'unknown', error);
}

function isBeforeSending(error: unknown, depth: number): boolean {
  if (!(error instanceof Error) || depth > 4) return false;
  if (isConnectError(error)) return true;
  // "Host unreachable" can also end a connection that has carried the request.
  if ('syscall' in error && (error.syscall === 'read' || error.syscall === 'write')) return false;
  if ('code' in error && typeof error.code === 'string') {
    if (beforeSending.has(error.code) || certificateCode.test(error.code)) return true;
  }
  // A connect that timed out carries the general code, and says in which call it happened.
  if ('code' in error && error.code === 'ETIMEDOUT' && 'syscall' in error && error.syscall === 'connect')
    return true;
  if (beforeSendingMessages.some((said) => said.test(String(error.message)))) return true;
  // Several addresses were tried: only when none was reached is the request certainly not sent.
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.every((one) => isBeforeSending(one, depth + 1));
  return isBeforeSending(error.cause, depth + 1);
}

/**
 * What a status that is not 2xx says (ledger: `errors`). 4xx: the service says it did not act. 408 and 5xx may
 * come from a proxy while the service goes on. A redirect with 307 or 308 asks for the same request elsewhere;
 * 301, 302 and 303 are also how some services end a POST that they have carried out.
 */
export function outcomeOfStatus(status: number): RequestOutcome {
  if (status === 307 || status === 308) return 'refused';
  return status >= 400 && status < 500 && status !== 408 ? 'refused' : 'unknown';
}

const weight = { 'not-sent': 0, refused: 1, unknown: 2 } as const satisfies Record<RequestOutcome, number>;

/** The outcome of several attempts: the least certain one. */
export function worseOutcome(one: RequestOutcome, other: RequestOutcome): RequestOutcome {
  return weight[one] >= weight[other] ? one : other;
}
