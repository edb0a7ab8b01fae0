import { constants, readdirSync, statSync } from 'node:fs';
import { access, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { RandomBytes } from '../../../../internal/options.ts';
import { type SavedRequest, writeSavedRequest } from '../../deliveries/saved-deliveries.ts';
import { makeFolder, writeWholeFile } from '../../inputs/folders.ts';
import { CliError } from '../../terminal/context.ts';

interface DeliveryFolderOptions {
  /** @default 100 MiB */
  readonly maxBytes?: number;
  readonly now: () => number;
  readonly random: RandomBytes;
}

const defaultMaxBytes = 100 * 1024 * 1024;

export type DeliveryFolder = ReturnType<typeof openDeliveryFolder>;

/** The folder in which `listen` keeps deliveries, one file each. Unsigned ones take at most half of its room. */
export function openDeliveryFolder(
  path: string,
  { maxBytes = defaultMaxBytes, now, random }: DeliveryFolderOptions,
) {
  // Two processes may use one folder.
  const owner = Buffer.from(random(4)).toString('hex');
  /** The sizes of our files, by name; of those in `writing` they are reserved. */
  let files = new Map<string, number>();
  let readAt = Number.NEGATIVE_INFINITY;
  const writing = new Map<string, number>();
  let count = 0;

  /** Returns whether there is room. A user may have removed files: the folder is read at most once a second. */
  function reserve(name: string, bytes: number): boolean {
    if (!hasRoom(name, bytes) || readAt === Number.NEGATIVE_INFINITY) {
      if (Math.abs(now() - readAt) < 1000) return false;
      readAt = now();
      files = new Map([...sizesIn(path), ...writing]);
      if (!hasRoom(name, bytes)) return false;
    }
    files.set(name, bytes);
    writing.set(name, bytes);
    return true;
  }

  function hasRoom(name: string, bytes: number): boolean {
    const unsigned = [...files].filter(([file]) => isUnsigned(file));
    return bytes + sum(files) <= maxBytes && (!isUnsigned(name) || bytes + sum(unsigned) <= maxBytes / 2);
  }

  return {
    path,
    /** @throws the system's error if nothing can be kept here */
    async check(): Promise<void> {
      await makeFolder(path);
      await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    },
    /**
     * Returns the name of the file when it is safely on the disk.
     *
     * @throws {CliError} if there is no room, and the system's error if the folder cannot be written
     */
    async save(delivery: SavedRequest, state: SavedState): Promise<string> {
      // The folder may have been made or removed since the last delivery.
      await makeFolder(path);
      const text = writeSavedRequest(delivery);
      const name = fileName({ at: now(), count: ++count, owner }, state);
      if (!reserve(name, sizeOnDisk(Buffer.byteLength(text)))) {
        throw new CliError(`${path} is full: move events elsewhere that you want to keep.`);
      }
      try {
        await writeWholeFile(join(path, name), text);
      } catch (error) {
        files.delete(name);
        throw error;
      } finally {
        writing.delete(name);
      }
      await syncFolder(path);
      return name;
    },
  };
}

type SavedState = 'done' | 'unsigned';

/** `unsigned`: its signature is wrong. Every name ends as that of `done`. */
const endings: Readonly<Record<SavedState, string>> = { done: '.json', unsigned: '.unsigned.json' };

/** The names sort by time. */
function fileName(
  { at, count, owner }: { at: number; count: number; owner: string },
  state: SavedState,
): string {
  const time = new Date(at).toISOString().replaceAll(/[-:.]/g, '');
  return `${time}-${String(count).padStart(6, '0')}-${owner}${endings[state]}`;
}

function isUnsigned(name: string): boolean {
  return name.endsWith(endings.unsigned);
}

function sum(files: Iterable<readonly [string, number]>): number {
  return [...files].reduce((total, [, size]) => total + size, 0);
}

/** The names of our files. Other files are neither counted nor removed. */
const ownName = /^\d{8}T\d{9}Z-\d{6,}-[0-9a-f]{8}(?:\.unsigned)?\.json$/;

/** Commits the names of new files to the disk. */
async function syncFolder(path: string): Promise<void> {
  // Windows neither has nor needs this call for folders.
  if (process.platform === 'win32') return;
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Our files in a folder, with what they take of the disk. */
function sizesIn(path: string): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const name of readdirSync(path).filter((name) => ownName.test(name))) {
    // Another process may have removed it.
    const stats = statSync(join(path, name), { throwIfNoEntry: false });
    if (stats !== undefined) sizes.set(name, sizeOnDisk(stats.size));
  }
  return sizes;
}

/** The least that a file takes of a disk. */
const blockBytes = 4096;

function sizeOnDisk(bytes: number): number {
  return Math.ceil(bytes / blockBytes) * blockBytes;
}
