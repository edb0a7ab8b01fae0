import { invalidOption } from '../options/check-values.ts';
import type { RecordStore } from './record-store.ts';

/** @throws {ConfigurationError} `invalid_option` for what is no record store */
export function checkStore(store: RecordStore): RecordStore {
  if (typeof store?.transact === 'function' && typeof store.list === 'function') return store;
  throw invalidOption('store must be a record store, such as sqliteStore({ path }).');
}
