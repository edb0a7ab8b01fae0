/**
 * A record store on your Redis, for many machines.
 *
 * @module partner-exchange-sdk/store/redis
 */
export { isStoreError, StoreError } from '../../errors/errors.ts';
export type { StoreCallOptions } from '../../internal/limited-calls.ts';
export type { RecordStore } from '../record-store.ts';
export type { IoredisClient, NodeRedisClient } from './redis-client.ts';
export { type RedisStoreOptions, redisStore } from './redis-store.ts';
