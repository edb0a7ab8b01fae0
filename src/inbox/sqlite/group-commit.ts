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
 * so many deliveries share the wait. Work that throws is rejected alone: the rest is done again without it, so that
 * work may be called twice.
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
