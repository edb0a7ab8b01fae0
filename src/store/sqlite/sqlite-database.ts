import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { clearInterval, setImmediate, setInterval, setTimeout } from 'node:timers';
import { ConfigurationError } from '../../errors/errors.ts';
import { backoffDelay, sleep } from '../../internal/backoff.ts';
import { invalidOption } from '../../internal/options.ts';
import { openPrivateFile } from './private-file.ts';
import { isBusy, isFull, prepareStatements, recordStatements, recordTable } from './record-table.ts';

/** SQLite's own wait for another process, in milliseconds. It blocks the event loop, so longer waits are ours. */
const blockingWaitMs = 20;
const backoff = { firstDelayMs: 5, maxDelayMs: 50 };

/**
 * Opens a database file that only its owner can read, with the table of the records. Every commit waits until it is on
 * disk, and what is deleted does not stay in freed pages.
 *
 * @param busyTimeoutMs milliseconds to wait for another process, by the event loop once the table is made
 * @throws {StoreError} `store_failed`, or SQLite's own error
 */
export function openDatabase(path: string, busyTimeoutMs: number) {
  const file = openPrivateFile(path);
  // Looked up, not imported: entries that hold this load on runtimes without it, too.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const database = new DatabaseSync(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs};`);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    // There may be personal data in it: it must not stay in freed pages or go into temporary files.
    database.exec('PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;');
    database.exec(recordTable);
    database.exec(`PRAGMA busy_timeout = ${blockingWaitMs}`);
    file.watchCompanions();
    file.check();
    const statements = { ...prepareStatements(database), sweep: database.prepare(recordStatements.sweep) };
    const write = groupCommit(database, { busyTimeoutMs, afterCommit: () => file.check() });
    const wal = keepWalEmpty(database, { file, path });
    return {
      database,
      file,
      statements,
      write,
      /** Empties the `-wal` and closes the database. */
      close(): void {
        wal.stop();
        database.close();
      },
    };
  } catch (error) {
    // A database that is not returned must not stay open, with its locks.
    database.close();
    throw error;
  }
}

/** How long a deleted value may stay in the `-wal`, in milliseconds, while a process has the database open. */
const emptyWalEveryMs = 5_000;

/**
 * What was deleted stays in the `-wal` until it is overwritten. Every process that has the database open empties it,
 * also one that writes nothing: another process may have deleted something and ended.
 */
function keepWalEmpty(
  database: DatabaseSync,
  { file, path }: { readonly file: ReturnType<typeof openPrivateFile>; readonly path: string },
): { stop(): void } {
  const { statSync } = process.getBuiltinModule('node:fs');
  const checkpoint = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)');

  function emptyWal(): void {
    try {
      file.check();
      // It does nothing while another program is in the middle of reading: the next time it is tried again.
      if (statSync(`${path}-wal`).size > 0) checkpoint.get();
    } catch {
      // The next transaction notices that the disk is full, or that the file was replaced.
    }
  }

  const timer = setInterval(emptyWal, emptyWalEveryMs);
  timer.unref();
  return {
    stop() {
      clearInterval(timer);
      emptyWal();
    },
  };
}

/**
 * Returns the whole path. Some names mean something else to SQLite, which loses what it stores under them.
 *
 * @throws {ConfigurationError} `invalid_option`, or `runtime_too_old` without `node:sqlite`
 */
export function checkDatabasePath(owner: string, path: unknown): string {
  if (process.getBuiltinModule?.('node:sqlite') === undefined)
    throw new ConfigurationError('runtime_too_old', 'This runtime has no node:sqlite, which a file needs.', {
      remedy: 'Run Node 22.13 or later, or take another store.',
    });
  if (typeof path !== 'string' || path === '') throw invalidOption(`${owner} needs a path.`);
  if (path !== ':memory:' && !/^file:/i.test(path)) return resolve(path);
  throw invalidOption(`The path of ${owner} must be that of a file, not a URI and not :memory:.`);
}

/** Reads again while another process keeps the file locked, for at most `limitMs`. */
export async function readWhenFree<Result>(read: () => Result, limitMs: number): Promise<Result> {
  const deadline = performance.now() + limitMs;
  for (let tries = 1; ; tries++) {
    try {
      return read();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    await sleep(backoffDelay(tries, backoff));
  }
}

interface Pending {
  readonly work: () => unknown;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
  /** The `performance.now()` until which it waits for another process. */
  readonly deadline: number;
}

/**
 * Puts all writes of one turn of the event loop into one transaction, so that they share the wait for the disk. Work
 * that throws is rejected alone, and the others run again without it: a piece of work may be called twice. While
 * another process has the write lock, everything waits in order, and the event loop goes on. Resolves once the work is on
 * disk.
 *
 * @param options.busyTimeoutMs how long each piece of work waits for another process; then it is rejected with
 *   SQLite's error, and nothing of it was written
 * @param options.afterCommit if it throws, the work is rejected although it is committed
 */
function groupCommit(
  database: DatabaseSync,
  { busyTimeoutMs, afterCommit }: { busyTimeoutMs: number; afterCommit: () => void },
) {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  let pending: Pending[] = [];
  let isScheduled = false;
  let busyTries = 0;

  function schedule(delayMs?: number): void {
    isScheduled = true;
    if (delayMs === undefined) setImmediate(flush);
    else setTimeout(flush, delayMs);
  }

  function flush(): void {
    isScheduled = false;
    const batch = pending;
    pending = [];
    const waiting = run(batch);
    // Work can ask for more work, which comes after it.
    pending = [...waiting, ...pending];
    busyTries = waiting.length > 0 ? busyTries + 1 : 0;
    const [next] = pending;
    if (next === undefined) return;
    if (busyTries === 0) schedule();
    else schedule(Math.max(1, Math.min(backoffDelay(busyTries, backoff), next.deadline - performance.now())));
  }

  /** Returns what has to wait for another process. */
  function run(batch: readonly Pending[]): Pending[] {
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
      if (isBusy(error)) return rejectOverdue(batch, error);
      // What has no room in a full file must not keep the others out: those that are handled make room.
      const isOneToBlame = begun && (results.length < batch.length || isFull(error));
      if (isOneToBlame && batch.length > 1) return runEach(batch);
      for (const { reject } of batch) reject(error);
      return [];
    }
    // Sound: there is one result for each piece of work, of the type that its own resolve accepts.
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as never);
    return [];
  }

  function runEach(batch: readonly Pending[]): Pending[] {
    for (const [index, one] of batch.entries()) {
      const waiting = run([one]);
      if (waiting.length > 0) return [...waiting, ...batch.slice(index + 1)];
    }
    return [];
  }

  return <Result>(work: () => Result): Promise<Result> =>
    new Promise((resolve, reject) => {
      pending.push({ work, resolve, reject, deadline: performance.now() + busyTimeoutMs });
      if (!isScheduled) schedule();
    });
}

function rejectOverdue(batch: readonly Pending[], error: unknown): Pending[] {
  const now = performance.now();
  return batch.filter(({ deadline, reject }) => {
    if (deadline > now) return true;
    reject(error);
    return false;
  });
}

function rollBack(database: DatabaseSync): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // A full disk rolls back by itself, and a closed database has committed nothing.
  }
}
