import { constants, readdirSync, statSync } from 'node:fs';
import { access, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RandomBytes } from '../../../../internal/options.ts';
import { type SavedRequest, writeSavedRequest } from '../../deliveries/saved-deliveries.ts';
import { makeFolder, writeWholeFile } from '../../inputs/folders.ts';
import { CliError } from '../../terminal/context.ts';

interface DeliveryFolderOptions {
  readonly maxBytes: number;
  /** Called when the first unsigned delivery is not saved, or is replaced. */
  readonly onFull: () => void;
  readonly now: () => number;
  readonly random: RandomBytes;
}

export type DeliveryFolder = ReturnType<typeof openDeliveryFolder>;

/** The folder in which `listen` keeps deliveries, one file each. */
export function openDeliveryFolder(path: string, { maxBytes, onFull, now, random }: DeliveryFolderOptions) {
  // Two processes may use one folder.
  const owner = Buffer.from(random(4)).toString('hex');
  /** The sizes of our files, by name; of those in `writing` they are reserved. */
  let files: Map<string, number> | undefined;
  let readAt = 0;
  const writing = new Map<string, number>();
  let isFull = false;
  let count = 0;

  function readFiles(): Map<string, number> {
    readAt = now();
    files = new Map([...sizesIn(path), ...writing]);
    return files;
  }

  /** Reserves room. Returns the newest unsigned files, which have to make it; `undefined` if they are not enough. */
  function reserve(
    name: string,
    bytes: number,
    { mayReplace }: { mayReplace: boolean },
  ): string[] | undefined {
    let sizes = files ?? readFiles();
    const missingBytes = () => [...sizes.values()].reduce((sum, size) => sum + size, bytes) - maxBytes;
    // A user may have removed files. The folder is read at most once a second.
    if (missingBytes() > 0 && Math.abs(now() - readAt) >= 1000) sizes = readFiles();
    const unsigned = mayReplace
      ? [...sizes.keys()].filter((each) => each.endsWith(endings.unsigned)).sort()
      : [];
    const outdated: string[] = [];
    for (let missing = missingBytes(); missing > 0; ) {
      const newest = unsigned.pop();
      if (newest === undefined) return undefined;
      outdated.push(newest);
      missing -= sizes.get(newest) ?? 0;
    }
    for (const each of outdated) {
      sizes.delete(each);
      writing.delete(each);
    }
    sizes.set(name, bytes);
    writing.set(name, bytes);
    return outdated;
  }

  return {
    path,
    /** @throws the system's error if nothing can be kept here */
    async check(): Promise<void> {
      await makeFolder(path);
      await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    },
    /**
     * Returns the name of the file when it is safely on the disk. In a full folder other deliveries replace the newest
     * unsigned ones; an unsigned one is not saved, and has no name.
     *
     * @throws {CliError} if there is no room, and the system's error if the folder cannot be written
     */
    async save(delivery: SavedRequest, state: SavedState): Promise<string | undefined> {
      // The folder may have been made or removed since the last delivery.
      await makeFolder(path);
      const text = writeSavedRequest(delivery);
      const isSigned = state !== 'unsigned';
      const name = fileName({ at: now(), count: ++count, owner }, state);
      const outdated = reserve(name, sizeOnDisk(Buffer.byteLength(text)), { mayReplace: isSigned });
      if (!isFull && outdated?.length !== 0) {
        isFull = true;
        onFull();
      }
      if (outdated === undefined) {
        if (!isSigned) return undefined;
        throw new CliError(
          `${path} is full: remove events that you do not need, or raise --max-saved-bytes.`,
        );
      }
      await Promise.all(outdated.map((unsigned) => rm(join(path, unsigned), { force: true })));
      try {
        await writeWholeFile(join(path, name), text);
      } catch (error) {
        files?.delete(name);
        throw error;
      } finally {
        writing.delete(name);
      }
      await syncFolder(path);
      return name;
    },
    /** Adds to a kept delivery what its sender was answered with, for `learn`. The delivery is safe without it. */
    async keepAnswer(name: string, delivery: SavedRequest): Promise<void> {
      await writeWholeFile(join(path, name), writeSavedRequest(delivery)).catch(() => {});
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
