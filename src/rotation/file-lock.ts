/** The functions of `node:fs` that a key file needs. */
export type FileSystem = Pick<
  typeof import('node:fs'),
  | 'closeSync'
  | 'fstatSync'
  | 'fsyncSync'
  | 'openSync'
  | 'readFileSync'
  | 'readlinkSync'
  | 'realpathSync'
  | 'renameSync'
  | 'rmSync'
  | 'writeFileSync'
>;

export interface LockContext {
  readonly fs: FileSystem;
  /** The name of this machine: a process ID means nothing on another one. */
  readonly host: string;
  /** The clock of the file system: milliseconds since 1970. */
  readonly now: () => number;
}

/** A lock that this process holds. */
export interface FileLock {
  isHeld(): boolean;
  release(): void;
}

/** What a lock file says of who holds it. */
interface Holder {
  /** Different for every lock that was ever held. */
  readonly token: string;
  readonly isDead: boolean;
}

/** A lock is held for milliseconds. After so many its holder counts as dead, wherever it ran. */
const staleAfterMs = 30_000;

/** Takes a lock; `undefined` while another one holds it. A lock whose holder is dead is removed for the next try. */
export function tryLock(path: string, context: LockContext): FileLock | undefined {
  const { fs, host } = context;
  const token = crypto.randomUUID();
  try {
    fs.writeFileSync(path, JSON.stringify({ token, host, pid: process.pid }), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    removeDead(path, context);
    return undefined;
  }
  const isHeld = () => holderOf(path, context)?.token === token;
  return {
    isHeld,
    release() {
      if (isHeld()) fs.rmSync(path, { force: true });
    },
  };
}

/**
 * Only one process may remove a dead lock: a second one would remove the new lock of a third. So it takes a lock on
 * removing this very one, which may have been left behind by a crash as well. (One that is left behind after the removal
 * stays: nobody asks for it again.)
 */
function removeDead(path: string, context: LockContext): void {
  const holder = holderOf(path, context);
  if (holder === undefined || !holder.isDead) return;
  const right = tryLock(`${path}.${holder.token}`, context);
  if (right === undefined) return;
  try {
    if (holderOf(path, context)?.token === holder.token) context.fs.rmSync(path, { force: true });
  } finally {
    right.release();
  }
}

function holderOf(path: string, { fs, host, now }: LockContext): Holder | undefined {
  let file: number;
  try {
    file = fs.openSync(path, 'r');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  try {
    // Both of the open file: the one at the path may be another by now, and would seem old.
    const { mtimeMs } = fs.fstatSync(file);
    const isOld = now() - mtimeMs > staleAfterMs;
    const said = parse(fs.readFileSync(file, 'utf8'));
    // A process was killed before it had written who it is.
    if (said === undefined) return { token: `of-${Math.trunc(mtimeMs)}`, isDead: isOld };
    return { token: said.token, isDead: isOld || (said.host === host && !isAlive(said.pid)) };
  } finally {
    fs.closeSync(file);
  }
}

function parse(text: string): { token: string; host: string; pid: number } | undefined {
  try {
    const { token, host, pid } = JSON.parse(text);
    // The token becomes part of a path.
    if (typeof token !== 'string' || !/^[\w-]{1,64}$/.test(token)) return undefined;
    return typeof host === 'string' && Number.isSafeInteger(pid) && pid > 0
      ? { token, host, pid }
      : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    // Signal 0 is not sent; it only asks.
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasCode(error, 'ESRCH');
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
