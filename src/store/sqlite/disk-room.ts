import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

const mb = 1024 * 1024;
/** A transaction with `reserve` writes its pages to the `-wal`. */
const reservedBytes = 2 * mb;
/** With less than this the `-wal` is emptied before each transaction: on a full disk that would be impossible. */
const scarceBytes = 64 * mb;

/** One that a transaction sets. */
interface RoomOfRecord {
  readonly key: string;
  readonly text: string;
}

/**
 * Keeps room for transactions with `reserve` when the disk is full. Everything is written twice: to the `-wal`, and to
 * the file, which grows unless it has free pages.
 *
 * @param options.maxBytes of all pages in use
 */
export function diskRoom(
  database: DatabaseSync,
  { path, maxBytes = Number.POSITIVE_INFINITY }: { path: string; maxBytes?: number | undefined },
) {
  const emptyWal = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  const freePages = database.prepare('PRAGMA freelist_count');
  const allPages = database.prepare('PRAGMA page_count');
  const pageBytes = Number(database.prepare('PRAGMA page_size').get()?.page_size);
  const freeInFile = () => Number(freePages.get()?.freelist_count) * pageBytes;
  let room = Number.POSITIVE_INFINITY;
  /** Left of `maxBytes`. */
  let allowed = Number.POSITIVE_INFINITY;
  let added = 0;
  let grown = 0;

  function measure(): number {
    const wal = walBytes(path);
    const free = freeBytes(dirname(path));
    if (free - wal >= scarceBytes || wal === 0) return free - wal;
    try {
      // This fails while another process reads.
      emptyWal.get();
    } catch {
      return free - wal;
    }
    return freeBytes(dirname(path)) - walBytes(path);
  }

  return {
    /** Called before each transaction: measures the disk. */
    begin(): void {
      room = measure();
      added = 0;
      grown = 0;
      if (maxBytes !== Number.POSITIVE_INFINITY)
        allowed = maxBytes - Number(allPages.get()?.page_count) * pageBytes + freeInFile();
    },

    /** Whether there is room for these records besides the room that is kept. */
    take(records: readonly RoomOfRecord[]): boolean {
      const sizes = records.map(({ key, text }) => key.length + Buffer.byteLength(text));
      // A long text has pages of its own; the rest of the row and its index entries touch three more.
      const pages = sizes.reduce((sum, size) => sum + Math.ceil(size / pageBytes) + 3, 0);
      const bytes = pages * pageBytes;
      const filled = sizes.reduce((sum, size) => sum + size, 0);
      if (filled > allowed) return false;
      added += bytes;
      grown += bytes;
      // A file that grows never shrinks, and records that take freed pages need the -wal: they keep as much again.
      const fits = room - added - grown >= 2 * reservedBytes;
      if (!fits) grown -= bytes;
      if (fits || (freeInFile() >= bytes && room - added - grown >= reservedBytes)) {
        allowed -= filled;
        return true;
      }
      added -= bytes;
      return false;
    },
  };
}

function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** No limit if the system does not report free bytes. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize, blocks } = statfsSync(folder);
    return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
