import {
  callback,
  defineOptions,
  integer,
  invalidOption,
  type OptionTable,
  optional,
  type Settings,
} from '../../internal/options.ts';
import { withoutBatches } from '../batches.ts';
import { engineStore } from '../engine-store.ts';
import { expiryGraceMs, type RecordStore } from '../record-store.ts';
import { checkDatabase, databaseStore } from './database-store.ts';
import {
  changeRecords,
  listRecords,
  type SqliteDatabase,
  throwStoreError,
  withStoreErrors,
} from './record-table.ts';
import { checkDatabasePath, openDatabase, readWhenFree } from './sqlite-database.ts';

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /**
   * The database file, on a local disk (not on a network share). Several processes of one user may share it. It is made
   * with mode 0600. A symbolic link, and a file that others can read or own, is refused. Either this or `database`.
   */
  path?: string | undefined;
  /**
   * Your own connection to a file that a store with `path`, or `sqliteInbox`, has opened before, in an open transaction of
   * yours, which the changes are part of: begin it with `BEGIN IMMEDIATE`. Use it for nothing else meanwhile, and keep the
   * transaction short, since nothing else can be written to the file. The store sets `PRAGMA secure_delete = ON`. You
   * close it. The options but `now` have no effect on it.
   */
  database?: SqliteDatabase | undefined;
  /**
   * Milliseconds for which a change waits while another process writes. The event loop goes on meanwhile; it only stops
   * if tables have to be made when the file is opened.
   *
   * @default 5000
   */
  busyTimeoutMs?: number | undefined;
  /** Milliseconds since 1970; decides what has expired. @default Date.now */
  now?: (() => number) | undefined;
}

const rows = {
  path: optional((given) => checkDatabasePath('sqliteStore', given)),
  database: optional(checkDatabase),
  busyTimeoutMs: integer({ default: 5_000, most: 60_000 }),
  now: callback({ default: Date.now }),
} satisfies OptionTable<SqliteStoreOptions>;
const readOptions = defineOptions('sqliteStore', rows);

/** Few enough at once that no change waits for long. */
const sweepEveryMs = 1_000;
const sweepLimit = 200;

/**
 * A record store in one file. A change is on disk when its promise resolves; changes that are asked for together share
 * the wait for the disk. For many machines use the stores for Redis and PostgreSQL.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @throws {StoreError} `store_failed` when the file cannot be opened
 * @example
 * ```ts
 * const store = sqliteStore({ path: 'records.sqlite' });
 * const journal = createOrderJournal({ exchange, store });
 *
 * // Part of your own transaction on the same file:
 * database.exec('BEGIN IMMEDIATE');
 * await sqliteStore({ database }).transact(['sent/1'], (records) => records.set('sent/1', true));
 * database.exec('COMMIT');
 * ```
 */
export function sqliteStore(options: SqliteStoreOptions): RecordStore {
  const { path, database, ...settings } = readOptions(options);
  if (path !== undefined && database === undefined) return openSqliteStore(path, settings);
  if (database === undefined || path !== undefined)
    throw invalidOption('sqliteStore needs either a path or a database.');
  return databaseStore(database, settings.now);
}

/** @throws {StoreError} `store_failed` */
function openSqliteStore(
  path: string,
  { busyTimeoutMs, now }: Pick<Settings<typeof rows>, 'busyTimeoutMs' | 'now'>,
) {
  const opened = withStoreErrors(() => openDatabase(path, busyTimeoutMs));
  const { statements, file, write } = opened;
  let sweepAt = Number.NEGATIVE_INFINITY;

  function sweep(at: number): void {
    if (performance.now() < sweepAt) return;
    const { changes } = statements.sweep.run(at - expiryGraceMs, sweepLimit);
    sweepAt = Number(changes) === sweepLimit ? Number.NEGATIVE_INFINITY : performance.now() + sweepEveryMs;
  }

  const store = engineStore({
    async transact(keys, change) {
      const outcome = await write(() => {
        const at = now();
        const changed = changeRecords(statements, { keys, change, at });
        sweep(at);
        return changed;
      }).catch(throwStoreError);
      if ('error' in outcome) throw outcome.error;
      return outcome.result;
    },

    list: (listOptions) =>
      readWhenFree(() => {
        file.check();
        return listRecords(statements, listOptions, now());
      }, busyTimeoutMs).catch(throwStoreError),

    close: () => withStoreErrors(opened.close),
  });
  return withoutBatches(store);
}
