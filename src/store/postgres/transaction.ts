import { sqlStateOf } from '../../internal/driver-error.ts';
import { applyChange, type Write } from '../apply-change.ts';
import type { RecordSet } from '../record-store.ts';
import type { UserTransaction } from '../user-transaction.ts';
import { type PgClient, toResult } from './pg-client.ts';
import type { Statements } from './statements.ts';

interface Frame {
  readonly begin: string;
  readonly commit: string;
  readonly rollback: string;
}

interface TransactionOptions<Result> {
  readonly frame: Frame;
  readonly statements: Statements;
  readonly keys: readonly string[];
  readonly change: (records: RecordSet) => Result;
  readonly now: () => number;
  /** Aborted before the caller is told that it failed: from then on it is not committed. */
  readonly signal?: AbortSignal | undefined;
}

export type TransactionOutcome<Result> =
  | { readonly kind: 'committed'; readonly result: Result }
  /** The change threw, and everything was rolled back. */
  | { readonly kind: 'threw'; readonly error: unknown };

export type Transaction = Pick<ReturnType<typeof beginTransaction>, 'isCommitting'>;

export function beginTransaction<Result>(
  client: Pick<PgClient, 'query'>,
  { frame, statements, keys, change, now, signal }: TransactionOptions<Result>,
) {
  let isCommitting = false;

  async function run(): Promise<TransactionOutcome<Result>> {
    await client.query(`${frame.begin}; ${statements.lock(keys)}`);
    const read = toResult(await client.query(statements.read, [[...keys]]));
    const found = new Map<string, string>();
    const at = now();
    for (const { key, value, expires_at } of read.rows) {
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
    signal?.throwIfAborted();
    await write(client, writes, statements);
    signal?.throwIfAborted();
    isCommitting = writes.size > 0;
    const committed = await client.query(frame.commit);
    // PostgreSQL answers COMMIT with ROLLBACK when the transaction had failed.
    if (toResult(committed).command === 'ROLLBACK') {
      isCommitting = false;
      throw new Error('PostgreSQL rolled the transaction back.');
    }
    return { kind: 'committed', result };
  }

  return {
    /** Rejects with an error of pg; the transaction is then still open, or the connection is gone. */
    outcome: run(),
    /** True once its writes may be committed: from then on only PostgreSQL knows whether they were. */
    get isCommitting() {
      return isCommitting;
    },
  };
}

async function write(
  client: Pick<PgClient, 'query'>,
  writes: ReadonlyMap<string, Write>,
  { remove, write: set }: Statements,
): Promise<void> {
  const removed = [...writes].flatMap(([key, record]) => (record === undefined ? [key] : []));
  const written = [...writes].flatMap(([key, record]) => (record === undefined ? [] : { key, ...record }));
  if (removed.length > 0) await client.query(remove, [removed]);
  if (written.length === 0) return;
  const expiries = written.map(({ expiresAt }) => expiresAt ?? null);
  await client.query(set, [written.map(({ key }) => key), written.map(({ text }) => text), expiries]);
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
  /** The user's own, which only a client of the user's has. */
  readonly userTransaction?: UserTransaction;
}

export interface ConnectionOptions {
  readonly statements: Statements;
  readonly now: () => number;
}

/** A deadlock with another program's transaction, or a failure to serialize. */
export function isConflict(error: unknown): boolean {
  const code = sqlStateOf(error);
  return code === '40P01' || code === '40001';
}
