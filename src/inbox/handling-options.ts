import { ConfigurationError } from '../errors/configuration-error.ts';
import { warn } from '../errors/warn.ts';
import { checkNames } from '../options/check-names.ts';
import { checkInteger } from '../options/check-values.ts';
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
  /** Attempts until a delivery becomes a dead letter. @default 8 */
  maxAttempts?: number | undefined;
  /**
   * Milliseconds until a handler is cut off and its attempt has failed. A worker that dies loses its deliveries to
   * another one after a little more than that; with BullMQ, which renews its locks, within a minute. @default 60000
   */
  timeLimitMs?: number | undefined;
  /** How long to wait between attempts. */
  retry?: RetryDelays | undefined;
  /** How many deliveries this process handles at a time. @default 10 */
  concurrency?: number | undefined;
  /** Milliseconds for which the digest of a delivery is remembered. @default 2592000000 (30 days) */
  rememberMs?: number | undefined;
  /** `receiver`: this process only stores; another one handles. @default 'both' */
  role?: 'both' | 'receiver' | undefined;
  /** Learns why the store failed while nobody was waiting for an answer. @default a process warning */
  onStoreError?: ((error: unknown) => unknown) | undefined;
  /** From 0 to 1. @default Math.random */
  random?: (() => number) | undefined;
  /** Milliseconds since the epoch. @default Date.now */
  now?: (() => number) | undefined;
}

/** Every option with its value. */
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

/** @throws {ConfigurationError} `invalid_option` */
export function checkHandling(options: HandlingOptions): Handling {
  const defaults = handlingDefaults;
  const role = options.role ?? defaults.role;
  if (role !== 'both' && role !== 'receiver') throw invalid("handles must be 'both' or 'receiver'.");
  return Object.freeze({
    maxAttempts: wholeNumber('maxAttempts', options.maxAttempts ?? defaults.maxAttempts, 1000),
    timeLimitMs: wholeNumber('timeLimitMs', options.timeLimitMs ?? defaults.timeLimitMs, longestTimerMs / 2),
    retry: checkDelays(options.retry ?? {}),
    concurrency: wholeNumber('concurrency', options.concurrency ?? defaults.concurrency, 10_000),
    rememberMs: wholeNumber('rememberMs', options.rememberMs ?? defaults.rememberMs),
    role,
    onStoreError: checkFunction('onStoreError', options.onStoreError ?? defaults.onStoreError),
    random: checkFunction('random', options.random ?? defaults.random),
    now: checkFunction('now', options.now ?? defaults.now),
  });
}

function checkDelays(retry: RetryDelays): Backoff {
  checkNames('retry', retry, { firstDelayMs: true, maxDelayMs: true });
  const { firstDelayMs, maxDelayMs } = { ...handlingDefaults.retry, ...retry };
  return Object.freeze({
    firstDelayMs: checkInteger('retry.firstDelayMs', firstDelayMs),
    maxDelayMs: checkInteger('retry.maxDelayMs', maxDelayMs),
  });
}

/** @throws {ConfigurationError} `invalid_option` */
export function wholeNumber(name: string, value: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw invalid(`${name} must be a whole number from 1 to ${Math.floor(most)}.`);
}

export function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_option', message);
}

function checkFunction<Callable>(name: string, value: Callable): Callable {
  if (typeof value === 'function') return value;
  throw invalid(`${name} must be a function.`);
}

function warnOfStore(error: unknown): void {
  warn(`The store of the inbox failed, and is tried again: ${describeError(error)}`);
}
