import { isJsonObject, type JsonValue } from '../../src/internal/json.ts';
import type { ListRecordsOptions, RecordStore, StoredRecord } from '../../src/store/record-store.ts';
import type { Version } from './plan.ts';
import type { World } from './world.ts';

/** The deliveries of `storeInbox`, and its indexes of them. */
const isDelivery = (key: string) => /^inbox\/(?:delivery|due|alone|dead)\//.test(key);

/** The store as a process sees it while an update brings a form of deliveries that the version before cannot read. */
export function inFormOf({ hasNewerForm }: Version, world: World, store: RecordStore): RecordStore {
  if (!world.plan.versions[1].hasNewerForm) return store;
  return hasNewerForm ? inNewerForm(store) : { ...store, list: noting };

  async function noting(options: ListRecordsOptions): Promise<StoredRecord[]> {
    const found = await store.list(options);
    if (found.some(({ value }) => open(value) !== value))
      world.count('a delivery was left to the version that wrote it');
    return found;
  }
}

function inNewerForm(store: RecordStore): RecordStore {
  return {
    ...store,
    transact: (keys, change) =>
      store.transact(keys, (records) =>
        change({
          get: (key) => open(records.get(key)),
          set: (key, value, expiry) => records.set(key, isDelivery(key) ? seal(value) : value, expiry),
          delete: (key) => records.delete(key),
        }),
      ),
    list: async (options) =>
      (await store.list(options)).map((record) => ({ ...record, value: open(record.value) ?? null })),
  };
}

function seal(value: JsonValue): JsonValue {
  return { version: 2, sealed: value };
}

function open(value: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(value) && value.version === 2 ? value.sealed : value;
}
