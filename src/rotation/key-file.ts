import { ConfigurationError } from '../errors/configuration-error.ts';
import { isKeyError, KeyError } from '../errors/key-error.ts';
import { checkNames } from '../options/check-names.ts';
import { invalidOption } from '../options/check-values.ts';
import { sleep } from '../runtime/sleep.ts';
import { type FileLock, type LockContext, tryLock } from './file-lock.ts';
import type { KeyStorage } from './key-storage.ts';

export interface KeyFileOptions {
  /**
   * A file that only this program's user can read. It is made if there is none, where a symbolic link leads; its folder
   * must be there. A relative path starts at the folder in which the program is when it calls `keyFile`.
   */
  path: string;
}

/**
 * Keeps the keys of a rotation in a JSON file, with all generations that may still be needed.
 *
 * The file has mode 0600, and one that others can read is refused (not on Windows, which has no such modes: there the
 * permissions of the folder count). It is replaced as a whole: written beside, synced, renamed, and the folder synced,
 * so that a crash leaves the old keys or the new ones. Processes that change it at the same time wait for each other by
 * a file beside it (`….lock`); one that a killed process has left is removed.
 *
 * The path must be on a disk of this machine: network file systems may keep none of this.
 *
 * @throws {ConfigurationError} `invalid_option`, or `not_configured` where there is no file system
 * @example
 * ```ts
 * const storage = keyFile({ path: '/var/lib/shop/exchange-keys.json' });
 * ```
 */
export function keyFile(options: KeyFileOptions): KeyStorage {
  checkNames('keyFile', options, { path: true });
  if (typeof options.path !== 'string' || options.path === '') throw invalidOption('path must be text.');
  // Looked up when needed, not imported: the rotation itself also runs where there are no files.
  const fs = process.getBuiltinModule?.('node:fs');
  const os = process.getBuiltinModule?.('node:os');
  const paths = process.getBuiltinModule?.('node:path');
  if (fs === undefined || os === undefined || paths === undefined) {
    throw new ConfigurationError('not_configured', 'keyFile needs a file system, and this runtime has none.');
  }
  // Resolved now, since the program may go to another folder later.
  const path = paths.resolve(options.path);
  return keyFileIn({ path }, { fs, paths, host: os.hostname(), now: Date.now });
}

/** What a key file needs of the runtime. */
export interface KeyFileContext extends LockContext {
  readonly paths: Pick<typeof import('node:path'), 'dirname' | 'resolve'>;
}

/** The same with a file system given, so that a test can end the process between any two of its steps. */
export function keyFileIn({ path }: KeyFileOptions, context: KeyFileContext): KeyStorage {
  const { fs, paths } = context;
  return {
    read: async () => explained(path, () => readPrivate(path, context)),
    async update(change) {
      const target = explained(path, () => realTarget(path, context));
      const startedAt = performance.now();
      for (;;) {
        const lock = explained(path, () => tryLock(`${target}.lock`, context));
        if (lock !== undefined) {
          // No await while the lock is held: it is held for milliseconds.
          try {
            const next = change(explained(path, () => readPrivate(target, context)));
            if (next === undefined || explained(path, () => replace(target, next, lock))) return;
          } finally {
            lock.release();
          }
        } else if (performance.now() - startedAt > waitMs) {
          throw new KeyError(
            'key_storage_locked',
            `Another process keeps the key file ${path} locked. If there is none, delete ${target}.lock.`,
          );
        }
        await sleep(10 + Math.random() * 20, new AbortController().signal);
      }
    },
  };

  /** Whether it was replaced: not if the process was stopped for so long that another one took over the lock. */
  function replace(target: string, text: string, lock: FileLock): boolean {
    const temporary = `${target}.tmp`;
    // Left behind by a crash. It may hold keys.
    fs.rmSync(temporary, { force: true });
    const file = fs.openSync(temporary, 'wx', 0o600);
    try {
      fs.writeFileSync(file, text);
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
    if (!lock.isHeld()) return false;
    fs.renameSync(temporary, target);
    syncFolder(target);
    return true;
  }

  /** Without this, a power failure could undo the rename. Windows cannot sync a folder. */
  function syncFolder(target: string): void {
    if (process.platform === 'win32') return;
    const folder = fs.openSync(paths.dirname(target), 'r');
    try {
      fs.fsyncSync(folder);
    } finally {
      fs.closeSync(folder);
    }
  }
}

/** Longer than a lock can be left behind, so that a crash elsewhere never makes an update fail. */
const waitMs = 45_000;
/** The state has a kilobyte for each generation. */
const maxBytes = 1_048_576;

/** The text of a file that nobody else can read; `undefined` if there is none. */
function readPrivate(path: string, { fs }: LockContext): string | undefined {
  let file: number;
  try {
    file = fs.openSync(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    // Of the open file: the one at the path may be another by now.
    const stats = fs.fstatSync(file);
    if (!stats.isFile()) throw new KeyError('key_storage_invalid', `${path} is not a file.`);
    if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0) {
      throw new KeyError(
        'key_storage_exposed',
        `Other users may read the key file ${path}: set its mode to 0600, and consider its keys known.`,
      );
    }
    if (stats.size > maxBytes)
      throw new KeyError('key_storage_invalid', `${path} is too large for a key file.`);
    return fs.readFileSync(file, 'utf8');
  } finally {
    fs.closeSync(file);
  }
}

/**
 * Where a symbolic link leads, also when nothing is there yet: renaming over the link would leave the old keys where it
 * led, and put the new ones on a disk that nobody meant.
 */
function realTarget(path: string, context: KeyFileContext): string {
  const { fs, paths } = context;
  try {
    return fs.realpathSync(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  const led = linkedPath(path, context);
  if (led === undefined) return path;
  return realTarget(paths.resolve(fs.realpathSync(paths.dirname(path)), led), context);
}

/** What a symbolic link says; `undefined` if there is none. */
function linkedPath(path: string, { fs }: LockContext): string | undefined {
  try {
    return fs.readlinkSync(path);
  } catch (error) {
    // There is nothing, or by now a file.
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'EINVAL') return undefined;
    throw error;
  }
}

/** Gives an error of the file system our type, without its stack of system calls. */
function explained<Result>(path: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (isKeyError(error)) throw error;
    throw new KeyError('key_storage_failed', `The key file ${path} cannot be used (${codeOf(error)}).`);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
