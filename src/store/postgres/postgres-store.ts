import { callback, defineOptions, type OptionTable, optional, value } from '../../internal/options.ts';
import { afterAnyKey, rowToStoredRecord } from '../apply-change.ts';
import { engineStore } from '../engine-store.ts';
import { type StoreCallOptions, storeCallRows } from '../limited-calls.ts';
import type { RecordStore } from '../record-store.ts';
import { withUserTransaction } from '../user-transaction.ts';
import { clientConnection } from './client-connection.ts';
import { checkClient, isPool, type PgClient, type PgPool, toResult } from './pg-client.ts';
import { poolConnection } from './pool-connection.ts';
import { checkName, defaultTable, statementsFor, sweepLimit } from './statements.ts';

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions extends StoreCallOptions {
  /**
   * Your pool of pg, or a client in an open transaction of yours: then the changes are part of that, and its table must
   * exist. Use the client for nothing else at the same time. You end it.
   */
  client: PgPool | PgClient;
  /** Its table, made when it is missing. @default 'partner_exchange_records' */
  table?: string | undefined;
  /** The schema of the table; it must exist. @default the first schema of the search path */
  schema?: string | undefined;
  /** Milliseconds since 1970; decides what has expired. @default Date.now */
  now?: (() => number) | undefined;
}

const readOptions = defineOptions('postgresStore', {
  client: checkClient,
  table: value(checkName, { default: defaultTable }),
  schema: optional(checkName),
  now: callback({ default: Date.now }),
  ...storeCallRows,
} satisfies OptionTable<PostgresStoreOptions>);

const sweepEveryMs = 1_000;

/**
 * A record store in a table of your PostgreSQL: many processes and machines may use it.
 *
 * With a client in a transaction of your own, READ COMMITTED, the records are committed or rolled back with it, and
 * no other process can change them until then. If the change throws, your transaction can go on.
 *
 * @throws {ConfigurationError} `invalid_option`, from each call if the client has no such transaction
 * @example
 * ```ts
 * const store = postgresStore({ client: pool });
 *
 * // Part of your own transaction:
 * const client = await pool.connect();
 * await client.query('BEGIN');
 * await postgresStore({ client }).transact(['sent/1'], (records) => records.set('sent/1', true));
 * await client.query('COMMIT');
 * ```
 */
export function postgresStore(options: PostgresStoreOptions): RecordStore {
  const { client, table, schema, now, storeTimeoutMs } = readOptions(options);
  const statements = statementsFor({ schema, table });
  const connection = isPool(client)
    ? poolConnection(client, { statements, now, storeTimeoutMs })
    : clientConnection(client, { statements, now });
  let sweepAt = Number.NEGATIVE_INFINITY;

  const store = engineStore({
    async transact(keys, change) {
      const outcome = await connection.transact(keys, change);
      if (outcome.kind === 'threw') throw outcome.error;
      return outcome.result;
    },

    async list({ prefix, after = '', limit }) {
      const values = [prefix, `${prefix}${afterAnyKey}`, after, now(), limit];
      return toResult(await connection.query(statements.list, values)).rows.map(rowToStoredRecord);
    },

    async tidy() {
      if (connection.userTransaction !== undefined || performance.now() < sweepAt) return;
      sweepAt = Number.POSITIVE_INFINITY;
      // The next sweep deletes what this one could not.
      const swept = await connection.query(statements.sweep, [now()]).catch(() => undefined);
      const isMore = swept !== undefined && toResult(swept).rowCount === sweepLimit;
      sweepAt = isMore ? Number.NEGATIVE_INFINITY : performance.now() + sweepEveryMs;
    },
  });
  const { userTransaction } = connection;
  return userTransaction === undefined ? store : withUserTransaction(store, userTransaction);
}
