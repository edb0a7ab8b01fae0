import type { Stats } from 'node:fs';
import { codeOf, StoreError } from '../../errors/errors.ts';

type FileSystem = typeof import('node:fs');

/** The files that SQLite keeps beside a database in WAL mode while any process has it open. */
const companions = ['-wal', '-shm'];

/**
 * Makes a file of mode 0600 for SQLite to open, or checks the one that is there and those beside it. SQLite gives the
 * `-wal` and `-shm` the mode of the file, whatever the umask is. Nothing that is there is changed.
 *
 * @throws {StoreError} `store_failed` if one of them is not a file of this user alone
 */
export function openPrivateFile(path: string) {
  // Looked up, not imported: this module also loads where there are no files.
  const fs = process.getBuiltinModule('node:fs');
  createFile(path, fs);
  for (const suffix of ['', ...companions, '-journal']) {
    const stats = fs.lstatSync(path + suffix, { throwIfNoEntry: false });
    if (
      stats === undefined ||
      firstFlaw(stats, ['not-a-file', 'foreign', 'hard-linked', 'exposed']) === undefined
    )
      continue;
    const name = suffix === '' ? 'The path of the database' : `The path of the database with "${suffix}"`;
    throw new StoreError('store_failed', `${name} is not that of a file which only this user may read.`, {
      remedy: 'Give the path of a file of your own, of mode 0600, and not that of a link.',
    });
  }
  const watched = [identify(path, fs)];
  return {
    /** From now on the `-wal` and `-shm` must stay the same files too. Call it once SQLite has made them. */
    watchCompanions(): void {
      watched.push(...companions.map((suffix) => identify(path + suffix, fs)));
    },
    /**
     * SQLite keeps writing into a file that was deleted, and what it commits there is lost.
     *
     * @throws {StoreError} `store_failed` when one of the files was deleted or replaced
     */
    check(): void {
      if (watched.every(({ path, id }) => identify(path, fs).id === id)) return;
      throw new StoreError('store_failed', 'The database file was deleted or replaced while it was open.', {
        remedy: 'Restart to open the one that is there now.',
      });
    },
  };
}

/**
 * Makes a missing file only: opening and closing a file that SQLite has open in this process would release SQLite's locks
 * on it.
 */
function createFile(path: string, fs: FileSystem): void {
  try {
    fs.closeSync(fs.openSync(path, 'wx', 0o600));
  } catch (cause) {
    const code = codeOf(cause);
    // A database on a read-only file system can still be read.
    if (code === 'EEXIST' || (code === 'EROFS' && fs.existsSync(path))) return;
    if (code === 'ENOENT')
      throw new StoreError('store_failed', 'The folder of the database file does not exist.', {
        remedy: 'Make it, or correct the path.',
        cause,
      });
    throw cause;
  }
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
  /** SQLite keeps a `-wal` for each name, and the database would be ruined. */
  'hard-linked': ({ nlink }: Stats) => nlink > 1,
  /** Other users can read or write it. Windows has no such modes: there the permissions of the folder count. */
  exposed: ({ mode }: Stats) => process.platform !== 'win32' && (mode & 0o077) !== 0,
};

type Flaw = keyof typeof flaws;

/** The first of these flaws that a file has. */
export function firstFlaw<Among extends Flaw>(stats: Stats, among: readonly Among[]): Among | undefined {
  return among.find((flaw) => flaws[flaw](stats));
}

/** Windows has no such owners. Deno tells the user only if it is allowed to. */
function isOwn({ uid }: Stats): boolean {
  try {
    return process.geteuid === undefined || uid === process.geteuid();
  } catch {
    return true;
  }
}
