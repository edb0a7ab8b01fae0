import type { Stats } from 'node:fs';
import { codeOf } from '../../errors/errors.ts';

type FileSystem = typeof import('node:fs');

/** Makes the error that the owner of the file throws. */
export type MakeFileError = (what: string, details?: { remedy?: string; cause?: unknown }) => Error;

/** A database file that only its owner can read, and that stays the same file while it is open. */
export type PrivateFile = ReturnType<typeof openPrivateFile>;

/**
 * Makes a file for SQLite to open, or sets the mode of the existing one to 0600. SQLite gives the `-wal` and `-shm` the
 * mode of the file, whatever the umask is; those that a crash left behind get their mode here.
 *
 * @throws what `fail` makes, before anything is changed, if one of them is not a file or belongs to another user, or if
 *   the mode of a file would be changed that is no database; and if others can read it and that cannot be changed
 */
export function openPrivateFile(path: string, fail: MakeFileError) {
  // Looked up, not imported: this module also loads where there are no files.
  const fs = process.getBuiltinModule('node:fs');
  createFile(path, { fs, fail });
  if (isForeignLink(fs.lstatSync(path))) {
    throw fail('The path of the database is a symbolic link of another user.', {
      remedy: 'Give the path of a file of your own.',
    });
  }
  const realPath = fs.realpathSync(path);
  const files = ['', ...companions, '-journal'].map((suffix) => ({ suffix, path: realPath + suffix }));
  const found = files.filter((file) => {
    const stats = fs.lstatSync(file.path, { throwIfNoEntry: false });
    if (stats !== undefined) checkFile(stats, file.suffix, fail);
    return stats !== undefined;
  });
  if (found.some((file) => isExposed(fs.lstatSync(file.path)))) checkContent(realPath, { fs, fail });
  for (const file of found) restrictToOwner(file, { fs, fail });
  const watched = [identify(path, fs)];
  return {
    /** Without symbolic links, as SQLite names the files beside it. */
    path: realPath,
    /** From now on the `-wal` and `-shm` must stay the same files too. Call it once SQLite has made them. */
    watchCompanions(): void {
      watched.push(...companions.map((suffix) => identify(realPath + suffix, fs)));
    },
    /**
     * SQLite keeps writing into a file that was deleted, and what it commits there is lost.
     *
     * @throws what `fail` makes, when one of the files was deleted or replaced
     */
    check(): void {
      if (watched.every(({ path, id }) => identify(path, fs).id === id)) return;
      throw fail('The database file was deleted or replaced while it was open.', {
        remedy: 'Restart to open the one that is there now.',
      });
    },
  };
}

/** The files that SQLite keeps beside a database in WAL mode while any process has it open. */
const companions = ['-wal', '-shm'];

/**
 * Only if there is none: opening and closing a file that SQLite has open in this process would release SQLite's locks
 * on it.
 */
function createFile(path: string, { fs, fail }: { fs: FileSystem; fail: MakeFileError }): void {
  try {
    fs.closeSync(fs.openSync(path, 'wx', 0o600));
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return;
    if (code === 'ENOENT') {
      throw fail('The folder of the database file does not exist.', {
        remedy: 'Make it, or correct the path.',
        cause: error,
      });
    }
    // A database that is there can still be read.
    if (code === 'EROFS' && fs.existsSync(path)) return;
    if (code === 'EROFS') {
      throw fail('The database file cannot be made: its file system is read-only.', {
        remedy: 'Give a path on another one.',
        cause: error,
      });
    }
    throw error;
  }
}

/** A file that another user has put there would become part of the database. */
function checkFile(stats: Stats, suffix: string, fail: MakeFileError): void {
  const name = suffix === '' ? 'The path of the database' : `The path of the database with "${suffix}"`;
  switch (firstFlaw(stats, ['not-a-file', 'foreign', 'hard-linked'])) {
    case 'not-a-file':
      throw fail(`${name} is not that of a file.`, { remedy: 'Give the path of a file of your own.' });
    case 'foreign':
      throw fail(`${name} is that of a file of another user.`, {
        remedy: 'Run as its owner, or give the path of a file of your own.',
      });
    case 'hard-linked':
      throw fail(`${name} is that of a file with several names (hard links).`, {
        remedy: 'Copy it, and use the copy.',
      });
  }
}

/** The first bytes of every SQLite database that is not empty. */
export const databaseHeader = 'SQLite format 3\0';

/** A path given by mistake may lead to any file of this user: the mode of another kind of file is not ours to change. */
function checkContent(path: string, { fs, fail }: { fs: FileSystem; fail: MakeFileError }): void {
  // Left open: see restrictToOwner.
  const descriptor = openToRead(path, fs);
  checkFile(fs.fstatSync(descriptor), '', fail);
  const start = Buffer.alloc(databaseHeader.length);
  const length = fs.readSync(descriptor, start, 0, start.length, 0);
  if (length === 0 || start.toString('latin1') === databaseHeader) return;
  throw fail(
    'The path of the database leads to a file that is no SQLite database, and that was not changed.',
    {
      remedy: 'Give the path of a database, or of a new file.',
    },
  );
}

/** Changes the mode of an open descriptor, so that no other file can take the place of the checked one in between. */
function restrictToOwner(
  { path, suffix }: { path: string; suffix: string },
  { fs, fail }: { fs: FileSystem; fail: MakeFileError },
): void {
  // SQLite removes the -wal and -shm when the last process closes the database.
  const stats = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !isExposed(stats)) return;
  let cause: unknown;
  try {
    // Left open: closing it would release the locks that SQLite may have on it in this process.
    const descriptor = openToRead(path, fs);
    checkFile(fs.fstatSync(descriptor), suffix, fail);
    fs.fchmodSync(descriptor, 0o600);
    if (!isExposed(fs.fstatSync(descriptor))) return;
  } catch (error) {
    cause = error;
  }
  throw fail('Other users may read the database file, and that cannot be changed.', {
    remedy: 'Set its mode to 0600.',
    cause,
  });
}

function isExposed(stats: Stats): boolean {
  return firstFlaw(stats, ['exposed']) !== undefined;
}

/** Identifies the file at a path. */
function identify(path: string, fs: FileSystem): { readonly path: string; readonly id: string | undefined } {
  // As bigint: on Windows a file's number does not fit into a double.
  const stats = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
  return { path, id: stats && `${stats.dev}:${stats.ino}` };
}

/** The reasons why a file does not belong to this user alone. */
const flaws = {
  'not-a-file': (stats: Stats) => !stats.isFile(),
  foreign: (stats: Stats) => !isOwn(stats),
  'hard-linked': ({ nlink }: Stats) => nlink > 1,
  /** Other users can read or write it. Windows has no such modes: there the permissions of the folder count. */
  exposed: ({ mode }: Stats) => process.platform !== 'win32' && (mode & 0o077) !== 0,
};

/** The first of these flaws that a file has. */
export function firstFlaw<Flaw extends keyof typeof flaws>(
  stats: Stats,
  among: readonly Flaw[],
): Flaw | undefined {
  return among.find((flaw) => flaws[flaw](stats));
}

/** Whether it is a symbolic link that another user has planted: it may lead to any file. Root may do anything anyway. */
export function isForeignLink(stats: Stats): boolean {
  return stats.isSymbolicLink() && !isOwn(stats) && stats.uid !== 0;
}

/** Opens without waiting for a writer, as a FIFO would have us do, and without following a symbolic link. */
export function openToRead(path: string, fs: Pick<FileSystem, 'constants' | 'openSync'>): number {
  // Windows has neither of the two flags.
  const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = fs.constants;
  return fs.openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
}

/** Windows has no such owners. Deno tells the user only if it is allowed to. */
function isOwn({ uid }: Stats): boolean {
  try {
    return process.geteuid === undefined || uid === process.geteuid();
  } catch {
    return true;
  }
}
