import { callback, defineOptions, type OptionTable } from '../internal/options.ts';
import { applyChange, type RecordWrite, toStoredRecord } from './apply-change.ts';
import { withoutBatches } from './batches.ts';
import { engineStore } from './engine-store.ts';
import { expiryGraceMs, type RecordStore, type StoredRecord } from './record-store.ts';

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** Milliseconds since 1970; decides what has expired. @default Date.now */
  now?: (() => number) | undefined;
}

const readOptions = defineOptions('memoryStore', {
  now: callback({ default: Date.now }),
} satisfies OptionTable<MemoryStoreOptions>);

/**
 * A record store in the memory of this process: everything is lost when it ends. For tests, and for records that may be
 * forgotten.
 *
 * @throws {ConfigurationError} `invalid_option`
 */
export function memoryStore(options: MemoryStoreOptions = {}): RecordStore {
  const { now } = readOptions(options);
  const records = new Map<string, RecordWrite>();
  /** The sorted keys of the prefix that was listed last. Some may have been deleted; a new key drops the list. */
  let listed: { readonly prefix: string; readonly keys: readonly string[] } | undefined;
  let writesUntilSweep = leastBetweenSweeps;

  function read(key: string, at: number): RecordWrite | undefined {
    const record = records.get(key);
    return record?.expiresAt !== undefined && record.expiresAt <= at ? undefined : record;
  }

  function write(key: string, record: RecordWrite | undefined): void {
    if (record === undefined) {
      records.delete(key);
      return;
    }
    if (listed !== undefined && key.startsWith(listed.prefix) && !records.has(key)) listed = undefined;
    records.set(key, record);
  }

  function sortedKeys(prefix: string): readonly string[] {
    if (listed?.prefix !== prefix) {
      const keys = [...records.keys()].filter((key) => key.startsWith(prefix)).sort();
      listed = { prefix, keys };
    }
    return listed.keys;
  }

  /** Runs once per as many writes as there are records: O(1) for each write. */
  function sweep(written: number, at: number): void {
    writesUntilSweep -= written;
    if (writesUntilSweep > 0) return;
    for (const key of records.keys()) if (read(key, at - expiryGraceMs) === undefined) write(key, undefined);
    writesUntilSweep = Math.max(leastBetweenSweeps, records.size);
  }

  const store = engineStore({
    async transact(keys, change) {
      const at = now();
      const found = new Map<string, string>();
      for (const key of keys) {
        const record = read(key, at);
        if (record !== undefined) found.set(key, record.text);
      }
      const { result, writes } = applyChange(keys, found, change);
      for (const [key, record] of writes) write(key, record);
      sweep(writes.size, at);
      return result;
    },

    async list({ prefix, after = '', limit }) {
      const at = now();
      const found: StoredRecord[] = [];
      for (const key of sortedKeys(prefix)) {
        if (found.length === limit) break;
        const record = key > after ? read(key, at) : undefined;
        if (record !== undefined) found.push(toStoredRecord(key, record));
      }
      return found;
    },

    close: () => records.clear(),
  });
  return withoutBatches(store);
}

const leastBetweenSweeps = 1000;
