import { ConfigurationError } from '../errors/configuration-error.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkFunction, checkInteger, checkTimerMs, invalidOption } from '../options/check-values.ts';
import type { Backoff } from '../runtime/backoff.ts';
import { type ConcurrencyLimit, limitConcurrency } from './concurrency-limit.ts';

/** A request that is about to be sent, without its secrets and its body. */
export interface RequestObservation {
  readonly operation: string;
  readonly method: string;
  /** With query values redacted. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8 bytes of the body. */
  readonly bodyBytes: number;
  /** 1 for the first attempt. */
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
  /** Most milliseconds between two attempts. A longer `Retry-After` ends the call. @default 10000 */
  maxDelayMs?: number | undefined;
}

/** Options common to both clients. */
export interface ClientOptions {
  /**
   * Sends one attempt, e.g. through a proxy. The request's body can be read only once. It must not repeat the request
   * by itself: the service could act twice, and `outcome` and `attempts` would be wrong. @default globalThis.fetch
   */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  /**
   * Most requests under way at once: each takes a connection. Further calls wait for their turn, in the order in which
   * they were made, for up to half of `totalTimeoutMs`. Between two attempts a call lets others go first. Without effect on
   * Cloudflare Workers, which limit the connections of each request themselves. @default 100
   */
  concurrency?: number | undefined;
  /** Milliseconds for each attempt, its reply included. Waiting for a turn does not count. @default 30000 */
  timeoutMs?: number | undefined;
  /** Milliseconds for a call with all its attempts, and with all waiting. @default 90000 */
  totalTimeoutMs?: number | undefined;
  /**
   * Most attempts per call. Only what is provably safe is sent again: GETs and the IP capture on network errors, 408,
   * 429 and 5xx; an order only if it was not sent; any other POST only if it was not sent, or on 429. 1 means no
   * repetition.
   * @default 3
   */
  maxAttempts?: number | undefined;
  /** How long to wait between attempts. */
  retry?: RetryOptions | undefined;
  /** Most bytes read of a reply. @default 1048576 */
  maxReplyBytes?: number | undefined;
  /** Called for each attempt; secrets are redacted. If it throws, that becomes a process warning. */
  onRequest?: ((request: RequestObservation) => void) | undefined;
  /** Called for each reply; secrets are redacted. If it throws, that becomes a process warning. */
  onResponse?: ((response: ResponseObservation) => void) | undefined;
  /** A number from 0 up to 1, for jitter. @default Math.random */
  random?: (() => number) | undefined;
  /** Milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
  /** Allows a browser, where secret keys do not belong. For tests in a simulated browser. @default false */
  dangerouslyAllowBrowser?: boolean | undefined;
}

export interface ResolvedClientOptions {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly limit: ConcurrencyLimit;
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

/** The names of the shared options; each client adds its own. */
export const clientOptionNames: OptionNames<ClientOptions> = {
  fetch: true,
  timeoutMs: true,
  concurrency: true,
  totalTimeoutMs: true,
  maxAttempts: true,
  retry: true,
  maxReplyBytes: true,
  onRequest: true,
  onResponse: true,
  random: true,
  now: true,
  dangerouslyAllowBrowser: true,
};

const retryNames: OptionNames<RetryOptions> = { firstDelayMs: true, maxDelayMs: true };

/** No JavaScript engine holds a longer string. */
const longestText = 2 ** 30;

/**
 * The options that both clients share, with their defaults. The client has already refused unknown names.
 *
 * @throws {ConfigurationError} `invalid_option` or `browser_environment`
 */
export function resolveClientOptions(options: ClientOptions): ResolvedClientOptions {
  const { dangerouslyAllowBrowser = false } = options;
  if (typeof dangerouslyAllowBrowser !== 'boolean') {
    throw invalidOption('dangerouslyAllowBrowser must be true or false.');
  }
  if (!dangerouslyAllowBrowser && isBrowser()) {
    throw new ConfigurationError(
      'browser_environment',
      'This looks like a browser: secret keys would be readable by anyone. Call the service from your server.',
    );
  }
  return {
    fetch: resolveFetch(optionalFunction('fetch', options.fetch)),
    limit: limitConcurrency(checkInteger('concurrency', options.concurrency ?? 100)),
    timeoutMs: checkTimerMs('timeoutMs', options.timeoutMs ?? 30_000),
    totalTimeoutMs: checkTimerMs('totalTimeoutMs', options.totalTimeoutMs ?? 90_000),
    maxAttempts: checkInteger('maxAttempts', options.maxAttempts ?? 3),
    retry: checkRetry(options.retry),
    maxReplyBytes: checkInteger('maxReplyBytes', options.maxReplyBytes ?? 1_048_576, { most: longestText }),
    onRequest: optionalFunction('onRequest', options.onRequest),
    onResponse: optionalFunction('onResponse', options.onResponse),
    random: optionalFunction('random', options.random) ?? Math.random,
    now: optionalFunction('now', options.now) ?? Date.now,
  };
}

/** The platform's fetch makes a Request itself: one more would cost as much again. */
function resolveFetch(given: ClientOptions['fetch']): ResolvedClientOptions['fetch'] {
  if (given === undefined) return (url, init) => globalThis.fetch(url, init);
  return (url, init) => given(new Request(url, init));
}

function checkRetry(retry: RetryOptions | undefined): Backoff {
  if (retry !== undefined) checkNames('retry', retry, retryNames);
  return {
    firstDelayMs: checkTimerMs('retry.firstDelayMs', retry?.firstDelayMs ?? 300, 0),
    maxDelayMs: checkTimerMs('retry.maxDelayMs', retry?.maxDelayMs ?? 10_000, 0),
  };
}

function optionalFunction<Callable>(name: string, value: Callable | undefined): Callable | undefined {
  return value === undefined ? undefined : checkFunction(name, value);
}

function isBrowser(): boolean {
  return 'window' in globalThis && 'document' in globalThis;
}
