/**
 * A record store in one SQLite file (`node:sqlite`).
 *
 * @module partner-exchange-sdk/store/sqlite
 */
export type { SqliteDatabase, SqliteStatement } from './database-store.ts';
export { type SqliteStoreOptions, sqliteStore } from './sqlite-store.ts';
