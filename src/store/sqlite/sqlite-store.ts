import type { DatabaseSync } from 'node:sqlite';
import { type ErrorDetails, StoreError } from '../../errors/errors.ts';
import { callback, defineOptions, integer, type OptionTable } from '../../internal/options.ts';
import { isBusy, readWhenFree } from '../../internal/sqlite-busy.ts';
import { checkDatabasePath, groupCommit, openDatabase } from '../../internal/sqlite-database.ts';
import {
  afterAnyKey,
  applyChange,
  checkListOptions,
  checkRecordKeys,
  rowToStoredRecord,
} from '../apply-change.ts';
import { openWork } from '../key-queue.ts';
import { expiryGraceMs, type RecordStore } from '../record-store.ts';

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /**
   * The database file, on a local disk (not on a network share). Several processes of one user may share it. It is made
   * with mode 0600, and an existing file that others can read is changed to that. A file of another user is refused.
   */
  path: string;
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

const readOptions = defineOptions('sqliteStore', {
  path: (given) => checkDatabasePath('sqliteStore', given),
  busyTimeoutMs: integer({ default: 5_000, most: 60_000 }),
  now: callback({ default: Date.now }),
} satisfies OptionTable<SqliteStoreOptions>);

const schema = `
  CREATE TABLE IF NOT EXISTS partner_records (
    key TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL,
    expires_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS partner_records_expiry ON partner_records (expires_at) WHERE expires_at IS NOT NULL;
`;

/** So many at once that no change waits for long. */
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
 * ```
 */
export function sqliteStore(options: SqliteStoreOptions): RecordStore {
  const { path, busyTimeoutMs, now } = readOptions(options);
  const prepare = (database: DatabaseSync) => database.exec(schema);
  const { database, file, close } = withStoreErrors(() =>
    openDatabase({ path, busyTimeoutMs, prepare, fail: storeFailed }),
  );
  const write = groupCommit(database, { busyTimeoutMs, afterCommit: () => file.check() });
  const statements = prepareStatements(database);
  let sweepAt = Number.NEGATIVE_INFINITY;
  const work = openWork();
  let closing: Promise<void> | undefined;

  function sweep(at: number): void {
    if (performance.now() < sweepAt) return;
    const { changes } = statements.sweep.run(at - expiryGraceMs, sweepLimit);
    sweepAt = Number(changes) === sweepLimit ? Number.NEGATIVE_INFINITY : performance.now() + sweepEveryMs;
  }

  return {
    transact: (keys, change) =>
      work.run(async () => {
        const checked = checkRecordKeys(keys);
        const outcome = await write(() => {
          const at = now();
          const found = new Map<string, string>();
          for (const key of checked) {
            const row = statements.read.get(key, at);
            if (row !== undefined) found.set(key, String(row.value));
          }
          // Caught here, so that the others of the transaction need not begin again.
          const applied = attempt(() => applyChange(checked, found, change));
          if ('error' in applied) return applied;
          for (const [key, record] of applied.value.writes) {
            if (record === undefined) statements.remove.run(key);
            else statements.write.run(key, record.text, record.expiresAt ?? null);
          }
          sweep(at);
          return applied;
        }).catch(throwStoreError);
        if ('error' in outcome) throw outcome.error;
        return outcome.value.result;
      }),

    list: (listOptions) =>
      work.run(async () => {
        const { prefix, after = '', limit } = checkListOptions(listOptions);
        return await readWhenFree(() => {
          file.check();
          const rows = statements.list.all({
            prefix,
            end: `${prefix}${afterAnyKey}`,
            after,
            now: now(),
            limit,
          });
          return rows.map(rowToStoredRecord);
        }, busyTimeoutMs).catch(throwStoreError);
      }),

    close() {
      closing ??= work.close().then(close);
      return closing;
    },
  };
}

function prepareStatements(database: DatabaseSync) {
  const live = '(expires_at IS NULL OR expires_at > ';
  return {
    read: database.prepare(`SELECT value FROM partner_records WHERE key = ? AND ${live} ?)`),
    write: database.prepare(
      'INSERT INTO partner_records VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at',
    ),
    remove: database.prepare('DELETE FROM partner_records WHERE key = ?'),
    list: database.prepare(`
      SELECT key, value, expires_at FROM partner_records
      WHERE key >= :prefix AND key < :end AND key > :after AND ${live} :now) ORDER BY key LIMIT :limit`),
    sweep: database.prepare(`
      DELETE FROM partner_records WHERE key IN
        (SELECT key FROM partner_records WHERE expires_at <= ? LIMIT ?)`),
  };
}

function attempt<Value>(work: () => Value): { readonly value: Value } | { readonly error: unknown } {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

function withStoreErrors<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    return throwStoreError(error);
  }
}

function throwStoreError(error: unknown): never {
  if (error instanceof StoreError) throw error;
  if (isBusy(error)) {
    const message = 'Another process kept the file of the record store locked; nothing was written.';
    throw new StoreError('store_conflict', message, { cause: error });
  }
  throw storeFailed('The file of the record store cannot be used now.', { cause: error });
}

function storeFailed(what: string, details?: ErrorDetails): StoreError {
  return new StoreError('store_failed', what, details);
}
