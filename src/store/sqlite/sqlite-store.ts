import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../errors/store-error.ts';
import { checkNames, type OptionNames } from '../../options/check-names.ts';
import { checkFunction, checkInteger } from '../../options/check-values.ts';
import { groupCommit } from '../../sqlite/group-commit.ts';
import { checkDatabasePath, openDatabase } from '../../sqlite/open-database.ts';
import { applyChange } from '../apply-change.ts';
import { checkKeys, checkListOptions } from '../check-record.ts';
import { expiryGraceMs } from '../expiry-grace.ts';
import { readRecordText } from '../read-record-text.ts';
import type { RecordStore } from '../record-store.ts';

export interface SqliteStoreOptions {
  /**
   * The database file, on a local disk (not on a network share). Several processes of one user may share it. It is made
   * with mode 0600, and an existing file that others can read is changed to that.
   */
  path: string;
  /** Milliseconds to wait for another process that writes; this blocks the event loop. @default 5000 */
  busyTimeoutMs?: number | undefined;
  /** Milliseconds since 1970; decides what has expired. @default Date.now */
  now?: (() => number) | undefined;
}

const names: OptionNames<SqliteStoreOptions> = { path: true, busyTimeoutMs: true, now: true };
const defaults = Object.freeze({ busyTimeoutMs: 5_000, now: Date.now });

const schema = `
  CREATE TABLE IF NOT EXISTS partner_records (
    key TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL,
    expires_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS partner_records_expiry ON partner_records (expires_at) WHERE expires_at IS NOT NULL;
`;

/** How often expired records are deleted, and how many at once: nobody should wait for it. */
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
  checkNames('sqliteStore', options, names);
  const path = checkDatabasePath('sqliteStore', options.path);
  const busyTimeoutMs = checkInteger('busyTimeoutMs', options.busyTimeoutMs ?? defaults.busyTimeoutMs, {
    most: 60_000,
  });
  const now = checkFunction('now', options.now ?? defaults.now);
  const prepare = (database: DatabaseSync) => database.exec(schema);
  const { database, file } = orFail(() => openDatabase({ path, busyTimeoutMs, prepare, fail: failed }));
  const write = groupCommit(database, { afterCommit: file.check });
  const statements = prepareStatements(database);
  let sweepAt = Number.NEGATIVE_INFINITY;
  let closing: Promise<void> | undefined;

  function checkOpen(): void {
    if (closing !== undefined) throw new StoreError('store_closed', 'The record store was closed.');
  }

  function sweep(at: number): void {
    if (performance.now() < sweepAt) return;
    const { changes } = statements.sweep.run(at - expiryGraceMs, sweepLimit);
    sweepAt = Number(changes) === sweepLimit ? Number.NEGATIVE_INFINITY : performance.now() + sweepEveryMs;
  }

  return {
    async transact(keys, change) {
      const checked = checkKeys(keys);
      checkOpen();
      const outcome = await write(() => {
        const at = now();
        const found = new Map<string, string>();
        for (const key of checked) {
          const row = statements.read.get(key, at);
          if (row !== undefined) found.set(key, String(row.value));
        }
        // What a change throws has written nothing, and is no reason to begin the transaction of the others again.
        const applied = attempt(() => applyChange(checked, found, change));
        if ('error' in applied) return applied;
        for (const [key, record] of applied.value.writes) {
          if (record === undefined) statements.remove.run(key);
          else statements.write.run(key, record.text, record.expiresAt ?? null);
        }
        sweep(at);
        return applied;
      }).catch(fail);
      if ('error' in outcome) throw outcome.error;
      return outcome.value.result;
    },

    async list(listOptions) {
      const { prefix, after = '', limit } = checkListOptions(listOptions);
      checkOpen();
      return orFail(() => {
        file.check();
        const rows = statements.list.all({
          prefix,
          end: `${prefix}${afterAnyKey}`,
          after,
          now: now(),
          limit,
        });
        return rows.map(({ key, value, expires_at }) => ({
          key: String(key),
          value: readRecordText(String(value)),
          ...(expires_at !== null && { expiresAt: Number(expires_at) }),
        }));
      });
    },

    close() {
      closing ??= write(() => undefined)
        .catch(() => {})
        .then(() => database.close());
      return closing;
    },
  };
}

/** Sorts after every character of a key. */
const afterAnyKey = '\u007f';

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

/** SQLITE_BUSY */
const busyCode = 5;

function attempt<Value>(work: () => Value): { readonly value: Value } | { readonly error: unknown } {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

function orFail<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    return fail(error);
  }
}

function fail(error: unknown): never {
  if (error instanceof StoreError) throw error;
  if (error instanceof Error && 'errcode' in error && error.errcode === busyCode) {
    throw new StoreError('store_conflict', 'Another process kept the file of the record store locked.', {
      cause: error,
    });
  }
  throw failed('The file of the record store cannot be used now.', { cause: error });
}

function failed(message: string, options?: { cause?: unknown }): StoreError {
  return new StoreError('store_failed', message, options);
}
