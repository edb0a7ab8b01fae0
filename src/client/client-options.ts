import { platformFetch } from '../deployment/platform-fetch.ts';
import { ConfigurationError, type RequestErrorCode, type RequestOutcome } from '../errors/errors.ts';
import type { RetryDelays } from '../internal/backoff.ts';
import type { JsonValue } from '../internal/json.ts';
import {
  callback,
  integer,
  nested,
  type OptionTable,
  optional,
  randomBytes,
  type Settings,
  timerMs,
} from '../internal/options.ts';

/** An attempt of a call that is about to be sent, without its secrets. */
export interface ObservedAttempt {
  /** Which call it belongs to, e.g. `createOrder`. */
  readonly operation: string;
  /** HTTP method. */
  readonly method: string;
  /** The address, with query values redacted. */
  readonly url: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** A reply that has arrived, with the shape of its body in place of the body: it can be logged and kept for `learn`. */
export interface ObservedResponse extends ObservedAttempt {
  /** When the attempt ended, in ISO 8601. */
  readonly at: string;
  /** Milliseconds since this attempt was sent. */
  readonly durationMs: number;
  /** The SHA-256, for `createOrder`, of the JSON of its `partner_order_id`, in hexadecimal digits. */
  readonly order?: string | undefined;
  /** The first 16 hexadecimal digits of the SHA-256 of its `Authorization` header, if that has the public key. */
  readonly key?: string | undefined;
  /** HTTP status. */
  readonly status: number;
  /** The headers, with secrets redacted. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names and types of the body, without its values: see docs/guides/learn.md. `undefined` without a body. */
  readonly shape?: JsonValue | undefined;
  /** Why there is no body, if it could not be read. */
  readonly failure?: 'too_large' | 'broken' | undefined;
}

/** An attempt that ended without a reply: `learn` has to know of it, since the service may have acted. */
export interface UnansweredAttempt
  extends Omit<ObservedResponse, 'status' | 'headers' | 'shape' | 'failure'> {
  /** `connection_failed`, `network_error`, `timeout` or `aborted`. */
  readonly code: RequestErrorCode;
  /** Whether the service can have acted on this attempt. */
  readonly outcome: RequestOutcome;
}

/** Options common to both clients. */
export interface ClientOptions {
  /**
   * Sends one attempt, e.g. through a proxy. The request's body can be read only once. It must not repeat the request
   * by itself: the service could act twice, and `outcome` and `attempts` would be wrong. @default globalThis.fetch
   */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Milliseconds for each attempt, its reply included. @default 30000 */
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
  /**
   * How long to wait between attempts. A `Retry-After` longer than `maxDelayMs` ends the call.
   * @default { firstDelayMs: 300, maxDelayMs: 10000 }
   */
  retry?: RetryDelays | undefined;
  /** Called for each attempt. If it throws, that becomes a process warning. */
  onRequest?: ((attempt: ObservedAttempt) => void) | undefined;
  /** Called for each reply; secrets are redacted, of the body its shape is there. If it throws, that becomes a process warning. */
  onResponse?: ((response: ObservedResponse) => void) | undefined;
  /**
   * Called for each attempt that ends without a reply; secrets are redacted. If it throws, that becomes a process
   * warning.
   */
  onNoResponse?: ((attempt: UnansweredAttempt) => void) | undefined;
  /** As many random bytes as it is asked for, for jitter. @default crypto.getRandomValues */
  random?: ((size: number) => Uint8Array) | undefined;
  /** Milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
}

/** The options that both clients share; each adds its own. */
export const clientRows = {
  fetch: optional(callback()),
  timeoutMs: timerMs({ default: 30_000 }),
  totalTimeoutMs: timerMs({ default: 90_000 }),
  maxAttempts: integer({ default: 3 }),
  retry: nested({
    firstDelayMs: timerMs({ default: 300, least: 0 }),
    maxDelayMs: timerMs({ default: 10_000, least: 0 }),
  }),
  onRequest: optional(callback()),
  onResponse: optional(callback()),
  onNoResponse: optional(callback()),
  random: callback({ default: randomBytes }),
  now: callback({ default: () => Date.now() }),
} satisfies OptionTable<ClientOptions>;

/** What every call of a client needs. */
export type ClientSettings = ReturnType<typeof clientSettings>;

/** @throws {ConfigurationError} `browser_environment` */
export function clientSettings({ fetch, ...settings }: Settings<typeof clientRows>) {
  if ('window' in globalThis && 'document' in globalThis) {
    const what = 'This looks like a browser, where anybody can read secret keys.';
    throw new ConfigurationError('browser_environment', what);
  }
  return { ...settings, fetch: fetchWith(fetch) };
}

/** The platform's fetch makes a Request itself: one more would cost as much again. */
function fetchWith(given: ClientOptions['fetch']): (url: string, init: RequestInit) => Promise<Response> {
  if (given === undefined) return platformFetch;
  // Node follows the signal only until the Request is garbage-collected: it lives as long as its reply. A listener of the
  // signal that refers to it would keep both for ever.
  const requests = new WeakMap<Response, Request>();
  return async (url, init) => {
    const request = new Request(url, init);
    const response = await given(request);
    requests.set(response, request);
    return response;
  };
}
