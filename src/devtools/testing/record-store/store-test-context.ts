import type { JsonValue } from '../../../internal/json.ts';
import type { RecordStore, StoredRecord } from '../../../store/record-store.ts';

export interface StoreTestContext {
  readonly store: RecordStore;
  /** Opens another store of the same data, or of another part. */
  readonly open: (part?: string) => Promise<RecordStore>;
  readonly clock: { now: number };
}

/** Runs a test with stores that are closed afterwards, and with a clock that only the test moves. */
export type DefineStoreTest = (name: string, run: (context: StoreTestContext) => Promise<void>) => void;

export function read(store: RecordStore, key: string): Promise<JsonValue | undefined> {
  return store.transact([key], (records) => records.get(key));
}

export function write(store: RecordStore, key: string, value: JsonValue, expiresAt?: number): Promise<void> {
  return store.transact([key], (records) => records.set(key, value, { expiresAt }));
}

export function increment(store: RecordStore, key: string): Promise<void> {
  return store.transact([key], (records) => records.set(key, Number(records.get(key) ?? 0) + 1));
}

export function listAll(store: RecordStore, prefix = ''): Promise<StoredRecord[]> {
  return store.list({ prefix, limit: 1000 });
}

export function pick<Item>(items: readonly Item[], index: number): Item {
  // Sound: the index is within the list.
  return items[index % items.length] as Item;
}
