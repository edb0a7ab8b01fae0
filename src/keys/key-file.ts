import type { Stats } from 'node:fs';
import { ConfigurationError, codeOf, isKeyError, KeyError } from '../errors/errors.ts';
import { sleep } from '../internal/backoff.ts';
import { defineOptions, invalidOption, type OptionTable } from '../internal/options.ts';
import { firstFlaw, isForeignLink, openToRead } from '../internal/private-file.ts';
import { thisProcess } from '../internal/process-identity.ts';
import { type FileLock, type LockContext, tryLock } from './file-lock.ts';
import type { KeyStorage } from './rotation-state.ts';

/** Options of {@link keyFile}. */
export interface KeyFileOptions {
  /**
   * A file that only this program's user can read. If there is none it is made, also where a symbolic link leads; its
   * folder must exist. A relative path starts at the working directory at the time of the call.
   */
  path: string;
}

const readOptions = defineOptions('keyFile', {
  path: (given) => {
    if (typeof given === 'string' && given !== '') return given;
    throw invalidOption('path must be text.');
  },
} satisfies OptionTable<KeyFileOptions>);

/**
 * Keeps the keys of a rotation in a JSON file, with all generations that may still be needed.
 *
 * The file has mode 0600, and one that others can read or that belongs to another user is refused (not on Windows, which
 * has no such modes: there the permissions of the folder count). It is replaced as a whole: written beside, synced,
 * renamed, and the folder synced, so that a crash leaves the old keys or the new ones. Processes that change it at the
 * same time wait for each other by a file beside it (`….lock`); one that a killed process has left is removed. A key ring
 * over it reads it again as soon as it has changed.
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
  const { path } = readOptions(options);
  // Looked up when needed, not imported: the rotation itself also runs where there are no files.
  const fs = process.getBuiltinModule?.('node:fs');
  const paths = process.getBuiltinModule?.('node:path');
  if (fs === undefined || paths === undefined) {
    const what = 'keyFile needs a file system, and this runtime has none.';
    throw new ConfigurationError('not_configured', what, { remedy: 'Keep the keys with storedKeys.' });
  }
  // Resolved now, since the program may go to another folder later.
  return keyFileIn({ path: paths.resolve(path) }, { fs, paths, self: thisProcess(), now: Date.now });
}

export interface KeyFileContext extends LockContext {
  readonly paths: Pick<typeof import('node:path'), 'basename' | 'dirname' | 'resolve'>;
  /** How long an update waits for the lock. By default longer than a dead lock stays, so that no crash makes it fail. */
  readonly waitMs?: number;
}

/** With the file system as an argument, so that a test can end the process between any two steps. */
export function keyFileIn({ path }: KeyFileOptions, context: KeyFileContext): KeyStorage {
  const { fs, paths, waitMs = 45_000 } = context;
  return {
    read: async () => withKeyErrors(path, () => readPrivate(linkTarget(path, context), context)),
    version: () => withKeyErrors(path, () => versionOf(path, context)),
    async update(change) {
      const target = withKeyErrors(path, () => linkTarget(path, context));
      const startedAt = performance.now();
      while (!tryUpdate(target, change)) {
        if (performance.now() - startedAt > waitMs) {
          throw new KeyError('key_storage_locked', `Another process keeps the key file ${path} locked.`, {
            remedy: `Try again, and if it is in use nowhere, delete ${target}.lock.`,
          });
        }
        await sleep(10 + Math.random() * 20, new AbortController().signal);
      }
    },
  };

  /** False while another process holds the lock. Synchronous, so that the lock is held for milliseconds. */
  function tryUpdate(target: string, change: (text: string | undefined) => string | undefined): boolean {
    const lock = withKeyErrors(path, () => {
      // Before anything is made beside it: the file may belong to another user.
      inspect(target, context);
      return tryLock(`${target}.lock`, context);
    });
    if (lock === undefined) return false;
    try {
      const text = withKeyErrors(path, () => {
        removeTemporaries(target);
        return readPrivate(target, context);
      });
      // Errors of the caller's own function stay as they are.
      const next = change(text);
      return next === undefined || withKeyErrors(path, () => replace(target, next, lock));
    } finally {
      withKeyErrors(path, () => lock.release());
    }
  }

  /**
   * A crash leaves them, and they may hold keys. Removed before the file is read, so that a stopped process whose lock
   * was taken over can no longer rename its own.
   */
  function removeTemporaries(target: string): void {
    const [folder, name] = [paths.dirname(target), paths.basename(target)];
    for (const file of fs.readdirSync(folder)) {
      if (file.startsWith(`${name}.`) && temporaryEnd.test(file.slice(name.length))) {
        fs.rmSync(paths.resolve(folder, file), { force: true });
      }
    }
  }

  /** False if another process took over the lock: then nothing was replaced. */
  function replace(target: string, text: string, lock: FileLock): boolean {
    // A unique name, so that two processes that both believe they hold the lock never write one file.
    const temporary = `${target}.${crypto.randomUUID()}.tmp`;
    let isReplaced = false;
    try {
      const file = fs.openSync(temporary, 'wx', 0o600);
      try {
        fs.writeFileSync(file, text);
        fs.fsyncSync(file);
      } finally {
        fs.closeSync(file);
      }
      if (lock.isHeld()) {
        fs.renameSync(temporary, target);
        isReplaced = true;
      }
    } catch (error) {
      // The next holder has removed it.
      if (codeOf(error) !== 'ENOENT') throw error;
    } finally {
      if (!isReplaced) fs.rmSync(temporary, { force: true });
    }
    if (isReplaced) syncFolder(target);
    return isReplaced;
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

const temporaryEnd = /^\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/;
/** The state has a kilobyte for each generation. */
const maxBytes = 1_048_576;

/** `undefined` if there is no file. */
function readPrivate(path: string, { fs }: LockContext): string | undefined {
  inspect(path, { fs });
  let file: number;
  try {
    file = openToRead(path, fs);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    // Checks the open file: the path may lead to another one by now.
    checkPrivate(path, fs.fstatSync(file));
    return fs.readFileSync(file, 'utf8');
  } finally {
    fs.closeSync(file);
  }
}

/** Checks the file, if there is one. Not opened: opening a device can have effects. @throws {KeyError} */
function inspect(path: string, { fs }: Pick<LockContext, 'fs'>): void {
  const stats = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) checkPrivate(path, stats);
}

/** @throws {KeyError} unless it is a file that only this user can read */
function checkPrivate(path: string, stats: Stats): void {
  switch (firstFlaw(stats, ['not-a-file', 'foreign', 'exposed'])) {
    case 'not-a-file':
      throw new KeyError('key_storage_failed', `${path} is ${kindOf(stats)}, not a file.`, {
        remedy: 'Name the key file.',
      });
    case 'foreign':
      throw new KeyError('key_storage_exposed', `The key file ${path} belongs to another user.`, {
        remedy: 'Run the program as that user, or name a file of your own.',
      });
    case 'exposed':
      throw new KeyError('key_storage_exposed', `Other users may read the key file ${path}.`, {
        remedy: 'Set its mode to 0600, and consider its keys known.',
      });
  }
  if (stats.size > maxBytes)
    throw new KeyError('key_storage_invalid', `${path} is too large for a key file.`, {
      remedy: 'Name the key file.',
    });
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  return stats.isFIFO() ? 'a FIFO' : 'a device or a socket';
}

/** Differs after every change: a new file has another inode number, a rewritten one other times. */
function versionOf(path: string, { fs }: LockContext): string {
  // As bigint: milliseconds are too coarse, and on Windows a file's number does not fit into a double.
  const stats = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return 'none';
  return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':');
}

/** Where a symbolic link leads. Renaming over the link would leave the old keys at its target. */
function linkTarget(path: string, context: KeyFileContext, links = 0): string {
  const { fs, paths } = context;
  const stats = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return path;
  if (!stats.isSymbolicLink()) return fs.realpathSync(path);
  if (isForeignLink(stats)) {
    throw new KeyError('key_storage_exposed', `The symbolic link ${path} belongs to another user.`, {
      remedy: 'Name the key file itself.',
    });
  }
  if (links >= maxLinks) {
    throw new KeyError('key_storage_failed', `The symbolic links at ${path} lead in a circle.`);
  }
  const folder = fs.realpathSync(paths.dirname(path));
  return linkTarget(paths.resolve(folder, fs.readlinkSync(path)), context, links + 1);
}

/** As many as Linux follows. */
const maxLinks = 40;

/** Turns errors of the file system into ours, without their stack of system calls. */
function withKeyErrors<Result>(path: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (isKeyError(error)) throw error;
    throw new KeyError(
      'key_storage_failed',
      `The key file ${path} cannot be used (${codeOf(error) || 'unknown error'}).`,
    );
  }
}
