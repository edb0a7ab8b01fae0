/**
 * A record store on your Redis, for many machines.
 *
 * @module partner-exchange-sdk/store/redis
 */
export {
  isPartnerExchangeError,
  isStoreError,
  type SdkError,
  StoreError,
  type StoreErrorCode,
} from '../../errors/errors.ts';
export type { JsonObject, JsonValue } from '../../internal/json.ts';
export type { StoreCallOptions } from '../../internal/limited-calls.ts';
export type { ListOptions, RecordSet, RecordStore, StoredRecord } from '../record-store.ts';
export type { IoredisClient, NodeRedisClient } from './redis-client.ts';
export { type RedisStoreOptions, redisStore } from './redis-store.ts';
