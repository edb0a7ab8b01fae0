import { ConfigurationError } from '../errors/configuration-error.ts';
import type { Backoff } from '../runtime/backoff.ts';

/** A request about to be sent, without its secrets and its body. */
export interface RequestObservation {
  readonly operation: string;
  readonly method: string;
  /** With query values redacted. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8 bytes of the body. */
  readonly bodyBytes: number;
  /** 1 for the first time it is sent. */
  readonly attempt: number;
}

/** A reply that has arrived, without its body. */
export interface ResponseObservation {
  readonly operation: string;
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds since this attempt was sent. */
  readonly durationMs: number;
  readonly attempt: number;
}

export interface RetryOptions {
  /** Milliseconds before the second attempt, doubled for each further one, less up to half by chance. @default 300 */
  firstDelayMs?: number | undefined;
  /** Milliseconds at most between two attempts. A `Retry-After` beyond it ends the call instead. @default 10000 */
  maxDelayMs?: number | undefined;
}

/** Options common to both clients. */
export interface ClientOptions {
  /**
   * Sends one attempt, e.g. over a proxy. The request's body can be read once. It must not send the request again by
   * itself: the service could act twice, and `outcome` and `attempts` would not tell. @default globalThis.fetch
   */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Milliseconds for each attempt, its reply included. @default 30000 */
  timeoutMs?: number | undefined;
  /** Milliseconds for a call with all of its attempts. @default 90000 */
  totalTimeoutMs?: number | undefined;
  /**
   * How often a request is sent at most. Only what is provably safe is sent again: GETs and the IP capture on network
   * errors, 408, 429 and 5xx; any other POST only when it was not sent, or on 429. 1: never again.
   * @default 3
   */
  maxAttempts?: number | undefined;
  /** How long to wait between attempts. */
  retry?: RetryOptions | undefined;
  /** Bytes read of a reply at most. @default 1048576 */
  maxReplyBytes?: number | undefined;
  /** Sees each attempt; secrets are redacted. What it throws is reported as a process warning. */
  onRequest?: ((request: RequestObservation) => void) | undefined;
  /** Sees each reply; secrets are redacted. What it throws is reported as a process warning. */
  onResponse?: ((response: ResponseObservation) => void) | undefined;
  /** A number from 0 up to 1, for jitter. @default Math.random */
  random?: (() => number) | undefined;
  /** Milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
  /** Allow a browser, where secret keys do not belong. For tests in a simulated one. @default false */
  dangerouslyAllowBrowser?: boolean | undefined;
}

export interface ResolvedClientOptions {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly timeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly maxAttempts: number;
  readonly retry: Backoff;
  readonly maxReplyBytes: number;
  readonly onRequest: ((request: RequestObservation) => void) | undefined;
  readonly onResponse: ((response: ResponseObservation) => void) | undefined;
  readonly random: () => number;
  readonly now: () => number;
}

/** Longest delay a timer can hold. */
const maxTimerMs = 2_147_483_647;

/** @throws {ConfigurationError} `invalid_option` or `browser_environment` */
export function resolveClientOptions(options: ClientOptions): ResolvedClientOptions {
  if (options.dangerouslyAllowBrowser !== true && isBrowser()) {
    throw new ConfigurationError(
      'browser_environment',
      'This looks like a browser: secret keys would be readable by anyone. Call the service from your server.',
    );
  }
  for (const name of ['fetch', 'onRequest', 'onResponse', 'random', 'now'] as const) {
    if (options[name] !== undefined && typeof options[name] !== 'function') {
      throw new ConfigurationError('invalid_option', `${name} must be a function.`);
    }
  }
  if (options.retry !== undefined && (typeof options.retry !== 'object' || options.retry === null)) {
    throw new ConfigurationError('invalid_option', 'retry must be an object, e.g. { firstDelayMs: 300 }.');
  }
  return {
    fetch: options.fetch ?? ((request) => globalThis.fetch(request)),
    timeoutMs: checkInteger('timeoutMs', options.timeoutMs ?? 30_000, 1),
    totalTimeoutMs: checkInteger('totalTimeoutMs', options.totalTimeoutMs ?? 90_000, 1),
    maxAttempts: checkInteger('maxAttempts', options.maxAttempts ?? 3, 1),
    retry: {
      firstDelayMs: checkInteger('retry.firstDelayMs', options.retry?.firstDelayMs ?? 300, 0),
      maxDelayMs: checkInteger('retry.maxDelayMs', options.retry?.maxDelayMs ?? 10_000, 0),
    },
    maxReplyBytes: checkInteger('maxReplyBytes', options.maxReplyBytes ?? 1_048_576, 1),
    onRequest: options.onRequest,
    onResponse: options.onResponse,
    random: options.random ?? Math.random,
    now: options.now ?? Date.now,
  };
}

/** @throws {ConfigurationError} `invalid_option` */
export function checkInteger(name: string, value: unknown, least: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > maxTimerMs) {
    throw new ConfigurationError('invalid_option', `${name} must be a whole number of at least ${least}.`);
  }
  return value;
}

function isBrowser(): boolean {
  return 'window' in globalThis && 'document' in globalThis;
}
