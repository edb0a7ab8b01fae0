import { membersOf } from '../internal/json.ts';
import { warnOnce } from '../internal/warn.ts';
import { isAhead } from './lease.ts';
import type { RecordStore, StoredRecord } from './record-store.ts';
import { isNewer, storedForm } from './stored-form.ts';

/** One entry of an index. */
export interface TimeEntry {
  readonly key: string;
  /** Milliseconds since 1970. The index is sorted by it. */
  readonly at: number;
  readonly digest: string;
  readonly value: EntryValue;
}

interface EntryValue {
  /** When what it leads to was received. */
  readonly receivedAt: number;
  /** When it was written, by the clock of its process. */
  readonly writtenAt: number;
}

const form = storedForm<EntryValue>(
  'An entry of an index',
  { receivedAt: true, writtenAt: true },
  // Sound: an entry with this member was written by this form.
  (stored) => (Number.isFinite(membersOf(stored).writtenAt) ? (stored as unknown as EntryValue) : undefined),
);

/** A time of 16 digits, and a digest. */
const placeForm = /^(\d{16})\/([0-9a-f]{64})$/;
/** The most records that `list` of a store returns. */
const largestPage = 1_000;

const entriesOfPage = 100;

/**
 * Records in the order of a time, which is in their keys: each leads to another record by a digest.
 *
 * @param prefix begins the keys of its records
 */
export function timeIndex(store: Pick<RecordStore, 'list'>, prefix: string) {
  /** `undefined` for a record that is not ours, or that only a newer version can read. */
  function toEntry({ key, value: stored }: StoredRecord): TimeEntry | undefined {
    if (isNewer(stored)) {
      warnOnce(`The records of a newer version below ${prefix} are left as they are: update this process.`);
      return undefined;
    }
    const [, at, digest] = placeForm.exec(key.slice(prefix.length)) ?? [];
    const value = form.read(stored);
    if (at !== undefined && digest !== undefined && value !== undefined)
      return { key, at: Number(at), digest, value };
    warnOnce(`Records below ${prefix} that another program has written are passed over.`);
    return undefined;
  }

  /** Up to `limit` entries after a key; fewer only if there are no more. */
  async function list(limit: number, after?: string): Promise<TimeEntry[]> {
    const entries: TimeEntry[] = [];
    let last = after;
    for (;;) {
      const asked = limit - entries.length;
      const page = await store.list({ prefix, after: last, limit: asked });
      entries.push(...page.flatMap((record) => toEntry(record) ?? []));
      if (page.length < asked || entries.length === limit) return entries;
      last = page.at(-1)?.key;
    }
  }

  return {
    list,
    keyOf: (at: number, digest: string) => `${prefix}${timeText(at)}/${digest}`,
    holds: (key: string) => key.startsWith(prefix),

    /** The record of an entry. @param former the record that leads to the same now */
    write(
      receivedAt: number,
      { at, former }: { readonly at: number; readonly former?: StoredRecord['value'] | undefined },
    ) {
      return form.write({ receivedAt, writtenAt: Math.floor(at) }, former);
    },

    /** Reads no more than `most` entries, by pages. @param from only those of this time and later */
    async *pages(most: number, from?: number): AsyncGenerator<readonly TimeEntry[], void> {
      let after = from === undefined ? undefined : `${prefix}${timeText(from)}`;
      let left = most;
      while (left > 0) {
        const asked = Math.min(entriesOfPage, left);
        const page = await list(asked, after);
        if (page.length > 0) yield page;
        if (page.length < asked) return;
        left -= page.length;
        after = page.at(-1)?.key;
      }
    },

    /**
     * Up to `limit` entries that are due, oldest first, or when the next one is.
     *
     * @param options.longestWaitMs an entry due later than that was written before the clock went back, and is due
     */
    async findDue({
      limit,
      now,
      longestWaitMs,
    }: {
      readonly limit: number;
      readonly now: number;
      readonly longestWaitMs: number;
    }): Promise<{ due: TimeEntry[]; pauseMs: number }> {
      const entries = await list(limit);
      const due = entries.filter(({ at }) => at <= now);
      const [next] = entries;
      if (next === undefined) return { due: [], pauseMs: Number.POSITIVE_INFINITY };
      if (due.length > 0) return { due, pauseMs: 0 };
      const late = await list(limit, `${prefix}${timeText(now + longestWaitMs)}`);
      const early = late.filter(({ value }) => isAhead(value.writtenAt, now));
      return { due: early, pauseMs: early.length > 0 ? 0 : next.at - now };
    },

    /** How many there are, those of a newer version too, but no more than `most`. */
    async count(most = Number.POSITIVE_INFINITY): Promise<number> {
      let counted = 0;
      for (let after: string | undefined; counted < most; ) {
        const limit = Math.min(largestPage, most - counted);
        const page = await store.list({ prefix, after, limit });
        counted += page.filter(({ key }) => placeForm.test(key.slice(prefix.length))).length;
        if (page.length < limit) break;
        after = page.at(-1)?.key;
      }
      return counted;
    },
  };
}

/** So that texts sort as their times do. */
function timeText(at: number): string {
  return String(Math.max(0, Math.floor(at))).padStart(16, '0');
}
