import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

const mb = 1024 * 1024;
/** Leasing and removing a delivery write its pages to the `-wal`. */
const reservedBytes = 2 * mb;
/** With less than this the `-wal` is emptied before each transaction: on a full disk that would be impossible. */
const scarceBytes = 64 * mb;

export type DiskRoom = ReturnType<typeof diskRoom>;

/**
 * Keeps room to handle deliveries when the disk is full. Everything is written twice: to the `-wal`, and to the file,
 * which grows unless it has free pages.
 */
export function diskRoom(database: DatabaseSync, path: string) {
  const emptyWal = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  const freePages = database.prepare('PRAGMA freelist_count');
  const pageBytes = Number(database.prepare('PRAGMA page_size').get()?.page_size);
  let room = Number.POSITIVE_INFINITY;
  let added = 0;
  let grown = 0;

  function measure(): number {
    const wal = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    const free = freeBytes(dirname(path));
    if (free - wal >= scarceBytes || wal === 0) return free - wal;
    try {
      // This fails while another process reads.
      emptyWal.get();
    } catch {
      return free - wal;
    }
    return freeBytes(dirname(path)) - (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0);
  }

  return {
    begin(): void {
      room = measure();
      added = 0;
      grown = 0;
    },

    take(bodyBytes: number): boolean {
      // The body has pages of its own; the rest of the row and four index entries touch one page each.
      const bytes = (Math.ceil(bodyBytes / pageBytes) + 6) * pageBytes;
      added += bytes;
      grown += bytes;
      // A file that grows never shrinks, and deliveries that take freed pages need the -wal: they keep as much again.
      if (room - added - grown >= 2 * reservedBytes) return true;
      grown -= bytes;
      const hasPages = Number(freePages.get()?.freelist_count) * pageBytes >= bytes;
      if (hasPages && room - added - grown >= reservedBytes) return true;
      added -= bytes;
      return false;
    },
  };
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
