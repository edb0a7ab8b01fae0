/**
 * Many messages: paced, resumable, no number twice.
 *
 * @module partner-exchange-sdk/bulk
 */
export { BulkError, type BulkErrorCode, isBulkError } from '../errors/errors.ts';
export type { Sleep } from '../internal/backoff.ts';
export type { BulkOptions } from './bulk-options.ts';
export type { BulkProgress } from './bulk-progress.ts';
export type { BulkMessage, BulkResult, BulkRow, BulkState, UnreadableRow } from './bulk-rows.ts';
export { type BulkCsvOptions, readBulkCsv } from './read-bulk-csv.ts';
export { type BulkRun, sendBulk } from './send-bulk.ts';
