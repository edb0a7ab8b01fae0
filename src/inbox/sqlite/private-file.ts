import { chmodSync, closeSync, openSync, realpathSync, type Stats, statSync } from 'node:fs';
import { InboxError } from '../../errors/inbox-error.ts';

/** What SQLite keeps beside a file in WAL mode, for as long as any process has it open. */
const companions = ['-wal', '-shm'];

/** A database file that only its owner may read, and the same one for as long as it is open. */
export interface PrivateFile {
  /** Without symbolic links, as SQLite names what it keeps beside the file. */
  readonly path: string;
  /** From now on the `-wal` and `-shm` have to stay the same ones too: call it once SQLite has made them. */
  watchCompanions(): void;
  /**
   * SQLite goes on writing into a file that was deleted, and what it commits there is lost.
   *
   * @throws {InboxError} `store_unavailable` when one of the files was deleted or replaced
   */
  check(): void;
}

/**
 * Makes a file for SQLite to open, or takes the one that is there, with mode 0600. SQLite gives the `-wal` and `-shm`
 * the mode of the file, whatever the umask is; those that a crash left behind are closed to others here.
 *
 * @throws {InboxError} `store_unavailable` when others may read it and that cannot be changed, or it is not a file
 */
export function openPrivateFile(path: string): PrivateFile {
  createFile(path);
  const realPath = realpathSync(path);
  for (const suffix of ['', ...companions]) closeToOthers(realPath + suffix);
  const watched = [identify(path)];
  return {
    path: realPath,
    watchCompanions() {
      watched.push(...companions.map((suffix) => identify(realPath + suffix)));
    },
    check() {
      if (watched.every(({ path, id }) => identify(path).id === id)) return;
      throw new InboxError(
        'store_unavailable',
        'The file of the inbox was deleted or replaced while it was open. Restart to open the one that is there now.',
      );
    },
  };
}

/**
 * Only where there is none: to open and close a file that SQLite has open elsewhere in this process would release the
 * locks that SQLite holds on it.
 */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function closeToOthers(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isFile())
    throw new InboxError('store_unavailable', 'The path of the inbox is not that of a file.');
  if (!isOpenToOthers(stats)) return;
  let cause: unknown;
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    cause = error;
  }
  if (isOpenToOthers(statSync(path))) {
    const message =
      'Other users may read the file of the inbox, and that cannot be changed: set its mode to 0600.';
    throw new InboxError('store_unavailable', message, { cause });
  }
}

/** Windows has no such modes: there the rights of the folder count. */
function isOpenToOthers({ mode }: Stats): boolean {
  return process.platform !== 'win32' && (mode & 0o077) !== 0;
}

/** Which file a path leads to. */
function identify(path: string): { readonly path: string; readonly id: string | undefined } {
  // As bigint: on Windows the number of a file does not fit into a double.
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return { path, id: stats && `${stats.dev}:${stats.ino}` };
}
