/**
 * One atomic record store, under everything that must happen once: in memory, in a SQLite file, in PostgreSQL or Redis.
 *
 * @module partner-exchange-sdk/store
 */
export {
  ConfigurationError,
  isConfigurationError,
  isOnceError,
  isStoreError,
  OnceError,
  type OnceErrorCode,
  StoreError,
  type StoreErrorCode,
} from '../errors/errors.ts';
export type { JsonObject, JsonValue } from '../internal/json.ts';
export type { StoreCallOptions } from './limited-calls.ts';
export { type MemoryStoreOptions, memoryStore } from './memory-store.ts';
export { type OnceOptions, type OnceResult, once, type SettleOnceOptions, settleOnce } from './once.ts';
export type { PgClient, PgPool, PgPoolClient } from './postgres/pg-client.ts';
export { type PostgresStoreOptions, postgresStore } from './postgres/postgres-store.ts';
export type { ListRecordsOptions, RecordSet, RecordStore, StoredRecord } from './record-store.ts';
export type { IoredisClient, NodeRedisClient } from './redis/redis-client.ts';
export { type RedisStoreOptions, redisStore } from './redis/redis-store.ts';
export type { SqliteDatabase, SqliteStatement } from './sqlite/record-table.ts';
export { type SqliteStoreOptions, sqliteStore } from './sqlite/sqlite-store.ts';
