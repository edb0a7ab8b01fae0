import { warn } from '../errors/warn.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkFunction, checkInteger, checkOneOf } from '../options/check-values.ts';
import { describeError } from '../redaction/describe-error.ts';
import type { Backoff } from '../runtime/backoff.ts';
import { longestTimerMs } from '../runtime/longest-timer.ts';

/** How long to wait between attempts. */
export interface RetryDelays {
  /** Milliseconds before the second attempt, doubled for each further one, less up to half by chance. @default 1000 */
  firstDelayMs?: number | undefined;
  /** Milliseconds between two attempts at most. @default 600000 */
  maxDelayMs?: number | undefined;
}

/** How stored deliveries are handled; the same for every durable inbox. */
export interface HandlingOptions {
  /** Attempts before a delivery becomes a dead letter. @default 8 */
  maxAttempts?: number | undefined;
  /**
   * Milliseconds before a handler is aborted and its attempt has failed. When a worker dies, another one gets its
   * deliveries a little later than that; with BullMQ, which renews its locks, within a minute. They are tried alone
   * then, and only a death while alone counts as an attempt. @default 60000
   */
  timeLimitMs?: number | undefined;
  /** How long to wait between attempts. */
  retry?: RetryDelays | undefined;
  /** How many deliveries this process handles at once. @default 10 */
  concurrency?: number | undefined;
  /** Milliseconds for which the digest of a delivery is remembered. @default 2592000000 (30 days) */
  rememberMs?: number | undefined;
  /** `receiver`: this process only stores, and another one handles. @default 'both' */
  role?: 'both' | 'receiver' | undefined;
  /** Called when the store fails while nobody waits for an answer. @default a process warning */
  onStoreError?: ((error: unknown) => unknown) | undefined;
  /** From 0 to 1. @default Math.random */
  random?: (() => number) | undefined;
  /** Milliseconds since the epoch. @default Date.now */
  now?: (() => number) | undefined;
}

/** For {@link checkNames}; each inbox adds its own. */
export const handlingOptionNames: OptionNames<HandlingOptions> = Object.freeze({
  maxAttempts: true,
  timeLimitMs: true,
  retry: true,
  concurrency: true,
  rememberMs: true,
  role: true,
  onStoreError: true,
  random: true,
  now: true,
});

const retryNames: OptionNames<RetryDelays> = { firstDelayMs: true, maxDelayMs: true };

/** The options with their defaults. */
export type Handling = {
  readonly [Option in Exclude<keyof HandlingOptions, 'retry'>]-?: Exclude<HandlingOptions[Option], undefined>;
} & { readonly retry: Backoff };

export const handlingDefaults = Object.freeze({
  maxAttempts: 8,
  timeLimitMs: 60_000,
  retry: Object.freeze({ firstDelayMs: 1_000, maxDelayMs: 600_000 }),
  concurrency: 10,
  rememberMs: 30 * 24 * 60 * 60 * 1000,
  role: 'both',
  onStoreError: warnOfStore,
  random: Math.random,
  now: Date.now,
}) satisfies Handling;

/**
 * Checks values but not names, since an inbox may have further options. @throws {ConfigurationError} `invalid_option`
 */
export function checkHandling(options: HandlingOptions): Handling {
  const defaults = handlingDefaults;
  return Object.freeze({
    maxAttempts: checkInteger('maxAttempts', options.maxAttempts ?? defaults.maxAttempts, { most: 1000 }),
    timeLimitMs: checkInteger('timeLimitMs', options.timeLimitMs ?? defaults.timeLimitMs, {
      // A lease is longer than the time limit and has to fit into a timer too.
      most: Math.floor(longestTimerMs / 2),
    }),
    retry: checkDelays(options.retry ?? {}),
    concurrency: checkInteger('concurrency', options.concurrency ?? defaults.concurrency, { most: 10_000 }),
    rememberMs: checkInteger('rememberMs', options.rememberMs ?? defaults.rememberMs),
    role: checkOneOf('role', options.role ?? defaults.role, ['both', 'receiver']),
    onStoreError: checkFunction('onStoreError', options.onStoreError ?? defaults.onStoreError),
    random: checkFunction('random', options.random ?? defaults.random),
    now: checkFunction('now', options.now ?? defaults.now),
  });
}

function checkDelays(retry: RetryDelays): Backoff {
  checkNames('retry', retry, retryNames);
  const defaults = handlingDefaults.retry;
  return Object.freeze({
    firstDelayMs: checkInteger('retry.firstDelayMs', retry.firstDelayMs ?? defaults.firstDelayMs),
    maxDelayMs: checkInteger('retry.maxDelayMs', retry.maxDelayMs ?? defaults.maxDelayMs),
  });
}

function warnOfStore(error: unknown): void {
  warn(`The store of the inbox failed, and is tried again: ${describeError(error)}`);
}
