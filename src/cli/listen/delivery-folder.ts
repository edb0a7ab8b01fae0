import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RandomBytes } from '../../internal/random.ts';
import { type CliContext, CliError } from '../context.ts';
import { type Delivery, readDelivery, writeDelivery } from '../deliveries.ts';
import { stateFolder } from '../state-folder.ts';

/**
 * `pending`: to be forwarded. `refused`: the target refused it. `unsigned`: its signature is wrong. `done`: handled.
 */
export type SavedState = 'pending' | 'refused' | 'unsigned' | 'done';

/** Deliveries on the disk, one file each. The names sort by time. */
export interface DeliveryFolder {
  readonly path: string;
  /** Whether handled deliveries stay here. */
  readonly keepsDone: boolean;
  /**
   * Returns the name of the file when it is safely on the disk. In a full folder other deliveries replace the newest
   * unsigned ones; an unsigned one is not saved, and has no name.
   *
   * @throws {CliError} if there is no room
   */
  save(delivery: Delivery, state: Exclude<SavedState, 'refused'>): Promise<string | undefined>;
  read(name: string): Promise<Delivery>;
  /** Sets the state of a pending delivery, and returns its new name; `undefined` if it was removed. */
  settle(name: string, state: 'refused' | 'done'): Promise<string | undefined>;
  /** The names of the deliveries to be forwarded, oldest first. */
  pending(): Promise<string[]>;
}

interface DeliveryFolderOptions {
  readonly keepsDone: boolean;
  readonly maxBytes: number;
  /** Called when the first unsigned delivery is not saved, or is replaced. */
  readonly onFull: () => void;
  readonly now: () => number;
  readonly random: RandomBytes;
}

const suffixes: Readonly<Record<SavedState, string>> = {
  pending: '.pending.json',
  refused: '.refused.json',
  unsigned: '.unsigned.json',
  done: '.json',
};

/** The names of our files. Others are neither counted nor removed. */
const ownName = /^\d{8}T\d{9}Z-\d{6,}-[0-9a-f]{8}(?:\.pending|\.refused|\.unsigned)?\.json$/;

/** The least that a file takes of a disk. */
const blockBytes = 4096;

export async function openDeliveryFolder(
  path: string,
  { keepsDone, maxBytes, onFull, now, random }: DeliveryFolderOptions,
): Promise<DeliveryFolder> {
  // Events hold personal data.
  await mkdir(path, { recursive: true, mode: 0o700 });
  // Two processes may use one folder.
  const owner = Buffer.from(random(4)).toString('hex');
  const syncFolder = folderSync(path);
  const room = await trackRoom(path, { maxBytes, now });
  let isFull = false;
  let count = 0;
  return {
    path,
    keepsDone,
    async save(delivery, state) {
      const text = writeDelivery(delivery);
      const isSigned = state !== 'unsigned';
      count++;
      const time = new Date(now()).toISOString().replaceAll(/[-:.]/g, '');
      const name = `${time}-${String(count).padStart(6, '0')}-${owner}${suffixes[state]}`;
      const outdated = await room.reserve(name, Buffer.byteLength(text), { mayReplace: isSigned });
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
      await syncFolder();
      return name;
    },
    read: async (name) => readDelivery(await readFile(join(path, name)), name),
    async settle(name, state) {
      if (state === 'done' && !keepsDone) {
        await rm(join(path, name), { force: true });
        room.free(name);
        return undefined;
      }
      const settled = name.slice(0, -suffixes.pending.length) + suffixes[state];
      await rename(join(path, name), join(path, settled));
      room.rename(name, settled);
      return settled;
    },
    pending: async () => (await readdir(path)).filter((name) => name.endsWith(suffixes.pending)).sort(),
  };
}

/** A delivery on the disk. */
export interface KeptFile {
  readonly folder: string;
  readonly name: string;
  readonly state: SavedState;
}

/** Lists what `listen` keeps in a folder, the oldest first. @throws {CliError} if there is no such folder */
export async function listKept(folder: string): Promise<KeptFile[]> {
  const names = await readdir(folder).catch((cause: unknown) => {
    if (!isMissing(cause)) throw cause;
    throw new CliError('listen has kept nothing there: check --folder or --to.', { cause });
  });
  return names
    .filter((name) => ownName.test(name))
    .sort()
    .map((name) => ({ folder, name, state: stateOf(name) }));
}

function stateOf(name: string): SavedState {
  const marked = (['pending', 'refused', 'unsigned'] as const).find((state) =>
    name.endsWith(suffixes[state]),
  );
  return marked ?? 'done';
}

/** Reads a kept delivery; `undefined` if it has been removed or renamed meanwhile. */
export async function readKept({ folder, name }: KeptFile): Promise<Delivery | undefined> {
  const bytes = await readFile(join(folder, name)).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  return bytes && readDelivery(bytes, name);
}

/** Marks a refused delivery as handled, after it was sent again. A waiting one is left to the `listen` that waits. */
export async function settleResent(
  { folder, name }: Pick<KeptFile, 'folder' | 'name'>,
  { keepsDone }: Pick<DeliveryFolder, 'keepsDone'>,
): Promise<void> {
  if (stateOf(name) !== 'refused') return;
  const done = name.slice(0, -suffixes.refused.length) + suffixes.done;
  if (keepsDone) await rename(join(folder, name), join(folder, done));
  else await rm(join(folder, name), { force: true });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
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

/** Tracks the room left in a folder. A folder that seems full is read again, at most once a second. */
async function trackRoom(path: string, { maxBytes, now }: { maxBytes: number; now: () => number }) {
  let files = new Map<string, number>();
  /** Counted files that may not be written yet. */
  const writing = new Set<string>();
  let used = 0;
  let readAt = now();
  await read();

  async function read(): Promise<void> {
    readAt = now();
    const before = new Set(files.keys());
    const found = new Map<string, number>();
    for (const name of (await readdir(path)).filter((name) => ownName.test(name)).sort()) {
      // Another process may have removed it.
      const size = files.get(name) ?? (await stat(join(path, name)).catch(() => undefined))?.size;
      if (size !== undefined) found.set(name, sizeOnDisk(size));
    }
    for (const [name, size] of files) if (writing.has(name) || !before.has(name)) found.set(name, size);
    files = found;
    used = [...files.values()].reduce((sum, size) => sum + size, 0);
  }

  function free(name: string): void {
    used -= files.get(name) ?? 0;
    files.delete(name);
  }

  /** The newest unsigned files to remove so that this many bytes fit; `undefined` if they never do. */
  function makeRoom(bytes: number, mayReplace: boolean): string[] | undefined {
    const missing = used + bytes - maxBytes;
    if (missing <= 0) return [];
    if (!mayReplace) return undefined;
    const unsigned = [...files.keys()].filter((name) => name.endsWith(suffixes.unsigned)).sort();
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
    /** Counts a file before it is written; see {@link makeRoom}. */
    async reserve(name: string, size: number, { mayReplace }: { mayReplace: boolean }) {
      const bytes = sizeOnDisk(size);
      if (used + bytes > maxBytes && Math.abs(now() - readAt) >= 1000) await read();
      const removed = makeRoom(bytes, mayReplace);
      if (removed === undefined) return undefined;
      for (const unsigned of removed) free(unsigned);
      files.set(name, bytes);
      used += bytes;
      writing.add(name);
      return removed;
    },
    written: (name: string) => void writing.delete(name),
    free,
    rename(from: string, to: string): void {
      const size = files.get(from);
      if (size === undefined) return;
      files.delete(from);
      files.set(to, size);
    },
  };
}

function sizeOnDisk(bytes: number): number {
  return Math.ceil(bytes / blockBytes) * blockBytes;
}

/** Commits the names of new files to the disk. Waiting calls share one that begins after their files were written. */
function folderSync(path: string): () => Promise<void> {
  let next: Promise<void> | undefined;
  let running: Promise<void> = Promise.resolve();
  return () => {
    next ??= running.then(() => {
      running = sync(path);
      next = undefined;
      return running;
    });
    return next;
  };
}

async function sync(path: string): Promise<void> {
  // Windows neither has nor needs this call for folders.
  if (process.platform === 'win32') return;
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Where events wait for a target without a named folder: one folder for each target, the same in every run. */
export function queueFolder(context: CliContext, target: URL): string {
  const id = createHash('sha256').update(target.href).digest('hex').slice(0, 16);
  return stateFolder(context, 'listen', id);
}
