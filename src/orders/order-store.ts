import { orderIdDigest } from '../deployment/reply-shape.ts';
import { isStoreError } from '../errors/errors.ts';
import { isJsonObject, type JsonValue } from '../internal/json.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { SeenEvent } from './event-comparison.ts';
import { type ListedOrder, toIndexEntry } from './jobs.ts';
import type { JournalSettings } from './journal-options.ts';
import type { JournalHealth } from './journal-types.ts';
import { isAhead, isOverdue, isUnsettled, type OrderRecord, readRecord, stateAt } from './order-record.ts';
import { applyResults, type UnwrittenResult, UnwrittenResults } from './unwritten-results.ts';

/** Pure, as for {@link RecordStore.transact}; returning its argument changes nothing. */
type Change<After extends OrderRecord | undefined> = (record: OrderRecord | undefined) => After;

/**
 * One record for each order, and one more in an index while it is unsettled or waits for its first event. Every change
 * first writes the order's unwritten results.
 */
export function orderStore(
  {
    store,
    prefix,
    rememberMs,
    firstEventWithinMs,
    now,
  }: Pick<JournalSettings, 'store' | 'prefix' | 'rememberMs' | 'firstEventWithinMs' | 'now'>,
  onLateResult: (before: OrderRecord | undefined, after: OrderRecord) => void,
) {
  const recordKey = (digest: string) => `${prefix}order:${digest}`;
  const indexPrefix = `${prefix}unsettled:`;
  /** An index of the accepted orders without an event. */
  const awaitingPrefix = `${prefix}awaiting:`;
  /** An index of orders that the journal does not have, and whose events it has seen. */
  const strayPrefix = `${prefix}stray:`;
  /** Its record says that this journal has observed an event. */
  const observedKey = `${prefix}observed`;
  let hasObserved = false;
  /** Its record says that a loop over this store calls `onSettled`. */
  const reportsKey = `${prefix}reports`;
  let hasNotedReports = false;
  const watchMs = Math.max(watchWithoutEventsMs, firstEventWithinMs ?? 0);
  const unwritten = new UnwrittenResults();
  let writing: Promise<void> | undefined;

  async function readEach(digests: readonly string[]): Promise<(OrderRecord | undefined)[]> {
    if (digests.length === 0) return [];
    const keys = [...new Set(digests.map(recordKey))];
    const values = await store.transact(
      keys,
      (records) => new Map(keys.map((key) => [key, records.get(key)])),
    );
    return digests.map((digest) => readRecord(values.get(recordKey(digest))));
  }

  async function readMany(digests: readonly string[]): Promise<OrderRecord[]> {
    return (await readEach(digests)).filter((record) => record !== undefined);
  }

  async function readAll(digests: readonly string[]): Promise<OrderRecord[]> {
    const found: OrderRecord[] = [];
    for (let start = 0; start < digests.length; start += chunkSize) {
      found.push(...(await readMany(digests.slice(start, start + chunkSize))));
    }
    return found;
  }

  async function changeIn<After extends OrderRecord | undefined>(
    through: RecordStore,
    partnerOrderId: string,
    change: Change<After>,
  ): Promise<After> {
    const digest = orderIdDigest(partnerOrderId);
    const key = recordKey(digest);
    const index = indexPrefix + digest;
    const awaiting = awaitingPrefix + digest;
    return await through.transact([key, index, awaiting], (records) => {
      const before = readRecord(records.get(key));
      const changed = change(before);
      if (changed === undefined || changed === before) return changed;
      // Sound: a record like the one that it copies.
      const after = { ...changed, revision: (before?.revision ?? 0) + 1 } as typeof changed;
      const entry = toIndexEntry(after, records.get(index));
      const since = firstEventWithinMs === undefined ? undefined : after.awaitingEventSince;
      const isOpen = entry !== undefined || (since !== undefined && hasObserved);
      const expiresAt = isOpen || rememberMs === undefined ? undefined : now() + rememberMs;
      // Sound: a record has only JSON members, and those that are `undefined` are left out.
      records.set(key, after as JsonValue, { expiresAt });
      if (entry === undefined) records.delete(index);
      else records.set(index, entry);
      if (since === undefined) records.delete(awaiting);
      else records.set(awaiting, since, { expiresAt: hasObserved ? undefined : now() + watchMs });
      return after;
    });
  }

  async function update<After extends OrderRecord | undefined>(
    partnerOrderId: string,
    change: Change<After>,
  ): Promise<After> {
    const late = unwritten.of(partnerOrderId);
    const updated = await retryOnce(() =>
      changeIn(store, partnerOrderId, (record) => change(applyResults(record, late, now()))),
    );
    unwritten.remove(partnerOrderId, late);
    void writeResults();
    return updated;
  }

  /** Writes all unwritten results, if the store works again. Never rejects. */
  async function writeResults(): Promise<void> {
    if (unwritten.size === 0) return;
    writing ??= writeAll()
      // The store is down again: the next call tries again.
      .catch(() => {})
      .finally(() => {
        writing = undefined;
      });
    await writing;
  }

  async function writeAll(): Promise<void> {
    for (const partnerOrderId of unwritten.ids()) {
      const late = unwritten.of(partnerOrderId);
      unwritten.moveToEnd(partnerOrderId);
      let before: OrderRecord | undefined;
      const after = await changeIn(store, partnerOrderId, (record) => {
        before = record;
        return applyResults(record, late, now());
      });
      unwritten.remove(partnerOrderId, late);
      if (after !== undefined) onLateResult(before, after);
    }
  }

  async function isObserving(): Promise<boolean> {
    if (!hasObserved && firstEventWithinMs !== undefined) {
      hasObserved = await isNoted(observedKey);
    }
    return hasObserved;
  }

  async function note(key: string): Promise<void> {
    await retryOnce(() =>
      store.transact([key], (records) => {
        if (records.get(key) === undefined) records.set(key, now());
      }),
    );
  }

  async function isNoted(key: string): Promise<boolean> {
    // Not a transaction: once written, the record stays.
    const [record] = await store.list({ prefix: key, limit: 1 });
    return record?.key === key;
  }

  /** Orders accepted before this time should have had an event; `undefined` where its absence means nothing. */
  async function acceptedBefore(): Promise<number | undefined> {
    return firstEventWithinMs !== undefined && (await isObserving()) ? now() - firstEventWithinMs : undefined;
  }

  /** The entries of an index, in pages. */
  async function* listIndex(listed: string): AsyncGenerator<{ digest: string; value: JsonValue }[]> {
    for (let after: string | undefined; ; ) {
      const page = await store.list({ prefix: listed, after, limit: pageSize });
      yield page.map(({ key, value }) => ({ digest: key.slice(listed.length), value }));
      if (page.length < pageSize) return;
      after = page.at(-1)?.key;
    }
  }

  /** Those that have been unsettled longest come first. */
  async function listUnsettled(): Promise<ListedOrder[]> {
    const found: ListedOrder[] = [];
    for await (const page of listIndex(indexPrefix)) {
      for (const { digest, value } of page) {
        // Sound: `toIndexEntry` wrote it.
        if (typeof value === 'object') found.push({ ...(value as unknown as ListedOrder), idDigest: digest });
      }
      // An earlier version wrote the time alone.
      const short = page.filter(({ value }) => typeof value === 'number').map(({ digest }) => digest);
      for (const record of await readAll(short)) {
        found.push({ ...record, idDigest: orderIdDigest(record.partner_order_id) });
      }
    }
    return found.sort((one, other) => one.openedAt - other.openedAt);
  }

  /** Those that have waited longest for their first event come first; each with the time since when. */
  async function listAwaiting(): Promise<{ digest: string; since: number }[]> {
    const found: { digest: string; since: number }[] = [];
    for await (const page of listIndex(awaitingPrefix)) {
      for (const { digest, value } of page) found.push({ digest, since: Number(value) });
    }
    return found.sort((one, other) => one.since - other.since);
  }

  return {
    async read(partnerOrderId: string): Promise<OrderRecord | undefined> {
      if (unwritten.of(partnerOrderId).length > 0) return await update(partnerOrderId, (record) => record);
      const [record] = await readMany([orderIdDigest(partnerOrderId)]);
      return record;
    },

    update,

    /** In a transaction of the user's: it cannot be retried, and may be rolled back. */
    updateThrough: <After extends OrderRecord | undefined>(
      through: RecordStore,
      partnerOrderId: string,
      change: Change<After>,
    ): Promise<After> =>
      changeIn(through, partnerOrderId, (record) =>
        change(applyResults(record, unwritten.of(partnerOrderId), now())),
      ),

    /** Keeps a result until the store works again. The store may also lack the intent of the attempt. */
    writeLater: (partnerOrderId: string, result: UnwrittenResult) => unwritten.add(partnerOrderId, result),

    /** Writes down that this journal has observed an event, once. */
    async noteObservation(): Promise<void> {
      if (hasObserved || firstEventWithinMs === undefined) return;
      await note(observedKey);
      hasObserved = true;
    },

    /** Writes down that a loop over this store calls `onSettled`, once. */
    async noteReports(): Promise<void> {
      if (hasNotedReports) return;
      await note(reportsKey);
      hasNotedReports = true;
    },

    /** Whether a loop over this store, of any process, calls `onSettled`. */
    hasReports: () => isNoted(reportsKey),

    /** Finds out whether any process has observed an event: then orders are watched until theirs comes. Never rejects. */
    async readObservation(): Promise<void> {
      await isObserving().catch(() => {});
    },

    acceptedBefore,

    /** The orders for which there may be a job. */
    async listJobs(): Promise<ListedOrder[]> {
      await writeResults();
      return await listUnsettled();
    },

    /** Reads the indexes alone, and no order. */
    async health(): Promise<JournalHealth> {
      await writeResults();
      const overdue = { acceptedBefore: await acceptedBefore(), now: now() };
      const indexed = await listUnsettled();
      const listed = indexed.filter(isUnsettled);
      const awaiting = overdue.acceptedBefore === undefined ? [] : await listAwaiting();
      const counts = { prepared: 0, sending: 0, waiting: 0, 'not-sent': 0, unknown: 0 };
      for (const order of listed) {
        const state = stateAt(order, overdue.now);
        if (isCounted(state, counts)) counts[state]++;
      }
      const [oldest] = listed;
      return {
        ...counts,
        unsettled: listed.length,
        oldestAgeMs: oldest === undefined ? null : Math.max(0, overdue.now - oldest.openedAt),
        withoutEvent: awaiting.filter(({ since }) => isOverdue({ awaitingEventSince: since }, overdue))
          .length,
        mismatches: indexed.filter(({ attention }) => attention === 'mismatch').length,
        otherPayloads: indexed.filter(({ attention }) => attention === 'payload').length,
        unreported: indexed.filter(({ unreported }) => unreported === true).length,
        unwritten: unwritten.size,
      };
    },

    /** Page by page. */
    async *list({ attention }: { attention: boolean }): AsyncGenerator<OrderRecord> {
      await writeResults();
      if (!attention) {
        for await (const page of listIndex(recordKey(''))) {
          for (const { value } of page) {
            const record = readRecord(value);
            if (record !== undefined) yield record;
          }
        }
        return;
      }
      for await (const page of listIndex(indexPrefix)) {
        const found = page.filter(({ value }) => isJsonObject(value) && value.attention !== undefined);
        const records = await readAll(found.map(({ digest }) => digest));
        yield* records.filter((record) => record.attention !== undefined);
      }
    },

    /** The orders of up to 1,000 ids, in their order. */
    readEach: (ids: readonly string[]) => readEach(ids.map(orderIdDigest)),

    /** Keeps the first event of an order that the journal does not have, for `reconcile`. */
    async noteStray(partner_order_id: string, { name, digest }: SeenEvent): Promise<void> {
      const key = strayPrefix + orderIdDigest(partner_order_id);
      await retryOnce(() =>
        store.transact([key], (records) => {
          if (records.get(key) !== undefined) return;
          const stray: StrayEvent = { partner_order_id, name, digest, at: now() };
          // Sound: it has only JSON members.
          records.set(key, stray as unknown as JsonValue, { expiresAt: now() + strayMs });
        }),
      );
    },

    /** What `noteStray` has kept. */
    async *strays(): AsyncGenerator<StrayEvent> {
      for await (const page of listIndex(strayPrefix)) {
        // Sound: `noteStray` wrote it.
        for (const { value } of page) yield value as unknown as StrayEvent;
      }
    },

    async readListed({ idDigest }: ListedOrder): Promise<OrderRecord | undefined> {
      const [record] = await readMany([idDigest]);
      return record;
    },

    /** Those that have been unsettled longest come first, then those that have waited longest for an event. */
    async unsettled({
      openedBefore,
      limit,
    }: {
      openedBefore: number;
      limit: number;
    }): Promise<OrderRecord[]> {
      await writeResults();
      const overdue = { acceptedBefore: await acceptedBefore(), now: now() };
      // The clock of another process may be a little ahead.
      const isOpen = (openedAt: number) =>
        Math.min(openedAt, overdue.now) <= openedBefore || isAhead(openedAt, overdue.now);
      const listed = (await listUnsettled()).filter((order) => isUnsettled(order) && isOpen(order.openedAt));
      const awaiting = overdue.acceptedBefore === undefined ? [] : await listAwaiting();
      const late = awaiting.filter(
        ({ since }) => isOpen(since) && isOverdue({ awaitingEventSince: since }, overdue),
      );
      const wanted = new Set([
        ...listed.map(({ idDigest }) => idDigest),
        ...late.map(({ digest }) => digest),
      ]);
      const records = await readAll([...wanted].slice(0, limit));
      // Some may have been settled meanwhile.
      return records.filter((record) => isUnsettled(record) || isOverdue(record, overdue));
    },
  };
}

function isCounted<State extends string>(state: string, counts: Record<State, number>): state is State {
  return Object.hasOwn(counts, state);
}

export type OrderStore = ReturnType<typeof orderStore>;

/** How long an order is watched for its first event while no event was ever observed. */
const watchWithoutEventsMs = 86_400_000;

/** The first event of an order that the journal does not have. */
interface StrayEvent {
  readonly partner_order_id: string;
  readonly name: string;
  readonly digest: string;
  readonly at: number;
}

/** How long it is kept. */
const strayMs = 30 * 86_400_000;

const pageSize = 1000;
/** Records read in one transaction, which delays every writer of one of their keys. */
const chunkSize = 100;

/**
 * A connection of a pool may have died unnoticed, and conflicts pass. A change that is applied twice recognises its own
 * result, in case the first try was committed after all.
 */
async function retryOnce<Result>(transact: () => Promise<Result>): Promise<Result> {
  try {
    return await transact();
  } catch (error) {
    if (!isStoreError(error) || error.code === 'store_closed') throw error;
    return await transact();
  }
}
