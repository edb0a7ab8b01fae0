import { constants, readdirSync, statSync } from 'node:fs';
import { access, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RandomBytes } from '../../../internal/random.ts';
import { type SavedRequest, writeSavedRequest } from '../../deliveries/saved-deliveries.ts';
import { isOwnName, savedName, savedState } from '../../deliveries/saved-files.ts';
import { makeFolder } from '../../inputs/make-folder.ts';
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
  let room: ReturnType<typeof trackRoom> | undefined;
  let isFull = false;
  let count = 0;
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
    async save(delivery: SavedRequest, state: 'done' | 'unsigned'): Promise<string | undefined> {
      // Each time: the folder may be there only now, or not any more.
      await makeFolder(path);
      room ??= trackRoom(path, { maxBytes, now });
      const text = writeSavedRequest(delivery);
      const isSigned = state !== 'unsigned';
      const name = savedName({ at: now(), count: ++count, owner }, state);
      const outdated = room.reserve(name, Buffer.byteLength(text), { mayReplace: isSigned });
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
        await write(join(path, name), text);
      } catch (error) {
        room.free(name);
        throw error;
      } finally {
        room.written(name);
      }
      await syncFolder(path);
      return name;
    },
  };
}

async function write(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

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

/** Tracks the room left in a folder. A folder that seems full is read again, at most once a second. */
function trackRoom(path: string, { maxBytes, now }: { maxBytes: number; now: () => number }) {
  let files = sizesIn(path);
  let readAt = now();
  /** Counted files that may not be written yet. */
  const writing = new Set<string>();

  function readAgain(): void {
    readAt = now();
    const unwritten = [...files].filter(([name]) => writing.has(name));
    files = new Map([...sizesIn(path), ...unwritten]);
  }

  function missingFor(bytes: number): number {
    const used = [...files.values()].reduce((sum, size) => sum + size, 0);
    return used + bytes - maxBytes;
  }

  /** The newest unsigned files to remove so that this many bytes fit; `undefined` if they never do. */
  function makeRoom(bytes: number, mayReplace: boolean): string[] | undefined {
    const missing = missingFor(bytes);
    if (missing <= 0) return [];
    if (!mayReplace) return undefined;
    const unsigned = [...files.keys()].filter((name) => savedState(name) === 'unsigned').sort();
    const removed: string[] = [];
    for (let freed = 0; freed < missing; ) {
      const newest = unsigned.pop();
      if (newest === undefined) return undefined;
      removed.push(newest);
      freed += files.get(newest) ?? 0;
    }
    return removed;
  }

  return {
    reserve(name: string, size: number, { mayReplace }: { mayReplace: boolean }): string[] | undefined {
      const bytes = sizeOnDisk(size);
      if (missingFor(bytes) > 0 && Math.abs(now() - readAt) >= 1000) readAgain();
      const removed = makeRoom(bytes, mayReplace);
      if (removed === undefined) return undefined;
      for (const unsigned of removed) files.delete(unsigned);
      files.set(name, bytes);
      writing.add(name);
      return removed;
    },
    written: (name: string) => void writing.delete(name),
    free: (name: string) => void files.delete(name),
  };
}

/** Our files in a folder, with what they take of the disk. */
function sizesIn(path: string): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const name of readdirSync(path).filter(isOwnName)) {
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
