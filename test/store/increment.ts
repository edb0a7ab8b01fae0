import { openStore } from './open-store.ts';

/** A process of its own that adds one to a record so many times, half of them at once and half one by one. */
const [engine = '', address = '', name = '', times = '0'] = process.argv.slice(2);
const { store, close } = await openStore(engine, address, name, {
  // Many wait for one key, perhaps on a busy machine.
  storeTimeoutMs: 30_000,
});

function increment(): Promise<void> {
  return store.transact(['count'], (records) => records.set('count', Number(records.get('count') ?? 0) + 1));
}

const half = Number(times) / 2;
await Promise.all(Array.from({ length: half }, increment));
for (let index = 0; index < half; index++) await increment();
await close();
