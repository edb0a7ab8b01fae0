import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Delivery, readDelivery, writeDelivery } from '../deliveries/delivery-file.ts';

/** `pending`: still to be forwarded. `refused`: the target does not want it. `done`: nothing is left to do. */
export type SavedState = 'pending' | 'refused' | 'done';

/** Where deliveries are kept, one file each, whose names sort as they came. Nothing here is kept in memory. */
export interface DeliveryFolder {
  readonly path: string;
  /** Whether what is done stays here. */
  readonly keepsDone: boolean;
  /** Returns the name of the file once it is on the disk, whatever happens to this machine then. */
  save(delivery: Delivery, state: 'pending' | 'done'): Promise<string>;
  read(name: string): Promise<Delivery>;
  /**
   * Sets the state of a pending delivery, and returns its new name; `undefined` if it was removed, since it is done and
   * nobody wants to keep it.
   */
  settle(name: string, state: SavedState): Promise<string | undefined>;
  /** The names of those that are still to be forwarded, oldest first. */
  pending(): Promise<string[]>;
}

const suffixes: Readonly<Record<SavedState, string>> = {
  pending: '.pending.json',
  refused: '.refused.json',
  done: '.json',
};

/** Makes the folder if there is none. */
export async function openDeliveryFolder(
  path: string,
  {
    keepsDone,
    now,
    random,
  }: { keepsDone: boolean; now: () => number; random: (bytes: number) => Uint8Array },
): Promise<DeliveryFolder> {
  // Events hold personal data.
  await mkdir(path, { recursive: true, mode: 0o700 });
  // Two processes may use one folder.
  const owner = Buffer.from(random(4)).toString('hex');
  const syncFolder = folderSync(path);
  let count = 0;
  return {
    path,
    keepsDone,
    async save(delivery, state) {
      count++;
      const time = new Date(now()).toISOString().replaceAll(/[-:.]/g, '');
      const name = `${time}-${String(count).padStart(6, '0')}-${owner}${suffixes[state]}`;
      const file = await open(join(path, name), 'wx', 0o600);
      try {
        await file.writeFile(writeDelivery(delivery));
        await file.sync();
      } finally {
        await file.close();
      }
      await syncFolder();
      return name;
    },
    read: async (name) => readDelivery(await readFile(join(path, name)), name),
    async settle(name, state) {
      if (state === 'done' && !keepsDone) {
        await rm(join(path, name), { force: true });
        return undefined;
      }
      const settled = name.slice(0, -suffixes.pending.length) + suffixes[state];
      await rename(join(path, name), join(path, settled));
      return settled;
    },
    pending: async () => (await readdir(path)).filter((name) => name.endsWith(suffixes.pending)).sort(),
  };
}

/**
 * Puts the names of new files on the disk. Those that wait share one call, which must begin after their files were
 * written.
 */
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
  // Windows has no such call for folders, and needs none.
  if (process.platform === 'win32') return;
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
