import { orderIdDigest } from '../deployment/reply-shape.ts';
import { isStoreError } from '../errors/errors.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { SeenEvent } from './event-comparison.ts';
import type { JournalSettings } from './journal-options.ts';
import { isOpen, listOpen, listPages, type OpenOrder, toIndexEntry } from './open-orders.ts';
import { type OrderRecord, readRecord, writeRecord } from './order-record.ts';
import { readStray, type StrayEvent, toStrayRecord } from './stray-event.ts';
import { applyResults, type UnwrittenResult, UnwrittenResults } from './unwritten-results.ts';

/** Pure, as for {@link RecordStore.transact}; returning its argument changes nothing. */
type Change<After extends OrderRecord | undefined> = (record: OrderRecord | undefined) => After;

/**
 * Keeps a record for each order (`order:`), and an entry in one index (`open:`) while there may be something to do about
 * it, or its first event has not come. Every change first writes the order's unwritten results.
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
  const openPrefix = `${prefix}open:`;
  const unwritten = new UnwrittenResults();
  let writing: Promise<void> | undefined;
  /** Orders whose first event this process has kept, because the journal does not have them. */
  let strays = 0;

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

  async function changeIn<After extends OrderRecord | undefined>(
    through: RecordStore,
    partnerOrderId: string,
    change: Change<After>,
  ): Promise<After> {
    const digest = orderIdDigest(partnerOrderId);
    const key = recordKey(digest);
    const index = openPrefix + digest;
    return await through.transact([key, index], (records) => {
      const before = readRecord(records.get(key));
      const changed = change(before);
      if (changed === undefined || changed === before) return changed;
      // Sound: a record like the one that it copies.
      const after = { ...changed, revision: changed.revision + 1 } as typeof changed;
      const openUntil = endOfWork(after);
      const knownUntil = now() + (rememberMs ?? Number.POSITIVE_INFINITY);
      records.set(key, writeRecord(after, records.get(key)), expiryAt(Math.max(openUntil, knownUntil)));
      if (openUntil === 0) records.delete(index);
      else records.set(index, toIndexEntry(after, records.get(index)), expiryAt(openUntil));
      return after;
    });
  }

  /** When an order leaves the index by itself; 0 if it is not in it. */
  function endOfWork(record: OrderRecord): number {
    if (isOpen(record)) return Number.POSITIVE_INFINITY;
    const { awaitingEventSince: since } = record;
    return since === undefined || firstEventWithinMs === undefined ? 0 : since + firstEventWithinMs + watchMs;
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

  /** Orders accepted before this time should have had an event; `undefined` where none is expected. */
  function acceptedBefore(): number | undefined {
    return firstEventWithinMs === undefined ? undefined : now() - firstEventWithinMs;
  }

  /** The open orders; that which was opened first comes first. */
  async function openOrders(): Promise<OpenOrder[]> {
    await writeResults();
    return await listOpen(store, openPrefix);
  }

  async function* readRecords(): AsyncGenerator<StoredOrder> {
    await writeResults();
    for await (const page of listPages(store, recordKey(''))) {
      for (const { value } of page) yield { record: readRecord(value), stray: readStray(value) };
    }
  }

  return {
    async read(partnerOrderId: string): Promise<OrderRecord | undefined> {
      if (unwritten.of(partnerOrderId).length > 0) return await update(partnerOrderId, (record) => record);
      const [record] = await readMany([orderIdDigest(partnerOrderId)]);
      return record;
    },

    update,

    /** Changes an order in a transaction of the user's, which cannot be retried and may be rolled back. */
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

    acceptedBefore,

    openOrders,

    /** Counts of this process alone: results that the store has not taken, and orders of which it has an event only. */
    ownCounts: () => ({ unwritten: unwritten.size, eventsWithoutOrder: strays }),

    /** Each order of the journal, and the first event of each that it does not have, page by page. */
    readAll: readRecords,

    /** Each order of the journal, page by page. */
    async *all(): AsyncGenerator<OrderRecord> {
      for await (const { record } of readRecords()) if (record !== undefined) yield record;
    },

    /** The orders of up to 1,000 ids, in their order. */
    readEach: (ids: readonly string[]) => readEach(ids.map(orderIdDigest)),

    /** Keeps the first event of an order that the journal does not have, for `reconcile`, in the place of its record. */
    async noteStray(partner_order_id: string, { name, digest }: SeenEvent): Promise<void> {
      const key = recordKey(orderIdDigest(partner_order_id));
      const stray = { partner_order_id, name, digest, at: now() };
      const isNew = await retryOnce(() =>
        store.transact([key], (records) => {
          if (records.get(key) !== undefined) return false;
          records.set(key, toStrayRecord(stray), expiryAt(stray.at + watchMs));
          return true;
        }),
      );
      if (isNew) strays++;
    },

    /** The records of open orders. */
    readOpen: (orders: readonly OpenOrder[]) => readMany(orders.map(({ idDigest }) => idDigest)),
  };
}

/** The record under the id of an order: the order's own, or the first event of one that the journal does not have. */
interface StoredOrder {
  readonly record: OrderRecord | undefined;
  readonly stray: StrayEvent | undefined;
}

function expiryAt(time: number): { readonly expiresAt: number | undefined } {
  return { expiresAt: time === Number.POSITIVE_INFINITY ? undefined : time };
}

export type OrderStore = ReturnType<typeof orderStore>;

/**
 * How long a late first event is waited for, and a stray event is kept: without an end, a journal that observes no
 * events, or that shares its partner with another program, would grow for ever.
 */
const watchMs = 30 * 86_400_000;

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
