import { StoreError } from '../errors/store-error.ts';
import { checkInteger, checkTimerMs } from '../options/check-values.ts';
import { type LimitedCall, limitCalls } from '../runtime/limit-calls.ts';

/** Limits for an engine that is reached over the network. */
export interface EngineCallOptions {
  /** Milliseconds to wait for the engine before a transaction fails with `store_failed`. @default 5000 */
  storeTimeoutMs?: number | undefined;
  /**
   * Most transactions waiting for the engine; further ones fail with `store_failed` at once. Without
   * effect on Cloudflare Workers. @default 10000
   */
  maxPending?: number | undefined;
}

const defaults = Object.freeze({ storeTimeoutMs: 5_000, maxPending: 10_000 });

export interface EngineCalls {
  readonly timeoutMs: number;
  readonly call: LimitedCall;
}

/** @throws {ConfigurationError} `invalid_option` */
export function limitEngineCalls(options: EngineCallOptions): EngineCalls {
  const timeoutMs = checkTimerMs('storeTimeoutMs', options.storeTimeoutMs ?? defaults.storeTimeoutMs);
  const maxPending = checkInteger('maxPending', options.maxPending ?? defaults.maxPending);
  const tooMany = () =>
    new StoreError(
      'store_failed',
      `${maxPending} transactions wait for the record store; nothing was written.`,
    );
  return { timeoutMs, call: limitCalls({ timeoutMs, maxPending, tooMany }) };
}

/** The engine failed before it was asked to write. */
export function nothingWritten(cause: unknown): StoreError {
  const message = 'The record store cannot be used now; nothing was written.';
  return new StoreError('store_failed', message, { cause });
}

/** The engine was asked to write, and did not say whether it did. */
export function maybeWritten(cause: unknown): StoreError {
  const message =
    'The record store did not confirm a change, which may have been written: look at what it holds.';
  return new StoreError('store_failed', message, { cause });
}

/** Others were faster every time. */
export function storeConflict(cause?: unknown): StoreError {
  const message = 'Other processes kept changing the same records; nothing was written.';
  return new StoreError('store_conflict', message, { cause });
}
