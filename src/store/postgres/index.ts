/**
 * A record store in your PostgreSQL, for many machines, also as part of your own transactions.
 *
 * @module partner-exchange-sdk/store/postgres
 */
export { isStoreError, StoreError } from '../../errors/errors.ts';
export type { StoreCallOptions } from '../../internal/limited-calls.ts';
export type { RecordStore } from '../record-store.ts';
export type { PgClient, PgPool, PgPoolClient } from './pg-client.ts';
export { type PostgresStoreOptions, postgresStore } from './postgres-store.ts';
