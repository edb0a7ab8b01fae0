import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers';

/** Runs work inside a transaction, and resolves once it is on disk. */
export type Write = <Result>(work: () => Result) => Promise<Result>;

interface Pending {
  readonly work: () => unknown;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Puts all writes of one turn of the event loop into one transaction: a commit waits for the disk, and many deliveries
 * share the wait.
 *
 * @param options.afterCommit if it throws, the work is rejected although it is committed: nobody can rely on it
 */
export function groupCommit(database: DatabaseSync, { afterCommit }: { afterCommit: () => void }): Write {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  let pending: Pending[] = [];

  function flush(): void {
    const batch = pending;
    pending = [];
    let results: unknown[];
    try {
      begin.run();
      results = batch.map(({ work }) => work());
      commit.run();
      afterCommit();
    } catch (error) {
      rollBack(database);
      for (const { reject } of batch) reject(error);
      return;
    }
    // Sound: there is one result for each piece of work, of the type that its own resolve accepts.
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as never);
  }

  return (work) =>
    new Promise((resolve, reject) => {
      if (pending.push({ work, resolve, reject }) === 1) setImmediate(flush);
    });
}

function rollBack(database: DatabaseSync): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // There may be nothing to undo: a full disk rolls back by itself, and a closed database has committed nothing.
  }
}
