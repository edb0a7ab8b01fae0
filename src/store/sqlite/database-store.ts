import { invalidOption } from '../../internal/options.ts';
import { checkListOptions, checkRecordKeys } from '../apply-change.ts';
import { openWork } from '../key-queue.ts';
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
  if (typeof database?.exec !== 'function' || typeof database.prepare !== 'function')
    throw invalidOption('database must be a DatabaseSync of node:sqlite.');
  if (typeof database.isTransaction === 'boolean') return database;
  throw invalidOption('sqliteStore({ database }) needs Node 22.16 or later, which tells of transactions.');
}

interface Frame {
  readonly begin: string;
  readonly commit: string;
  readonly rollback: string;
}

const ownTransaction: Frame = { begin: 'BEGIN IMMEDIATE', commit: 'COMMIT', rollback: 'ROLLBACK' };

const savepoint: Frame = {
  begin: 'SAVEPOINT partner_exchange',
  commit: 'RELEASE partner_exchange',
  rollback: 'ROLLBACK TO partner_exchange; RELEASE partner_exchange',
};

/**
 * Uses a connection of the user's: in its transaction, otherwise each change in its own. It makes no table, and waits
 * for other processes as the connection does.
 */
export function databaseStore(database: SqliteDatabase, now: () => number): RecordStore {
  const work = openWork();

  function transactNow<Result>(keys: readonly string[], change: (records: RecordSet) => Result) {
    const frame = database.isTransaction ? savepoint : ownTransaction;
    database.exec(frame.begin);
    try {
      const outcome = changeRecords(prepareStatements(database), { keys, change, at: now() });
      database.exec('error' in outcome ? frame.rollback : frame.commit);
      return outcome;
    } catch (error) {
      // A full disk has rolled back by itself.
      if (database.isTransaction) database.exec(frame.rollback);
      throw error;
    }
  }

  const store: RecordStore = {
    transact: (keys, change) =>
      work.run(async () => {
        const checked = checkRecordKeys(keys);
        const outcome = withStoreErrors(() => {
          // There may be personal data in what it deletes: it must not stay in freed pages.
          database.exec('PRAGMA secure_delete = ON');
          return transactNow(checked, change);
        });
        if ('error' in outcome) throw outcome.error;
        return outcome.result;
      }),

    list: (listOptions) =>
      work.run(async () => {
        const checked = checkListOptions(listOptions);
        return withStoreErrors(() => listRecords(prepareStatements(database), checked, now()));
      }),

    close: () => work.close(),
  };
  return withUserTransaction(store, {
    isOpen: async () => database.isTransaction,
    async fail() {
      if (database.isTransaction) database.exec('ROLLBACK');
    },
  });
}
