import { membersOf } from '../../internal/json.ts';
import { warnOnce } from '../../internal/warn.ts';
import { isAhead } from '../../store/lease.ts';
import type { RecordStore, StoredRecord } from '../../store/record-store.ts';
import { isNewer, storedForm } from '../../store/stored-form.ts';
import { type Handling, longestWaitMsOf } from '../handling-options.ts';

export interface IndexOptions extends Pick<Handling, 'timeLimitMs' | 'retry' | 'ignoreAfterMs' | 'now'> {
  readonly store: RecordStore;
  readonly prefix: string;
}

export type IndexName = 'due' | 'alone' | 'dead';

interface IndexEntry {
  readonly key: string;
  readonly digest: string;
  /** Milliseconds since the epoch. The index is sorted by it. */
  readonly at: number;
  readonly receivedAt: number;
  readonly writtenAt: number;
}

/** A time of 16 digits, and a digest. */
const entryForm = /^(\d{16})\/([0-9a-f]{64})$/;
/** Of a record store. */
const largestPage = 1_000;

/** The value of an index record. */
export const indexForm = storedForm<{ readonly receivedAt: number; readonly writtenAt: number }>(
  'An entry of the inbox',
  { receivedAt: true, writtenAt: true },
);

/**
 * Deliveries in the order of a time, which is in the keys of the records.
 *
 * @param name `due`: by when they may be handled beside others. `alone`: by when they may be handled alone; a leased
 *   delivery is here by the end of its lease. `dead`: by when they were received.
 */
export function deliveryIndex(name: IndexName, options: IndexOptions) {
  const { store, now } = options;
  const prefix = indexPrefix(options.prefix, name);
  const longestWaitMs = longestWaitMsOf(options);

  /** `undefined` for a record that is not ours, or that only a newer version can read. */
  function toEntry({ key, value }: StoredRecord): IndexEntry | undefined {
    if (isNewer(value)) {
      warnOnce(`The inbox leaves the deliveries of a newer version below ${prefix} as they are: update it.`);
      return undefined;
    }
    const [, at, digest] = entryForm.exec(key.slice(prefix.length)) ?? [];
    const { receivedAt, writtenAt } = membersOf(value);
    if (at !== undefined && digest !== undefined && Number.isFinite(writtenAt))
      return { key, digest, at: Number(at), receivedAt: Number(receivedAt), writtenAt: Number(writtenAt) };
    warnOnce(`The inbox passes over records below ${prefix} that another program has written.`);
    return undefined;
  }

  /** Up to `limit` entries; fewer only if there are no more. */
  async function list(limit: number, after?: string): Promise<IndexEntry[]> {
    const entries: IndexEntry[] = [];
    let last = after;
    for (;;) {
      const asked = limit - entries.length;
      const page = await store.list({ prefix, after: last, limit: asked });
      entries.push(...page.flatMap((record) => toEntry(record) ?? []));
      if (page.length < asked || entries.length === limit) return entries;
      last = page.at(-1)?.key;
    }
  }

  /** Reads no more than `most` entries. @param from only those of this time and later */
  async function* pages(
    size: number,
    most: number,
    from?: number,
  ): AsyncGenerator<readonly IndexEntry[], void> {
    let after = from === undefined ? undefined : `${prefix}${timeText(from)}`;
    let left = most;
    while (left > 0) {
      const asked = Math.min(size, left);
      const page = await list(asked, after);
      if (page.length > 0) yield page;
      if (page.length < asked) return;
      left -= page.length;
      after = page.at(-1)?.key;
    }
  }

  return {
    pages,
    keyOf: (at: number, digest: string) => indexKey(prefix, at, digest),
    holds: (key: string) => key.startsWith(prefix),

    /** Up to `limit` entries that are due, oldest first, or when the next one is. */
    async findDue(limit: number): Promise<{ found: IndexEntry[]; pauseMs: number }> {
      const at = now();
      const entries = await list(limit);
      const due = entries.filter((entry) => entry.at <= at);
      const [next] = entries;
      if (next === undefined) return { found: [], pauseMs: Number.POSITIVE_INFINITY };
      if (due.length > 0) return { found: due, pauseMs: 0 };
      // An entry due later than any wait was written before the clock went back.
      const late = await list(limit, `${prefix}${timeText(at + longestWaitMs)}`);
      const early = late.filter(({ writtenAt }) => isAhead(writtenAt, at));
      return { found: early, pauseMs: early.length > 0 ? 0 : next.at - at };
    },

    /** Of the first page. */
    async oldestReceivedAt(): Promise<number | undefined> {
      const received = (await list(largestPage)).map(({ receivedAt }) => receivedAt).filter(Number.isFinite);
      return received.length === 0 ? undefined : Math.min(...received);
    },

    /** How many there are, those of a newer version too, but no more than `most`. */
    async count(most = Number.POSITIVE_INFINITY): Promise<number> {
      let counted = 0;
      for (let after: string | undefined; counted < most; ) {
        const limit = Math.min(largestPage, most - counted);
        const page = await store.list({ prefix, after, limit });
        counted += page.filter(({ key }) => entryForm.test(key.slice(prefix.length))).length;
        if (page.length < limit) break;
        after = page.at(-1)?.key;
      }
      return counted;
    },
  };
}

/** Begins the keys of an index. @param prefix of the inbox */
export function indexPrefix(prefix: string, name: IndexName): string {
  return `${prefix}${name}/`;
}

/** @param prefix of the index */
export function indexKey(prefix: string, at: number, digest: string): string {
  return `${prefix}${timeText(at)}/${digest}`;
}

/** So that texts sort as their times do. */
function timeText(at: number): string {
  return String(Math.max(0, Math.floor(at))).padStart(16, '0');
}
