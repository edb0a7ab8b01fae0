import { invalidOption } from '../../internal/options.ts';
import { engineStore } from '../engine-store.ts';
import type { RecordSet, RecordStore } from '../record-store.ts';
import { withUserTransaction } from '../user-transaction.ts';
import {
  changeRecords,
  listRecords,
  prepareStatements,
  type SqliteDatabase,
  withStoreErrors,
} from './record-table.ts';

/** @throws {ConfigurationError} `invalid_option` */
export function checkDatabase(given: unknown): SqliteDatabase {
  // Sound as far as it can be: of a function only its being one can be checked.
  const database = given as SqliteDatabase | undefined;
  if (typeof database?.exec === 'function' && typeof database.isTransaction === 'boolean') return database;
  throw invalidOption('database must be a DatabaseSync of node:sqlite, of Node 22.16 or later.');
}

const savepoint = {
  begin: 'SAVEPOINT partner_exchange',
  commit: 'RELEASE partner_exchange',
  rollback: 'ROLLBACK TO partner_exchange; RELEASE partner_exchange',
};

/** Uses a connection of the user's, in its open transaction. It makes no table. */
export function databaseStore(database: SqliteDatabase, now: () => number): RecordStore {
  /** @throws {ConfigurationError} `invalid_option` */
  function checkTransaction(): void {
    if (!database.isTransaction)
      throw invalidOption(
        'sqliteStore needs a database with an open transaction.',
        'Begin it, or give a path.',
      );
  }

  function transactNow<Result>(keys: readonly string[], change: (records: RecordSet) => Result) {
    // There may be personal data in what it deletes: it must not stay in freed pages.
    database.exec(`PRAGMA secure_delete = ON; ${savepoint.begin}`);
    try {
      const outcome = changeRecords(prepareStatements(database), { keys, change, at: now() });
      database.exec('error' in outcome ? savepoint.rollback : savepoint.commit);
      return outcome;
    } catch (error) {
      // A full disk has rolled back by itself.
      if (database.isTransaction) database.exec(savepoint.rollback);
      throw error;
    }
  }

  const store = engineStore({
    async transact(keys, change) {
      checkTransaction();
      const outcome = withStoreErrors(() => transactNow(keys, change));
      if ('error' in outcome) throw outcome.error;
      return outcome.result;
    },
    async list(listOptions) {
      checkTransaction();
      return withStoreErrors(() => listRecords(prepareStatements(database), listOptions, now()));
    },
  });
  return withUserTransaction(store, {
    async fail() {
      if (database.isTransaction) database.exec('ROLLBACK');
    },
  });
}
