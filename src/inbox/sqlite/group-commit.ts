import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers';

/** Runs work inside a transaction, and resolves once that is on disk. */
export type Write = <Result>(work: () => Result) => Promise<Result>;

interface Pending {
  readonly work: () => unknown;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects what is written within one turn of the event loop into one transaction: a commit waits for the disk, and
 * so many deliveries share the wait.
 *
 * @param options.afterCommit has the work rejected when it throws, though it is committed: nobody can rely on it
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
    // As many results as pieces of work, each of the type that its own resolve takes.
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
    // There may be nothing to undo: a full disk has rolled back by itself, and a closed database committed nothing.
  }
}
