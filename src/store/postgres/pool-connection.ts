import { backoffDelay, sleep } from '../../internal/backoff.ts';
import { driverError } from '../../internal/driver-error.ts';
import { limitEngineCalls, nothingWritten, storeConflict } from '../engine-calls.ts';
import type { CallLimits } from '../limited-calls.ts';
import type { RecordSet } from '../record-store.ts';
import { type PgPool, type PgPoolClient, rowCountOf } from './pg-client.ts';
import {
  beginTransaction,
  type Connection,
  type ConnectionOptions,
  isConflict,
  ownTransaction,
  type Transaction,
  type TransactionOutcome,
  transactionFailed,
  withTable,
} from './transaction.ts';

/** All stores take their locks in one order, so only other transactions can cause a deadlock. */
const maxAttempts = 10;
const backoff = { firstDelayMs: 5, maxDelayMs: 200 };

export function poolConnection(
  pool: PgPool,
  { statements, now, limits }: ConnectionOptions & { readonly limits: CallLimits },
): Connection {
  const call = limitEngineCalls(limits);
  const createTable = () => pool.query(statements.create);
  // Otherwise PostgreSQL would go on waiting after our time limit, and keep the locks of the other keys meanwhile. Half of
  // the time is left to whoever tries them alone.
  const lockTimeout = `SET LOCAL lock_timeout = ${Math.ceil(limits.storeTimeoutMs / 2)}`;
  const frame = { ...ownTransaction, begin: `${ownTransaction.begin}; ${lockTimeout}` };
  if (pool.listeners?.('acquire').includes(keepListener) === false) pool.on?.('acquire', keepListener);

  async function attempt<Result>(
    keys: readonly string[],
    change: (records: RecordSet) => Result,
  ): Promise<TransactionOutcome<Result> | { readonly kind: 'conflict'; readonly error: unknown }> {
    let checkedOut: CheckedOutClient | undefined;
    let transaction: Transaction | undefined;
    const transact = async (signal: AbortSignal) => {
      const own = await checkOut(pool, signal);
      checkedOut = own;
      try {
        const options = { frame, statements, keys, change, now, signal };
        const begun = beginTransaction(own.client, options);
        transaction = begun;
        const outcome = await begun.outcome;
        own.release();
        return outcome;
      } catch (error) {
        own.destroy();
        throw error;
      }
    };
    return await call(
      async (signal) => {
        try {
          return await withTable(() => transact(signal), createTable);
        } catch (error) {
          if (isConflict(error)) return { kind: 'conflict' as const, error };
          throw error;
        }
      },
      (error) => {
        // PostgreSQL rolls back what was not committed.
        checkedOut?.destroy();
        return transactionFailed(error, transaction);
      },
    );
  }

  return {
    waitsForSweep: false,
    async transact(keys, change) {
      for (let attempts = 1; ; attempts++) {
        const outcome = await attempt(keys, change);
        if (outcome.kind !== 'conflict') return outcome;
        if (attempts === maxAttempts) throw storeConflict(driverError(outcome.error));
        await sleep(backoffDelay(attempts, backoff));
      }
    },
    query: (text, values) =>
      call(
        () => withTable(() => pool.query(text, values), createTable),
        (error) => nothingWritten(driverError(error)),
      ),
    sweep: (at) =>
      call(
        async () => rowCountOf(await pool.query(statements.sweep, [at])),
        (error) => nothingWritten(driverError(error)),
      ),
  };
}

/**
 * pg-pool takes its own listener off before the borrower can add one: a connection that is cut at this moment would end
 * the process. So each client of the pool keeps one.
 */
function keepListener(client: PgPoolClient): void {
  if (client.listeners?.('error').includes(ignore) === false) client.on('error', ignore);
}

function ignore(): void {}

interface CheckedOutClient {
  readonly client: PgPoolClient;
  release(): void;
  destroy(): void;
}

async function checkOut(pool: PgPool, signal: AbortSignal): Promise<CheckedOutClient> {
  const client = await pool.connect();
  // Of a pool without events, where `keepListener` is not called.
  const hear = () => {};
  client.on('error', hear);
  let isReleased = false;
  const end = (destroy: boolean) => {
    if (isReleased) return;
    isReleased = true;
    client.release(destroy);
    if (!destroy) client.removeListener('error', hear);
  };
  const checkedOut = { client, release: () => end(false), destroy: () => end(true) };
  if (signal.aborted) {
    checkedOut.release();
    throw signal.reason;
  }
  const status = client.getTransactionStatus?.() ?? 'I';
  if (status !== 'I') {
    checkedOut.destroy();
    throw new Error('The pool lent a client that was in a transaction: it was given back too early.');
  }
  return checkedOut;
}
