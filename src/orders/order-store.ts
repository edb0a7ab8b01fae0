import { orderIdDigest } from '../deployment/reply-shape.ts';
import { isStoreError } from '../errors/errors.ts';
import { quotedName } from '../internal/printable-text.ts';
import { warn } from '../internal/warn.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { JournalSettings } from './journal-options.ts';
import { isOpen, listOpen, listPages, type OpenOrder, toIndexEntry } from './open-orders.ts';
import { type OrderRecord, readRecord, writeRecord } from './order-record.ts';
import { applyResults, type UnwrittenResult, UnwrittenResults } from './unwritten-results.ts';

type StoreSettings = Pick<JournalSettings, 'store' | 'prefix' | 'rememberMs' | 'firstEventWithinMs' | 'now'>;

/** Pure, as for {@link RecordStore.transact}; returning its argument changes nothing. */
type Change<After extends OrderRecord | undefined> = (record: OrderRecord | undefined) => After;

interface Changed<After> {
  /** The argument of the change. */
  readonly before: OrderRecord | undefined;
  readonly after: After;
}

/**
 * Keeps a record for each order (`order:`), and an entry in one index (`open:`) while there may be something to do about
 * it, or its first event has not come. Every change first writes the order's unwritten results.
 */
export class OrderStore {
  readonly #settings: StoreSettings;
  readonly #orderPrefix: string;
  readonly #openPrefix: string;
  readonly #unwritten = new UnwrittenResults();
  #writing: Promise<void> | undefined;

  constructor(settings: StoreSettings) {
    this.#settings = settings;
    this.#orderPrefix = `${settings.prefix}order:`;
    this.#openPrefix = `${settings.prefix}open:`;
  }

  async read(partnerOrderId: string): Promise<OrderRecord | undefined> {
    if (this.#unwritten.of(partnerOrderId).length > 0)
      return (await this.update(partnerOrderId, (record) => record)).after;
    const [record] = await this.readEach([partnerOrderId]);
    return record;
  }

  /** The orders of up to 1,000 ids, in their order. */
  async readEach(ids: readonly string[]): Promise<(OrderRecord | undefined)[]> {
    return await this.#readDigests(ids.map(orderIdDigest));
  }

  /** @param through a transaction of the user's, which cannot be retried and may be rolled back */
  async update<After extends OrderRecord | undefined>(
    partnerOrderId: string,
    change: Change<After>,
    through?: RecordStore,
  ): Promise<Changed<After>> {
    if (through !== undefined) return await this.#change(through, partnerOrderId, change);
    const changed = await retryOnce(() => this.#commit(partnerOrderId, change));
    void this.#writeResults();
    return changed;
  }

  /** Keeps a result until the store works again. The store may also lack the intent of the attempt. */
  writeLater(partnerOrderId: string, result: UnwrittenResult): void {
    this.#unwritten.add(partnerOrderId, result);
  }

  /** Orders accepted before this time should have had an event; `undefined` where none is expected. */
  acceptedBefore(): number | undefined {
    const { firstEventWithinMs, now } = this.#settings;
    return firstEventWithinMs === undefined ? undefined : now() - firstEventWithinMs;
  }

  /** The open orders; that which was opened first comes first. */
  async openOrders(): Promise<OpenOrder[]> {
    await this.#writeResults();
    return await listOpen(this.#settings.store, this.#openPrefix);
  }

  /** The records of open orders. */
  async readOpen(orders: readonly OpenOrder[]): Promise<OrderRecord[]> {
    const records = await this.#readDigests(orders.map(({ idDigest }) => idDigest));
    return records.filter((record) => record !== undefined);
  }

  /** Orders whose results the store has not taken. */
  get unwritten(): number {
    return this.#unwritten.size;
  }

  /** Each order of the journal, page by page. */
  async *all(): AsyncGenerator<OrderRecord> {
    await this.#writeResults();
    for await (const page of listPages(this.#settings.store, this.#orderPrefix))
      yield* page.map(({ value }) => readRecord(value)).filter((record) => record !== undefined);
  }

  async #readDigests(digests: readonly string[]): Promise<(OrderRecord | undefined)[]> {
    if (digests.length === 0) return [];
    const keyed = digests.map((digest) => this.#orderPrefix + digest);
    const keys = [...new Set(keyed)];
    const values = await this.#settings.store.transact(
      keys,
      (records) => new Map(keys.map((key) => [key, records.get(key)])),
    );
    return keyed.map((key) => readRecord(values.get(key)));
  }

  /** Writes all unwritten results, if the store works again. Never rejects. */
  async #writeResults(): Promise<void> {
    if (this.#unwritten.size === 0) return;
    this.#writing ??= this.#writeAll()
      // The store is down again: the next call tries again.
      .catch(() => {})
      .finally(() => {
        this.#writing = undefined;
      });
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    for (const partnerOrderId of this.#unwritten.ids()) {
      this.#unwritten.moveToEnd(partnerOrderId);
      await this.#commit(partnerOrderId, (record) => record);
    }
  }

  async #commit<After extends OrderRecord | undefined>(
    partnerOrderId: string,
    change: Change<After>,
  ): Promise<Changed<After>> {
    const { stored, late, ...changed } = await this.#change(this.#settings.store, partnerOrderId, change);
    this.#unwritten.remove(partnerOrderId, late);
    if (changed.after?.contradiction !== stored?.contradiction) warnOfContradiction(changed.after);
    return changed;
  }

  async #change<After extends OrderRecord | undefined>(
    store: RecordStore,
    partnerOrderId: string,
    change: Change<After>,
  ) {
    const { rememberMs = Number.POSITIVE_INFINITY, now } = this.#settings;
    const late = this.#unwritten.of(partnerOrderId);
    const digest = orderIdDigest(partnerOrderId);
    const key = this.#orderPrefix + digest;
    const index = this.#openPrefix + digest;
    const changed = await store.transact([key, index], (records) => {
      const stored = readRecord(records.get(key));
      const before = applyResults(stored, late, now());
      const changed = change(before);
      if (changed === undefined || changed === stored) return { stored, before, after: changed };
      // Sound: a record like the one that it copies.
      const after = { ...changed, revision: changed.revision + 1 } as typeof changed;
      const openUntil = this.#endOfWork(after);
      const expiresAt = Math.max(openUntil, now() + rememberMs);
      records.set(key, writeRecord(after, records.get(key)), expiryAt(expiresAt));
      if (openUntil === 0) records.delete(index);
      else records.set(index, toIndexEntry(after, records.get(index)), expiryAt(openUntil));
      return { stored, before, after };
    });
    return { ...changed, late };
  }

  /** When an order leaves the index by itself; 0 if it is not in it. */
  #endOfWork(record: OrderRecord): number {
    if (isOpen(record)) return Number.POSITIVE_INFINITY;
    const { firstEventWithinMs } = this.#settings;
    const { awaitingEventSince: since } = record;
    return since === undefined || firstEventWithinMs === undefined ? 0 : since + firstEventWithinMs + watchMs;
  }
}

function expiryAt(time: number): { readonly expiresAt: number | undefined } {
  return { expiresAt: time === Number.POSITIVE_INFINITY ? undefined : time };
}

/**
 * How long a late first event is waited for: without an end, the index of a journal that observes no events would grow
 * for ever.
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

function warnOfContradiction({ partner_order_id, contradiction }: Partial<OrderRecord> = {}): void {
  if (contradiction === undefined) return;
  const id = quotedName(partner_order_id ?? '');
  warn(
    `The service has order ${id}, although it was ${contradiction} as far as the order journal knows: maybe another program uses its id, or what counts as refused was not (assumptions: errors).`,
  );
}
