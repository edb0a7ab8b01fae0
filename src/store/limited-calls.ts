import { withDeadline } from '../internal/deadline.ts';
import { integer, type OptionTable, type Settings, timerMs } from '../internal/options.ts';
import { isWholeProcess } from '../internal/runtime.ts';

/** Limits of calls to a store over the network. */
export interface StoreCallOptions {
  /**
   * Milliseconds to wait for the store. Then a delivery is answered 503, and a transaction fails with `store_failed`.
   * @default 5000
   */
  storeTimeoutMs?: number | undefined;
  /**
   * Most deliveries or transactions waiting for the store; further ones fail in the same way at once. Without effect on
   * Cloudflare Workers. @default 1000 for an inbox, 10000 for a record store
   */
  maxPending?: number | undefined;
}

export function callLimitRows(defaults: { readonly maxPending: number }) {
  return {
    storeTimeoutMs: timerMs({ default: 5_000 }),
    maxPending: integer({ default: defaults.maxPending }),
  } satisfies OptionTable<StoreCallOptions>;
}

export type CallLimits = Settings<ReturnType<typeof callLimitRows>>;

/**
 * Rejects at the latest when the time is over, with what `failed` makes of the error; the signal is aborted before.
 * Work that goes on has its result dropped.
 */
export type LimitedCall = <Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  failed: (error: unknown) => Error,
) => Promise<Result>;

/**
 * Limits how long and how many calls wait: clients of Redis and PostgreSQL queue while their server is away, some of
 * them for ever.
 */
export function limitCalls(
  { storeTimeoutMs: ms, maxPending }: CallLimits,
  tooMany: () => Error,
): LimitedCall {
  let pending = 0;
  // workerd drops a cancelled request, which would be counted for ever.
  const isBounded = isWholeProcess();
  return async (work, failed) => {
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
