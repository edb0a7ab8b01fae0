import { StoreError } from '../../errors/errors.ts';
import { type AppliedChange, afterAnyKey, applyChange, rowToStoredRecord } from '../apply-change.ts';
import type { ListRecordsOptions, RecordSet, StoredRecord } from '../record-store.ts';

/** The parts of a `DatabaseSync` of `node:sqlite` that we use. */
export interface SqliteDatabase {
  /** Whether a transaction is open (Node 22.16 or later). */
  readonly isTransaction: boolean;
  /** Runs statements. */
  exec(sql: string): void;
  /** Prepares one statement. */
  prepare(sql: string): SqliteStatement;
}

/** The parts of a prepared statement of `node:sqlite` that we use. */
export interface SqliteStatement {
  /** The first row. */
  get(...parameters: (string | number)[]): Record<string, unknown> | undefined;
  /** All rows. */
  all(parameters: Record<string, string | number>): Record<string, unknown>[];
  /** Runs it without a result. */
  run(...parameters: (string | number | null)[]): unknown;
}

/**
 * After this many pages (16 MB) a commit moves the `-wal` into the file. Moving waits for the disk, so seldom is
 * cheaper.
 */
const checkpointPages = 4_000;

export const recordTable = `
  CREATE TABLE IF NOT EXISTS partner_records (
    key TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL,
    expires_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS partner_records_expiry ON partner_records (expires_at) WHERE expires_at IS NOT NULL;
  PRAGMA wal_autocheckpoint = ${checkpointPages};
`;

const isLive = '(expires_at IS NULL OR expires_at >';

/** None reads more records than it returns, however many there are: each finds its rows by an index. */
export const recordStatements = {
  read: `SELECT value FROM partner_records WHERE key = ? AND ${isLive} ?)`,
  write:
    'INSERT INTO partner_records VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at',
  remove: 'DELETE FROM partner_records WHERE key = ?',
  list: `
    SELECT key, value, expires_at FROM partner_records
    WHERE key >= :from AND key < :end AND key > :after AND ${isLive} :now) ORDER BY key LIMIT :limit`,
  sweep: `
    DELETE FROM partner_records WHERE key IN
      (SELECT key FROM partner_records WHERE expires_at <= ? LIMIT ?)`,
} as const;

export type RecordStatements = ReturnType<typeof prepareStatements>;

export function prepareStatements(database: SqliteDatabase) {
  const { read, write, remove, list } = recordStatements;
  return {
    read: database.prepare(read),
    write: database.prepare(write),
    remove: database.prepare(remove),
    list: database.prepare(list),
  };
}

/** Changes records in the open transaction. Returns what the change threw, so that it is not taken for an error of SQLite. */
export function changeRecords<Result>(
  statements: RecordStatements,
  { keys, change, at }: { keys: readonly string[]; change: (records: RecordSet) => Result; at: number },
): { readonly result: Result } | { readonly error: unknown } {
  const stored = new Map<string, string>();
  for (const key of keys) {
    const row = statements.read.get(key, at);
    if (row !== undefined) stored.set(key, String(row.value));
  }
  let applied: AppliedChange<Result>;
  try {
    applied = applyChange(keys, stored, change);
  } catch (error) {
    return { error };
  }
  for (const [key, record] of applied.writes) {
    if (record === undefined) statements.remove.run(key);
    else statements.write.run(key, record.text, record.expiresAt ?? null);
  }
  return { result: applied.result };
}

export function listRecords(
  statements: RecordStatements,
  { prefix, after = '', limit }: ListRecordsOptions,
  at: number,
): StoredRecord[] {
  // SQLite begins at one bound, and reads every record up to the other.
  const bounds = { from: after > prefix ? after : prefix, end: `${prefix}${afterAnyKey}`, after };
  return statements.list.all({ ...bounds, now: at, limit }).map(rowToStoredRecord);
}

export function withStoreErrors<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    return throwStoreError(error);
  }
}

export function throwStoreError(error: unknown): never {
  if (error instanceof StoreError) throw error;
  if (isBusy(error)) {
    const message = 'Another process kept the file of the record store locked; nothing was written.';
    throw new StoreError('store_conflict', message, { cause: error });
  }
  if (isFull(error)) {
    const message = 'The disk of the record store is full; nothing was written.';
    throw new StoreError('disk_full', message, { cause: error });
  }
  throw new StoreError('store_failed', 'The file of the record store cannot be used now.', { cause: error });
}

/** SQLITE_BUSY and its extended codes: another process kept the file locked. */
export function isBusy(error: unknown): boolean {
  return errorCode(error) === 5;
}

/** SQLITE_FULL: the disk or the file is full. */
export function isFull(error: unknown): boolean {
  return errorCode(error) === 13;
}

function errorCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return undefined;
  return error.errcode & 0xff;
}
