import { codeOf } from '../../../../errors/errors.ts';
import { type CheckResult, skipped, worstOf } from '../../check-result.ts';
import { type Check, fail, ok, warning } from '../check.ts';
import type { DoctorContext } from '../doctor-context.ts';

type Fs = typeof import('node:fs');
type Path = typeof import('node:path');

interface Modules {
  readonly fs: Fs;
  readonly path: Path;
}

type FileCheck = (file: string, modules: Modules, context: DoctorContext) => CheckResult;

const mb = 1024 * 1024;
const leastFreeBytes = 64 * mb;
const fewFreeBytes = 512 * mb;
const largeLogBytes = 256 * mb;
const slowSyncMs = 100;
/** Types of `statfs` on Linux: NFS, SMB, CIFS, SMB2, FUSE. */
const networkTypes = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB 2'],
  [0x65735546, 'FUSE'],
]);

/** Mode, free space, fsync and content of the SQLite files of an inbox or a store. */
export function databaseFileChecks(
  kind: 'inbox' | 'store',
  filesOf: (context: DoctorContext) => readonly string[],
): readonly Check[] {
  const checks: Readonly<Record<string, FileCheck>> = { rights, space, fsync, opens };
  return Object.entries(checks).map(([name, check]) => ({
    id: `${kind}-${name}`,
    run(context) {
      const files = filesOf(context);
      if (files.length === 0) return skipped(`No ${kind} file is given.`);
      const fs = process.getBuiltinModule?.('node:fs');
      const path = process.getBuiltinModule?.('node:path');
      if (fs === undefined || path === undefined) return skipped('This runtime has no file system.');
      return worstOf(files.map((file) => check(file, { fs, path }, context)));
    },
  }));
}

/** Only its owner may read it, since it holds personal data. Windows has no modes. */
function rights(file: string, { fs, path }: Modules): CheckResult {
  const stats = fs.statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return missing(file, { fs, path });
  if (!stats.isFile()) return fail(`${file} is not a file.`, 'Give the path of the database file.');
  if (process.platform === 'win32')
    return skipped('Windows has no file modes: the rights of the folder count.');
  const open = ['', '-wal', '-shm']
    .map((suffix) => ({ path: file + suffix, stats: fs.statSync(file + suffix, { throwIfNoEntry: false }) }))
    .filter((entry) => ((entry.stats?.mode ?? 0) & 0o077) !== 0);
  if (open.length > 0) {
    const names = open.map((entry) => entry.path).join(', ');
    return fail(`Other users may read ${names}.`, 'Set the mode to 0600: it holds personal data.');
  }
  const user = process.getuid?.();
  if (user !== undefined && stats.uid !== user) {
    return warning(
      `${file} belongs to the user ${stats.uid}, and this is ${user}.`,
      'Run the doctor as the user that runs the receiver.',
    );
  }
  return ok(`${file} is 0${(stats.mode & 0o777).toString(8)}`);
}

/** The first receiver makes a missing file, if its folder permits it. */
function missing(file: string, { fs, path }: Modules): CheckResult {
  const folder = path.dirname(file);
  try {
    fs.accessSync(folder, fs.constants.W_OK | fs.constants.X_OK);
    return skipped(`${file} does not exist yet, and can be made.`);
  } catch {
    return fail(`${file} does not exist, and cannot be made in ${folder}.`, 'Make the folder, writable.');
  }
}

function space(file: string, { fs, path }: Modules): CheckResult {
  const { bavail, bsize } = fs.statfsSync(existingFolder(file, { fs, path }));
  return judgeSpace(file, bavail * bsize);
}

/** @param freeBytes for this user on the disk of the file */
export function judgeSpace(file: string, freeBytes: number): CheckResult {
  const found = `${Math.floor(freeBytes / mb)} MB free for ${file}`;
  const fix = 'Make room: a full disk refuses every event with 503.';
  if (freeBytes < leastFreeBytes) return fail(found, fix);
  return freeBytes < fewFreeBytes ? warning(found, fix) : ok(found);
}

/** Measures a new file, because closing another handle of the database would drop SQLite's locks. */
function fsync(file: string, { fs, path }: Modules, { now }: DoctorContext): CheckResult {
  const folder = existingFolder(file, { fs, path });
  const probe = path.join(folder, `.partner-exchange-doctor-${process.pid}-${now()}`);
  let handle: number | undefined;
  try {
    handle = fs.openSync(probe, 'wx', 0o600);
    fs.writeSync(handle, 'x'.repeat(4096));
    const begun = performance.now();
    fs.fsyncSync(handle);
    const took = performance.now() - begun;
    return judgeSync(file, { took, fileSystem: fs.statfsSync(folder).type });
  } catch (error) {
    return fail(
      `Nothing can be written and synced beside ${file} (${codeOf(error) || 'unknown error'}).`,
      'Make the folder writable for the receiver: SQLite keeps two more files there.',
    );
  } finally {
    if (handle !== undefined) {
      fs.closeSync(handle);
      fs.rmSync(probe, { force: true });
    }
  }
}

/** @param disk milliseconds that fsync took, and the type of the file system (`statfs`) */
export function judgeSync(
  file: string,
  disk: { readonly took: number; readonly fileSystem: number },
): CheckResult {
  const network = networkTypes.get(disk.fileSystem >>> 0);
  if (network !== undefined) {
    return warning(
      `${file} is on ${network}.`,
      'Use a local disk: SQLite’s locks fail on network file systems.',
    );
  }
  const found = `fsync for ${file} takes ${disk.took.toFixed(1)} ms`;
  return disk.took < slowSyncMs ? ok(found) : warning(found, 'Use a faster disk: every event waits for it.');
}

function opens(file: string, { fs, path }: Modules): CheckResult {
  const sqlite = process.getBuiltinModule?.('node:sqlite');
  if (sqlite === undefined) return skipped('This runtime has no node:sqlite.');
  if (!fs.existsSync(file)) return missing(file, { fs, path });
  let tables: number;
  try {
    const database = openUntouched(sqlite, file, { fs, path });
    try {
      const row = database.prepare("SELECT count(*) AS tables FROM sqlite_schema WHERE type = 'table'").get();
      tables = Number(row?.tables);
    } finally {
      database.close();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown error';
    return fail(
      `${file} cannot be opened (${reason}).`,
      'If it is damaged, keep a copy, and restore it from a backup; never delete its -wal, which holds events.',
    );
  }
  const log = fs.statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (log > largeLogBytes) {
    return warning(
      `The -wal of ${file} has ${Math.floor(log / mb)} MB.`,
      'Something keeps it from being written back: look for a program that has the file open for long.',
    );
  }
  return ok(`${file} opens, with ${tables} tables`);
}

/**
 * Opens a database to read it. A reader of WAL mode would leave files behind, so a database that nobody has open is
 * opened as immutable.
 */
function openUntouched(
  sqlite: typeof import('node:sqlite'),
  file: string,
  { fs, path }: Modules,
): InstanceType<typeof sqlite.DatabaseSync> {
  const readOnly = { readOnly: true };
  if (fs.existsSync(`${file}-wal`)) return new sqlite.DatabaseSync(file, readOnly);
  const url = process.getBuiltinModule('node:url').pathToFileURL(path.resolve(file));
  url.search = 'immutable=1';
  try {
    return new sqlite.DatabaseSync(url, readOnly);
  } catch (error) {
    // Node takes URLs here only since 22.15.
    if (!(error instanceof TypeError)) throw error;
    return new sqlite.DatabaseSync(file, readOnly);
  }
}

function existingFolder(file: string, { fs, path }: Modules): string {
  let folder = path.dirname(path.resolve(file));
  while (!fs.existsSync(folder)) folder = path.dirname(folder);
  return folder;
}
