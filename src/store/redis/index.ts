/**
 * A record store on your Redis, for many machines.
 *
 * @module partner-exchange-sdk/store/redis
 */
export { isPartnerExchangeError, type SdkError } from '../../errors/sdk-error.ts';
export { isStoreError, StoreError, type StoreErrorCode } from '../../errors/store-error.ts';
export type { JsonObject, JsonValue } from '../../json/json-value.ts';
export type { EngineCallOptions } from '../engine-calls.ts';
export type { ListOptions, RecordSet, RecordStore, StoredRecord } from '../record-store.ts';
export type { IoredisClient, NodeRedisClient } from './redis-client.ts';
export { type RedisStoreOptions, redisStore } from './redis-store.ts';
