import type { RetryDelays } from '../internal/backoff.ts';
import { longestTimerMs } from '../internal/deadline.ts';
import { describeError, driverError } from '../internal/driver-error.ts';
import {
  callback,
  integer,
  nested,
  type OptionTable,
  oneOf,
  type RandomBytes,
  randomBytes,
  type Settings,
} from '../internal/options.ts';
import { callHook, warn } from '../internal/warn.ts';

/** How stored deliveries are handled; the same for every durable inbox. */
export interface HandlingOptions {
  /** Attempts before a delivery becomes a dead letter. @default 8 */
  maxAttempts?: number | undefined;
  /**
   * Milliseconds before a handler's `signal` is aborted and its attempt has failed; the next attempt begins later, in
   * whichever process. A handler that ignores its `signal` goes on running beside that: pass the `signal` to every call
   * that can be aborted, and look at `signal.aborted` before each effect. When a worker dies, another one gets its
   * deliveries a little later than that. They are tried alone then, and only a death while alone counts as an attempt. @default 60000
   */
  timeLimitMs?: number | undefined;
  /** How long to wait between attempts. @default { firstDelayMs: 1000, maxDelayMs: 600000 } */
  retry?: RetryDelays | undefined;
  /** How many deliveries this process handles at once. @default 10 */
  concurrency?: number | undefined;
  /** Milliseconds for which the digest of a delivery is remembered. @default 2592000000 (30 days) */
  rememberMs?: number | undefined;
  /** `receiver`: this process only stores, and another one handles. @default 'both' */
  role?: 'both' | 'receiver' | undefined;
  /** Called when the store fails and no caller waits for an answer. @default a process warning */
  onStoreError?: ((error: unknown) => unknown) | undefined;
  /** Returns this many random bytes, for the random part of a delay. @default crypto.getRandomValues */
  random?: RandomBytes | undefined;
  /** Milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
}

export const handlingRows = {
  maxAttempts: integer({ default: 8, most: 1000 }),
  // A lease is longer, and has to fit into a timer too.
  timeLimitMs: integer({ default: 60_000, most: Math.floor(longestTimerMs / 2) }),
  retry: nested({
    firstDelayMs: integer({ default: 1_000 }),
    maxDelayMs: integer({ default: 600_000 }),
  } satisfies OptionTable<RetryDelays>),
  concurrency: integer({ default: 10, most: 10_000 }),
  rememberMs: integer({ default: 30 * 24 * 60 * 60 * 1000 }),
  role: oneOf(['both', 'receiver'], { default: 'both' }),
  onStoreError: callback({ default: warnOfStore }),
  random: callback({ default: randomBytes }),
  now: callback({ default: Date.now }),
} satisfies OptionTable<HandlingOptions>;

export type Handling = Settings<typeof handlingRows>;

/**
 * Until then a process that has no handler for a documented event puts it back, which is no attempt, so that a process
 * that has one finds it: during a deployment two versions run side by side. After that it is `ignored`.
 */
export const ignoreAfterMs = 600_000;

/** Milliseconds of a lease. The time limit ends before it, which leaves time to store the result. */
export function leaseMsOf({ timeLimitMs }: Pick<Handling, 'timeLimitMs'>): number {
  return timeLimitMs + Math.min(timeLimitMs, 5_000);
}

/** No lease or delay is longer: what is due later was stored before the clock went back. */
export function longestWaitMsOf(handling: Pick<Handling, 'timeLimitMs' | 'retry'>): number {
  const longest = Math.max(leaseMsOf(handling), handling.retry.maxDelayMs, ignoreAfterMs);
  return Math.min(longest + 60_000, Number.MAX_SAFE_INTEGER);
}

function warnOfStore(error: unknown): void {
  warn(`The store of the inbox failed, and is tried again: ${describeError(error)}`);
}

/** Only for failures that no caller waits for. */
export function reportStore(error: unknown, { onStoreError }: Pick<Handling, 'onStoreError'>): void {
  callHook('onStoreError of an inbox', () => onStoreError(driverError(error)));
}
