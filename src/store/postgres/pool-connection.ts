import { redactDatabaseError } from '../../redaction/redact-database-error.ts';
import { backoffDelay } from '../../runtime/backoff.ts';
import { type EngineCalls, nothingWritten, storeConflict } from '../engine-calls.ts';
import type { RecordSet } from '../record-store.ts';
import {
  type Connection,
  type ConnectionOptions,
  isConflict,
  transactionFailed,
  withTable,
} from './connection.ts';
import { type PgPool, type PgPoolClient, rowCountOf } from './pg-client.ts';
import { ownTransaction, type Progress, runTransaction, type TransactionOutcome } from './transaction.ts';

/** All take their locks in one order, so only transactions of others can cause a deadlock. */
const maxAttempts = 10;
const backoff = { firstDelayMs: 5, maxDelayMs: 200 };

/** Each transaction has a client of the pool to itself. */
export function poolConnection(
  pool: PgPool,
  { statements, now, calls }: ConnectionOptions & { readonly calls: EngineCalls },
): Connection {
  const createTable = () => pool.query(statements.create);

  async function attempt<Result>(
    keys: readonly string[],
    change: (records: RecordSet) => Result,
  ): Promise<TransactionOutcome<Result> | { readonly kind: 'conflict'; readonly error: unknown }> {
    const progress: Progress = { isOver: false, isCommitting: false };
    let lent: LentClient | undefined;
    const transact = async () => {
      const borrowed = await borrow(pool, progress);
      lent = borrowed;
      try {
        const { client } = borrowed;
        const outcome = await runTransaction(client, {
          frame: ownTransaction,
          statements,
          keys,
          change,
          now,
          progress,
        });
        borrowed.giveBack();
        return outcome;
      } catch (error) {
        borrowed.drop();
        throw error;
      }
    };
    return await calls.call(
      async () => {
        try {
          return await withTable(transact, createTable);
        } catch (error) {
          if (isConflict(error)) return { kind: 'conflict' as const, error };
          throw error;
        }
      },
      (error) => {
        progress.isOver = true;
        // PostgreSQL rolls back what was not committed.
        lent?.drop();
        return transactionFailed(error, progress);
      },
    );
  }

  return {
    waitsForSweep: false,
    async transact(keys, change) {
      for (let tried = 1; ; tried++) {
        const outcome = await attempt(keys, change);
        if (outcome.kind !== 'conflict') return outcome;
        if (tried === maxAttempts) throw storeConflict(redactDatabaseError(outcome.error));
        await pause(backoffDelay(tried, backoff, Math.random));
      }
    },
    query: (text, values) =>
      calls.call(
        () => withTable(() => pool.query(text, values), createTable),
        (error) => nothingWritten(redactDatabaseError(error)),
      ),
    sweep: (at) =>
      calls.call(
        async () => rowCountOf(await pool.query(statements.sweep, [at])),
        (error) => nothingWritten(redactDatabaseError(error)),
      ),
  };
}

interface LentClient {
  readonly client: PgPoolClient;
  giveBack(): void;
  /** Ends the connection. */
  drop(): void;
}

async function borrow(pool: PgPool, progress: Progress): Promise<LentClient> {
  const client = await pool.connect();
  // Without a listener, the end of the connection would end the process.
  const ignore = () => {};
  client.on('error', ignore);
  let isReleased = false;
  const release = (destroy: boolean) => {
    if (isReleased) return;
    isReleased = true;
    client.release(destroy);
    if (!destroy) client.removeListener('error', ignore);
  };
  const lent = { client, giveBack: () => release(false), drop: () => release(true) };
  if (progress.isOver) {
    lent.giveBack();
    throw new Error('The time limit is over.');
  }
  const status = client.getTransactionStatus?.() ?? 'I';
  if (status !== 'I') {
    lent.drop();
    throw new Error('The pool lent a client that was in a transaction: it was given back too early.');
  }
  return lent;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
