import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import type { RecordStore } from '../../../src/store/record-store.ts';

/** A client that is gone when the test is over. */
export function connectTo(port: number): Redis {
  const client = new Redis(port, '127.0.0.1');
  client.on('error', () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

/** Adds one to the record `count`. @returns what it is then */
export function increment(store: RecordStore): Promise<number> {
  return store.transact(['count'], (records) => {
    const count = Number(records.get('count') ?? 0) + 1;
    records.set('count', count);
    return count;
  });
}

/** The record `count`. */
export function read(store: RecordStore) {
  return store.transact(['count'], (records) => records.get('count'));
}
