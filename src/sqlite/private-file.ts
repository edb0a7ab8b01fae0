import { chmodSync, closeSync, openSync, realpathSync, type Stats, statSync } from 'node:fs';

/** The files that SQLite keeps beside a database in WAL mode while any process has it open. */
const companions = ['-wal', '-shm'];

/** Makes the error that the owner of the file throws. */
export type FileError = (message: string, options?: { cause?: unknown }) => Error;

/** A database file that only its owner can read, and that stays the same file while it is open. */
export interface PrivateFile {
  /** Without symbolic links, as SQLite names the files beside it. */
  readonly path: string;
  /** From now on the `-wal` and `-shm` must stay the same files too. Call it once SQLite has made them. */
  watchCompanions(): void;
  /**
   * SQLite keeps writing into a file that was deleted, and what it commits there is lost.
   *
   * @throws what `fail` makes, when one of the files was deleted or replaced
   */
  check(): void;
}

/**
 * Makes a file for SQLite to open, or sets the mode of the existing one to 0600. SQLite gives the `-wal` and `-shm` the
 * mode of the file, whatever the umask is; those that a crash left behind get their mode here.
 *
 * @throws what `fail` makes, if others can read it and that cannot be changed, or if it is not a file
 */
export function openPrivateFile(path: string, fail: FileError): PrivateFile {
  createFile(path);
  const realPath = realpathSync(path);
  for (const suffix of ['', ...companions]) closeToOthers(realPath + suffix, fail);
  const watched = [identify(path)];
  return {
    path: realPath,
    watchCompanions() {
      watched.push(...companions.map((suffix) => identify(realPath + suffix)));
    },
    check() {
      if (watched.every(({ path, id }) => identify(path).id === id)) return;
      throw fail(
        'The database file was deleted or replaced while it was open. Restart to open the one that is there now.',
      );
    },
  };
}

/**
 * Only if there is none: opening and closing a file that SQLite has open in this process would release SQLite's locks
 * on it.
 */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function closeToOthers(path: string, fail: FileError): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isFile()) throw fail('The path of the database is not that of a file.');
  if (!isOpenToOthers(stats)) return;
  let cause: unknown;
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    cause = error;
  }
  if (isOpenToOthers(statSync(path))) {
    throw fail('Other users may read the database file, and that cannot be changed: set its mode to 0600.', {
      cause,
    });
  }
}

/** Windows has no such modes: there the permissions of the folder count. */
function isOpenToOthers({ mode }: Stats): boolean {
  return process.platform !== 'win32' && (mode & 0o077) !== 0;
}

/** Identifies the file at a path. */
function identify(path: string): { readonly path: string; readonly id: string | undefined } {
  // As bigint: on Windows a file's number does not fit into a double.
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return { path, id: stats && `${stats.dev}:${stats.ino}` };
}
