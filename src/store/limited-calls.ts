import { StoreError } from '../errors/errors.ts';
import { withDeadline } from '../internal/deadline.ts';
import { type OptionTable, timerMs } from '../internal/options.ts';
import { isWholeProcess } from '../internal/runtime.ts';

/** The limit of calls to a store over the network. */
export interface StoreCallOptions {
  /**
   * Milliseconds to wait for the store. Then a delivery is answered 503, and a transaction fails with `store_failed`.
   * @default 5000
   */
  storeTimeoutMs?: number | undefined;
}

export const storeCallRows = {
  storeTimeoutMs: timerMs({ default: 5_000 }),
} satisfies OptionTable<StoreCallOptions>;

/**
 * Limits how long and how many calls wait: clients of Redis and PostgreSQL queue while their server is away, some of
 * them for ever. More than `maxPending` fail at once, except on Cloudflare Workers. A call rejects at the latest when the
 * time is over, with what `failed` makes of the error; its signal is aborted before. Work that goes on has its result
 * dropped.
 */
export function limitCalls(
  { storeTimeoutMs: ms, maxPending }: { readonly storeTimeoutMs: number; readonly maxPending: number },
  tooMany: () => Error,
) {
  let pending = 0;
  // workerd drops a cancelled request, which would be counted for ever.
  const isBounded = isWholeProcess();
  return async <Result>(
    work: (signal: AbortSignal) => Promise<Result>,
    failed: (error: unknown) => Error,
  ): Promise<Result> => {
    if (isBounded && pending >= maxPending) throw tooMany();
    pending++;
    // Counted until it has really ended, which may be long after the time limit.
    const counted = (signal: AbortSignal) =>
      Promise.resolve(signal)
        .then(work)
        .finally(() => {
          pending--;
        });
    try {
      const tooLate = () => new Error(`The store did not answer within ${ms} ms.`);
      return await withDeadline({ ms, tooLate }, counted);
    } catch (error) {
      throw failed(error);
    }
  };
}

const mostTransactions = 10_000;

export function limitEngineCalls(storeTimeoutMs: number) {
  const message = `${mostTransactions} transactions wait for the record store; nothing was written.`;
  const tooMany = () => new StoreError('store_failed', message);
  return limitCalls({ storeTimeoutMs, maxPending: mostTransactions }, tooMany);
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
