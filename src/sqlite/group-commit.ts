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
 * share the wait. If one of them throws, it alone is rejected: the others are done again without it, so a piece of work
 * may be called twice.
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
    run(batch);
  }

  function run(batch: readonly Pending[]): void {
    const results: unknown[] = [];
    let begun = false;
    try {
      begin.run();
      begun = true;
      for (const { work } of batch) results.push(work());
      commit.run();
      afterCommit();
    } catch (error) {
      rollBack(database);
      // What has no room in a full file must not keep the others out: those that are handled make room.
      const isOneToBlame = begun && results.length < batch.length;
      if (isOneToBlame && batch.length > 1) for (const one of batch) run([one]);
      else for (const { reject } of batch) reject(error);
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
