/**
 * A record store in your PostgreSQL, for many machines, also as part of your own transactions.
 *
 * @module partner-exchange-sdk/store/postgres
 */
export { isPartnerExchangeError, type SdkError } from '../../errors/sdk-error.ts';
export { isStoreError, StoreError, type StoreErrorCode } from '../../errors/store-error.ts';
export type { JsonObject, JsonValue } from '../../json/json-value.ts';
export type { EngineCallOptions } from '../engine-calls.ts';
export type { ListOptions, RecordSet, RecordStore, StoredRecord } from '../record-store.ts';
export type { PgClient, PgPool, PgPoolClient } from './pg-client.ts';
export { type PostgresStoreOptions, postgresStore } from './postgres-store.ts';
