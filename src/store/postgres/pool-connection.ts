import { backoffDelay, sleep } from '../../internal/backoff.ts';
import { driverError, sqlStateOf } from '../../internal/driver-error.ts';
import { sharedKeyQueue } from '../key-queue.ts';
import { limitEngineCalls, maybeWritten, nothingWritten, storeConflict } from '../limited-calls.ts';
import type { RecordSet } from '../record-store.ts';
import type { PgPool, PgPoolClient } from './pg-client.ts';
import {
  beginTransaction,
  type Connection,
  type ConnectionOptions,
  isConflict,
  type Transaction,
  type TransactionOutcome,
} from './transaction.ts';

/** All stores take their locks in one order, so only other transactions can cause a deadlock. */
const maxAttempts = 10;
const backoff = { firstDelayMs: 5, maxDelayMs: 200 };

export function poolConnection(
  pool: PgPool,
  { statements, now, storeTimeoutMs }: ConnectionOptions & { readonly storeTimeoutMs: number },
): Connection {
  const call = limitEngineCalls(storeTimeoutMs);
  const inTurn = sharedKeyQueue(storeTimeoutMs);
  // Otherwise PostgreSQL would go on waiting after our time limit, and keep the locks of the other keys meanwhile. Half of
  // the time is left to whoever tries them alone.
  const lockTimeout = `SET LOCAL lock_timeout = ${Math.ceil(storeTimeoutMs / 2)}`;
  const frame = {
    // Whatever the default is: each statement sees what was committed while it waited.
    begin: `BEGIN ISOLATION LEVEL READ COMMITTED; ${lockTimeout}`,
    commit: 'COMMIT',
    rollback: 'ROLLBACK',
  };
  hearErrors(pool);

  /** Runs work; if the table is missing, makes it and runs it again. */
  async function withTable<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (sqlStateOf(error) !== '42P01') throw error;
      await pool.query(statements.create);
      return await work();
    }
  }

  async function attempt<Result>(
    keys: readonly string[],
    change: (records: RecordSet) => Result,
  ): Promise<TransactionOutcome<Result> | { readonly kind: 'conflict'; readonly error: unknown }> {
    let release: Release | undefined;
    let transaction: Transaction | undefined;
    const transact = async (signal: AbortSignal) => {
      const { client, ...checkedOut } = await checkOut(pool, signal);
      release = checkedOut.release;
      try {
        const begun = beginTransaction(client, { frame, statements, keys, change, now, signal });
        transaction = begun;
        const outcome = await begun.outcome;
        checkedOut.release('keep');
        return outcome;
      } catch (error) {
        checkedOut.release('destroy');
        throw error;
      }
    };
    return await call(
      async (signal) => {
        try {
          return await withTable(() => transact(signal));
        } catch (error) {
          if (isConflict(error)) return { kind: 'conflict' as const, error };
          throw error;
        }
      },
      (error) => {
        // PostgreSQL rolls back what was not committed.
        release?.('destroy');
        return (transaction?.isCommitting ? maybeWritten : nothingWritten)(driverError(error));
      },
    );
  }

  return {
    transact: (keys, change) =>
      inTurn(keys, async () => {
        for (let attempts = 1; ; attempts++) {
          const outcome = await attempt(keys, change);
          if (outcome.kind !== 'conflict') return outcome;
          if (attempts === maxAttempts) throw storeConflict(driverError(outcome.error));
          await sleep(backoffDelay(attempts, backoff));
        }
      }),
    query: (text, values) =>
      call(
        () => withTable(() => pool.query(text, values)),
        (error) => nothingWritten(driverError(error)),
      ),
  };
}

const heard = new WeakSet<PgPool | PgPoolClient>();

/**
 * Has each client of the pool keep a listener. pg-pool takes its own off before the borrower can add one: a connection that
 * is cut at this moment would end the process.
 */
function hearErrors(pool: PgPool): void {
  if (heard.has(pool)) return;
  heard.add(pool);
  pool.on('acquire', (client) => {
    if (heard.has(client)) return;
    heard.add(client);
    client.on('error', () => {});
  });
}

/** Gives the client back once, to be kept or destroyed. */
type Release = (how: 'keep' | 'destroy') => void;

async function checkOut(pool: PgPool, signal: AbortSignal) {
  const client = await pool.connect();
  let isReleased = false;
  const release: Release = (how) => {
    if (!isReleased) client.release(how === 'destroy');
    isReleased = true;
  };
  if (signal.aborted) {
    release('keep');
    throw signal.reason;
  }
  if ((client.getTransactionStatus?.() ?? 'I') === 'I') return { client, release };
  release('destroy');
  throw new Error('The pool lent a client that was in a transaction: it was given back too early.');
}
