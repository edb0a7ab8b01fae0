/**
 * One atomic record store, under everything that must happen once. The durable ones have entries of their own:
 * `./store/sqlite`, `./store/redis`, `./store/postgres`.
 *
 * @module partner-exchange-sdk/store
 */
export { isPartnerExchangeError, type SdkError } from '../errors/sdk-error.ts';
export { isStoreError, StoreError, type StoreErrorCode } from '../errors/store-error.ts';
export type { JsonObject, JsonValue } from '../json/json-value.ts';
export { type MemoryStoreOptions, memoryStore } from './memory/memory-store.ts';
export type { ListOptions, RecordSet, RecordStore, StoredRecord } from './record-store.ts';
