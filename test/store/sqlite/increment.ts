import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';

/** A process of its own that adds one to a record so many times, half of them at once and half one by one. */
const [path = '', times = '0'] = process.argv.slice(2);
const store = sqliteStore({ path, busyTimeoutMs: 30_000 });

function increment(): Promise<void> {
  return store.transact(['count'], (records) => records.set('count', Number(records.get('count') ?? 0) + 1));
}

const half = Number(times) / 2;
await Promise.all(Array.from({ length: half }, increment));
for (let index = 0; index < half; index++) await increment();
await store.close();
