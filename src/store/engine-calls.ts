import { StoreError } from '../errors/errors.ts';
import { type CallLimits, callLimitRows, type LimitedCall, limitCalls } from './limited-calls.ts';

export const engineCallRows = callLimitRows({ maxPending: 10_000 });

export function limitEngineCalls(limits: CallLimits): LimitedCall {
  const message = `${limits.maxPending} transactions wait for the record store; nothing was written.`;
  return limitCalls(limits, () => new StoreError('store_failed', message));
}

/** The engine was not asked to write yet. */
export function nothingWritten(cause: unknown): StoreError {
  const message = 'The record store cannot be used now; nothing was written.';
  return new StoreError('store_failed', message, { cause });
}

/** The engine was asked to write and did not answer. */
export function maybeWritten(cause: unknown): StoreError {
  const message = 'The record store did not confirm a change, which may have been written.';
  return new StoreError('store_failed', message, { cause });
}

/** Every retry lost to a concurrent write. */
export function storeConflict(cause?: unknown): StoreError {
  const message = 'Other processes kept changing the same records; nothing was written.';
  return new StoreError('store_conflict', message, { cause });
}
