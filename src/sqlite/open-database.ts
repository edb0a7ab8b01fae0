import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { invalidOption } from '../options/check-values.ts';
import { type FileError, openPrivateFile, type PrivateFile } from './private-file.ts';

export interface OpenDatabase {
  readonly database: DatabaseSync;
  readonly file: PrivateFile;
}

/**
 * Opens a database file that only its owner can read. Every commit waits until it is on disk, and what is deleted does
 * not stay in freed pages.
 *
 * @param options.prepare makes what is missing in it
 * @throws what `fail` makes, or SQLite's own error
 */
export function openDatabase(options: {
  readonly path: string;
  /** Milliseconds to wait for another process that writes. */
  readonly busyTimeoutMs: number;
  readonly prepare: (database: DatabaseSync) => void;
  readonly fail: FileError;
}): OpenDatabase {
  const file = openPrivateFile(options.path, options.fail);
  const database = new DatabaseSync(file.path);
  database.exec(`PRAGMA busy_timeout = ${options.busyTimeoutMs};`);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  // There may be personal data in it: it must not stay in freed pages or go into temporary files.
  database.exec('PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;');
  options.prepare(database);
  file.watchCompanions();
  file.check();
  return { database, file };
}

/**
 * The whole path of a database file. Some names have another meaning to SQLite, and what it stores under them is lost
 * with the process.
 *
 * @throws {ConfigurationError} `invalid_option`
 */
export function checkDatabasePath(owner: string, path: unknown): string {
  if (typeof path !== 'string' || path === '') throw invalidOption(`${owner} needs a path.`);
  if (path !== ':memory:' && !/^file:/i.test(path)) return resolve(path);
  throw invalidOption(`The path of ${owner} must be that of a file, not a URI and not :memory:.`);
}
