/**
 * One atomic record store, under everything that must happen once. The durable ones have entries of their own:
 * `./store/sqlite`, `./store/redis`, `./store/postgres`.
 *
 * @module partner-exchange-sdk/store
 */
export {
  isOnceError,
  isStoreError,
  OnceError,
  type OnceErrorCode,
  StoreError,
  type StoreErrorCode,
} from '../errors/errors.ts';
export type { JsonObject, JsonValue } from '../internal/json.ts';
export { type MemoryStoreOptions, memoryStore } from './memory-store.ts';
export { type OnceOptions, type OnceResult, once, type SettleOnceOptions, settleOnce } from './once.ts';
export type { ListOptions, RecordSet, RecordStore, StoredRecord } from './record-store.ts';
