import type { StoreError } from '../../errors/errors.ts';
import { driverError, sqlStateOf } from '../../internal/describe-error.ts';
import { applyChange, type Write } from '../apply-change.ts';
import { maybeWritten, nothingWritten } from '../engine-calls.ts';
import type { RecordSet } from '../record-store.ts';
import { commandOf, type PgClient, queryAll, rowsOf } from './pg-client.ts';
import type { Statements } from './statements.ts';

/** How a transaction begins and ends. */
interface Frame {
  readonly begin: string;
  readonly commit: string;
  readonly rollback: string;
}

/** READ COMMITTED, whatever the default: each statement sees what was committed before it, also while it waited. */
export const ownTransaction: Frame = {
  begin: 'BEGIN ISOLATION LEVEL READ COMMITTED',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
};

/** Part of a transaction of the user's. */
export const savepoint: Frame = {
  begin: 'SAVEPOINT partner_exchange',
  commit: 'RELEASE SAVEPOINT partner_exchange',
  rollback: 'ROLLBACK TO SAVEPOINT partner_exchange; RELEASE SAVEPOINT partner_exchange',
};

/** How far a transaction has come. */
export interface Progress {
  /** The caller has been told that it failed: it must not be committed any more. */
  isOver: boolean;
  /** From now on only PostgreSQL knows whether it was written. */
  isCommitting: boolean;
}

interface TransactionOptions<Result> {
  readonly frame: Frame;
  readonly statements: Statements;
  readonly keys: readonly string[];
  readonly change: (records: RecordSet) => Result;
  readonly now: () => number;
  readonly progress: Progress;
}

export type TransactionOutcome<Result> =
  | { readonly kind: 'committed'; readonly result: Result }
  /** Rolled back, since the change threw this. */
  | { readonly kind: 'threw'; readonly error: unknown };

/** Rejects with an error of pg; the transaction is then still open, or the connection is gone. */
export async function runTransaction<Result>(
  client: Pick<PgClient, 'query' | 'pipeline'>,
  { frame, statements, keys, change, now, progress }: TransactionOptions<Result>,
): Promise<TransactionOutcome<Result>> {
  const [, read] = await queryAll(client, [
    { text: `${frame.begin}; ${statements.lock(keys)}` },
    { text: statements.read, values: [[...keys]] },
  ]);
  const found = new Map<string, string>();
  const at = now();
  for (const { key, value, expires_at } of rowsOf(read)) {
    if (expires_at === null || Number(expires_at) > at) found.set(String(key), String(value));
  }
  let applied: ReturnType<typeof applyChange<Result>>;
  try {
    applied = applyChange(keys, found, change);
  } catch (error) {
    await client.query(frame.rollback);
    return { kind: 'threw', error };
  }
  const { result, writes } = applied;
  if (progress.isOver) throw new Error('The time limit is over.');
  const changes = toStatements(writes, statements);
  if (client.pipeline !== true) await queryAll(client, changes.splice(0));
  if (progress.isOver) throw new Error('The time limit is over.');
  progress.isCommitting = writes.size > 0;
  const results = await queryAll(client, [...changes, { text: frame.commit }]);
  // PostgreSQL answers COMMIT with ROLLBACK when the transaction had failed.
  if (commandOf(results.at(-1)) === 'ROLLBACK') {
    progress.isCommitting = false;
    throw new Error('PostgreSQL rolled the transaction back.');
  }
  return { kind: 'committed', result };
}

function toStatements(
  writes: ReadonlyMap<string, Write>,
  { remove, write }: Statements,
): { text: string; values: unknown[] }[] {
  const removed: string[] = [];
  const [keys, texts, expiries]: [string[], string[], (number | null)[]] = [[], [], []];
  for (const [key, record] of writes) {
    if (record === undefined) {
      removed.push(key);
      continue;
    }
    keys.push(key);
    texts.push(record.text);
    expiries.push(record.expiresAt ?? null);
  }
  return [
    ...(removed.length > 0 ? [{ text: remove, values: [removed] }] : []),
    ...(keys.length > 0 ? [{ text: write, values: [keys, texts, expiries] }] : []),
  ];
}

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

function isTableMissing(error: unknown): boolean {
  return sqlStateOf(error) === '42P01';
}

export function transactionFailed(error: unknown, { isCommitting }: Progress): StoreError {
  const cause = driverError(error);
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
