import { isPartnerExchangeError } from '../../errors/errors.ts';
import { driverError } from '../../internal/driver-error.ts';
import { invalidOption } from '../../internal/options.ts';
import { type KeyQueue, keyQueue } from '../key-queue.ts';
import { nothingWritten, storeConflict } from '../limited-calls.ts';
import { type PgClient, toResult } from './pg-client.ts';
import { beginTransaction, type Connection, type ConnectionOptions, isConflict } from './transaction.ts';

const savepoint = {
  begin: 'SAVEPOINT partner_exchange',
  commit: 'RELEASE SAVEPOINT partner_exchange',
  rollback: 'ROLLBACK TO SAVEPOINT partner_exchange; RELEASE SAVEPOINT partner_exchange',
};

/**
 * Uses one client of the user's, in its open transaction. It makes no table there, which would hold back everybody who
 * needs it. It has no time limit, which could only be kept by ending the connection.
 */
export function clientConnection(client: PgClient, { statements, now }: ConnectionOptions): Connection {
  /** Runs queries within a savepoint: without it, one that fails would fail the user's transaction. */
  function inTransaction<Result>(work: () => Promise<Result>): Promise<Result> {
    return queueOf(client)(['client'], async () => {
      try {
        await checkTransaction(client);
        try {
          return await work();
        } catch (error) {
          // If this fails too, PostgreSQL rolls back with the connection.
          await client.query(savepoint.rollback).catch(() => {});
          throw error;
        }
      } catch (error) {
        if (isPartnerExchangeError(error)) throw error;
        // Only the user can commit the user's transaction.
        throw (isConflict(error) ? storeConflict : nothingWritten)(driverError(error));
      }
    });
  }

  return {
    transact: (keys, change) =>
      inTransaction(
        () => beginTransaction(client, { frame: savepoint, statements, keys, change, now }).outcome,
      ),
    query: (text, values) =>
      inTransaction(async () => {
        await client.query(savepoint.begin);
        const result = await client.query(text, values);
        await client.query(savepoint.commit);
        return result;
      }),
    userTransaction: {
      // Every statement that fails makes PostgreSQL refuse all others, and roll back at COMMIT.
      fail: () => queueOf(client)(['client'], () => client.query('SELECT 1 / 0').then(undefined, () => {})),
    },
  };
}

/**
 * PostgreSQL is asked, since the client may not know yet of a BEGIN that it has sent.
 *
 * @throws {ConfigurationError} `invalid_option`
 */
async function checkTransaction(client: PgClient): Promise<void> {
  const result = await client.query(`SELECT current_setting('transaction_isolation') AS isolation`);
  if (client.getTransactionStatus() === 'I')
    throw invalidOption(
      'postgresStore needs a client with an open transaction.',
      'Begin it, or give a Pool.',
    );
  if (toResult(result).rows[0]?.isolation === 'read committed') return;
  throw invalidOption(
    'The transaction of the client must be READ COMMITTED: others do not see what was committed since they began.',
  );
}

/** Several stores may use one client: its transactions must not run into each other. */
const queues = new WeakMap<PgClient, KeyQueue>();

function queueOf(client: PgClient): KeyQueue {
  const queue = queues.get(client) ?? keyQueue();
  queues.set(client, queue);
  return queue;
}
