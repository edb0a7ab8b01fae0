import type { JsonValue } from '../../src/internal/json.ts';
import type { RecordStore } from '../../src/store/record-store.ts';

/** Adds one to a record. @returns what it is then */
export function increment(store: RecordStore, key = 'count'): Promise<number> {
  return store.transact([key], (records) => {
    const count = Number(records.get(key) ?? 0) + 1;
    records.set(key, count);
    return count;
  });
}

export function read(store: RecordStore, key = 'count'): Promise<JsonValue | undefined> {
  return store.transact([key], (records) => records.get(key));
}

export function set(store: RecordStore, key: string, value: JsonValue, expiresAt?: number): Promise<void> {
  return store.transact([key], (records) => records.set(key, value, { expiresAt }));
}
