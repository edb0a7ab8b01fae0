import { isPartnerExchangeError } from '../../errors/errors.ts';
import { driverError } from '../../internal/driver-error.ts';
import { invalidOption } from '../../internal/options.ts';
import { nothingWritten, storeConflict } from '../engine-calls.ts';
import { type KeyQueue, keyQueue } from '../key-queue.ts';
import type { RecordSet } from '../record-store.ts';
import { type PgClient, rowCountOf, rowsOf } from './pg-client.ts';
import {
  beginTransaction,
  type Connection,
  type ConnectionOptions,
  isConflict,
  ownTransaction,
  savepoint,
  type Transaction,
  type TransactionOutcome,
  transactionFailed,
  withTable,
} from './transaction.ts';

/**
 * Uses one client of the user's: in its transaction, otherwise each change in its own. A time limit could only be
 * kept by ending the connection, so there is none.
 */
export function clientConnection(client: PgClient, { statements, now }: ConnectionOptions): Connection {
  const inTurn = <Result>(work: () => Promise<Result>) => queueOf(client)(['client'], work);
  const createTable = () => client.query(statements.create);

  /**
   * The isolation of the user's transaction; `undefined` without one. PostgreSQL is asked, since the client may not
   * know yet of a BEGIN that it has sent.
   */
  async function findIsolation(): Promise<unknown> {
    const result = await client.query(`SELECT current_setting('transaction_isolation') AS isolation`);
    return client.getTransactionStatus() === 'I' ? undefined : rowsOf(result)[0]?.isolation;
  }

  /** @throws {StoreError} also in a transaction of the user's that has failed */
  async function isInTransaction(): Promise<boolean> {
    const isolation = await findIsolation().catch((error) => {
      throw storeErrorOf(error);
    });
    if (isolation === undefined) return false;
    if (isolation === 'read committed') return true;
    throw invalidOption(
      'The transaction of the client must be READ COMMITTED: others do not see what was committed since they began.',
    );
  }

  async function transactNow<Result>(
    keys: readonly string[],
    change: (records: RecordSet) => Result,
  ): Promise<TransactionOutcome<Result>> {
    const inUserTransaction = await isInTransaction();
    const frame = inUserTransaction ? savepoint : ownTransaction;
    let transaction: Transaction | undefined;
    const run = async () => {
      try {
        const begun = beginTransaction(client, { frame, statements, keys, change, now });
        transaction = begun;
        return await begun.outcome;
      } catch (error) {
        // If this fails too, PostgreSQL rolls back with the connection.
        await client.query(frame.rollback).catch(() => {});
        throw error;
      }
    };
    try {
      // A table made in the user's transaction would hold back everybody who needs it.
      return inUserTransaction ? await run() : await withTable(run, createTable);
    } catch (error) {
      // Only the user can commit the user's transaction.
      throw storeErrorOf(error, inUserTransaction ? undefined : transaction);
    }
  }

  return {
    userTransaction: {
      isOpen: () => inTurn(isInTransaction),
      // Every statement that fails makes PostgreSQL refuse all others, and roll back at COMMIT.
      fail: () => inTurn(() => client.query('SELECT 1 / 0').then(undefined, () => {})),
    },
    waitsForSweep: true,
    transact: (keys, change) => inTurn(() => transactNow(keys, change)),
    query: (text, values) =>
      inTurn(async () => {
        try {
          const run = () => client.query(text, values);
          if ((await findIsolation()) === undefined) return await withTable(run, createTable);
          return await inSavepoint(client, run);
        } catch (error) {
          throw nothingWritten(driverError(error));
        }
      }),
    sweep: (at) =>
      inTurn(async () => {
        if (client.getTransactionStatus() !== 'I') return 0;
        return rowCountOf(await client.query(statements.sweep, [at]));
      }),
  };
}

/** Without it, a query that fails would fail the user's transaction. */
async function inSavepoint<Result>(client: PgClient, query: () => Promise<Result>): Promise<Result> {
  await client.query(savepoint.begin);
  try {
    const result = await query();
    await client.query(savepoint.commit);
    return result;
  } catch (error) {
    await client.query(savepoint.rollback).catch(() => {});
    throw error;
  }
}

function storeErrorOf(error: unknown, transaction?: Transaction): unknown {
  if (isPartnerExchangeError(error)) return error;
  if (isConflict(error)) return storeConflict(driverError(error));
  return transactionFailed(error, transaction);
}

/** Several stores may use one client: its transactions must not run into each other. */
const queues = new WeakMap<PgClient, KeyQueue>();

function queueOf(client: PgClient): KeyQueue {
  const queue = queues.get(client) ?? keyQueue();
  queues.set(client, queue);
  return queue;
}
