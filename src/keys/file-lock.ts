import { codeOf, KeyError } from '../errors/errors.ts';
import { openToRead } from '../internal/private-file.ts';
import { type ProcessIdentity, processState } from '../internal/process-identity.ts';

export type FileSystem = Pick<
  typeof import('node:fs'),
  | 'closeSync'
  | 'constants'
  | 'fstatSync'
  | 'fsyncSync'
  | 'lstatSync'
  | 'openSync'
  | 'readdirSync'
  | 'readFileSync'
  | 'readlinkSync'
  | 'realpathSync'
  | 'renameSync'
  | 'rmSync'
  | 'statSync'
  | 'writeFileSync'
>;

export interface LockContext {
  readonly fs: FileSystem;
  readonly self: ProcessIdentity;
  /** The clock of the file system: milliseconds since 1970. */
  readonly now: () => number;
}

export interface FileLock {
  isHeld(): boolean;
  release(): void;
}

interface Holder {
  /** Unique to one taking of the lock. */
  readonly token: string;
  readonly isDead: boolean;
}

/** A lock is held for milliseconds. The holder of an older one counts as dead, unless it is known to run. */
const staleAfterMs = 30_000;

/** `undefined` while another process holds the lock. Removes the lock of a dead holder, for the next try. */
export function tryLock(path: string, context: LockContext): FileLock | undefined {
  const { fs, self } = context;
  const token = crypto.randomUUID();
  try {
    fs.writeFileSync(path, JSON.stringify({ token, ...self }), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
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
 * Only one process may remove a dead lock: a second one would remove the new lock of a third. So it first locks the
 * removal of this very lock. A crash can leave that one behind, but nobody asks for it again.
 */
function removeDead(path: string, context: LockContext): void {
  const holder = holderOf(path, context);
  if (holder === undefined || !holder.isDead) return;
  const removalLock = tryLock(`${path}.${holder.token}`, context);
  if (removalLock === undefined) return;
  try {
    if (holderOf(path, context)?.token === holder.token) context.fs.rmSync(path, { force: true });
  } finally {
    removalLock.release();
  }
}

function holderOf(path: string, { fs, self, now }: LockContext): Holder | undefined {
  let file: number;
  try {
    file = openToRead(path, fs);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    // Of the open file: the path may lead to another one by now.
    const stats = fs.fstatSync(file);
    if (!stats.isFile()) {
      throw new KeyError('key_storage_failed', `${path} is not a file, and stands for a lock.`, {
        remedy: 'Delete it.',
      });
    }
    const { mtimeMs } = stats;
    const isOld = now() - mtimeMs > staleAfterMs;
    const holder = parse(fs.readFileSync(file, 'utf8'));
    // The process was killed before it wrote its identity.
    if (holder === undefined) return { token: `of-${Math.trunc(mtimeMs)}`, isDead: isOld };
    const state = processState(holder, self);
    // This process holds a lock without a pause: an old one of its own could not be removed.
    const isLeft = state === 'unknown' || holder.pid === self.pid;
    return { token: holder.token, isDead: state === 'ended' || (isLeft && isOld) };
  } finally {
    fs.closeSync(file);
  }
}

function parse(text: string): (ProcessIdentity & { readonly token: string }) | undefined {
  try {
    const { token, space, pid, startedAt } = JSON.parse(text);
    // The token becomes part of a path.
    if (typeof token !== 'string' || !/^[\w-]{1,64}$/.test(token)) return undefined;
    if (typeof space !== 'string' || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
    return { token, space, pid, startedAt: typeof startedAt === 'string' ? startedAt : undefined };
  } catch {
    return undefined;
  }
}
