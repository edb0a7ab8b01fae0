import type { StoreError } from '../../errors/store-error.ts';
import { redactDatabaseError, sqlStateOf } from '../../redaction/redact-database-error.ts';
import { maybeWritten, nothingWritten } from '../engine-calls.ts';
import type { RecordSet } from '../record-store.ts';
import type { Statements } from './statements.ts';
import type { Progress, TransactionOutcome } from './transaction.ts';

/** A store's way to its table, over a pool or over one client. */
export interface Connection {
  /** @throws {StoreError} */
  transact<Result>(
    keys: readonly string[],
    change: (records: RecordSet) => Result,
  ): Promise<TransactionOutcome<Result>>;
  /** @throws {StoreError} */
  query(text: string, values: unknown[]): Promise<unknown>;
  /** Deletes what has expired. How much it was. */
  sweep(at: number): Promise<number>;
  /** The client is free again only when the sweep has ended. */
  readonly waitsForSweep: boolean;
}

export interface ConnectionOptions {
  readonly statements: Statements;
  readonly now: () => number;
}

/** A deadlock with a transaction of somebody else's, or a failure to serialize. */
export function isConflict(error: unknown): boolean {
  const code = sqlStateOf(error);
  return code === '40P01' || code === '40001';
}

export function isTableMissing(error: unknown): boolean {
  return sqlStateOf(error) === '42P01';
}

export function transactionFailed(error: unknown, { isCommitting }: Progress): StoreError {
  const cause = redactDatabaseError(error);
  return isCommitting ? maybeWritten(cause) : nothingWritten(cause);
}

/** Runs work, and once more after making the table if that is missing. */
export async function withTable<Result>(
  work: () => Promise<Result>,
  createTable: () => Promise<unknown>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isTableMissing(error)) throw error;
    await createTable();
    return await work();
  }
}
