import { DatabaseSync } from 'node:sqlite';
import { describeError } from '../../redaction/describe-error.ts';
import type { LeasedDelivery } from '../attempt.ts';
import type { DeadLetterQuery } from '../dead-letter-options.ts';
import type { Delivery } from '../inbox.ts';
import { leaseLost } from '../lease-lost.ts';
import type { DeadLetter, InboxCounts } from '../managed-inbox.ts';
import { openPrivateFile, type PrivateFile } from './private-file.ts';
import { prepareStatements, schema } from './sqlite-statements.ts';

export interface SqliteStoreOptions {
  readonly path: string;
  readonly maxBytes?: number | undefined;
  /** Milliseconds to wait for another process that writes. */
  readonly busyTimeoutMs: number;
  /** Milliseconds for which a delivery belongs to the worker that leased it. */
  readonly leaseMs: number;
  /**
   * No wait, of a lease or before an attempt, is longer. Kept in the file, where the longest of all processes counts:
   * what is due later than that was written before the clock went back.
   */
  readonly longestWaitMs: number;
  readonly rememberMs: number;
  readonly maxAttempts: number;
}

/** A delivery that a worker of this file has leased. */
export interface SqliteLease extends LeasedDelivery {
  readonly alone: boolean;
}

/** What the inbox needs of its file. All synchronous; what writes belongs into a transaction. */
export type SqliteStore = ReturnType<typeof openSqliteStore>;

/** Opens the file, and makes the tables where there are none. Every commit waits until it is on disk. */
export function openSqliteStore(options: SqliteStoreOptions) {
  const file = openPrivateFile(options.path);
  const database = openDatabase(file, options);
  const statements = prepareStatements(database);

  return {
    database,

    /** @throws {InboxError} `store_unavailable` when the file was deleted or replaced: nothing in it counts any more */
    checkFile: () => file.check(),

    insert(delivery: Delivery, now: number): 'stored' | 'duplicate' {
      const digest = toBlob(delivery.digest);
      // Others would be cut to what is hexadecimal in them, and pass for each other.
      if (digest.length !== 32) throw new TypeError('The digest of a delivery is 64 hexadecimal digits.');
      if (statements.remember.run(digest, now).changes === 0) return 'duplicate';
      const { name, key, body } = delivery;
      const { changes } = statements.insert.run(digest, name, JSON.stringify(key), body, now, now);
      return changes === 0 ? 'duplicate' : 'stored';
    },

    /** Milliseconds until the next one may be leased beside others; `undefined` when there is none. */
    untilNext(now: number): number | undefined {
      const { due, last, longest } = statements.nextDue.get() ?? {};
      if (typeof due !== 'number' || typeof last !== 'number') return undefined;
      return last > now + Number(longest) ? 0 : Math.max(0, due - now);
    },

    /** Leases up to so many that are due and may run side by side. */
    lease(limit: number, now: number): SqliteLease[] {
      return statements.lease.all({ until: now + options.leaseMs, now, limit }).map(toLease);
    },

    isAloneDue: (now: number): boolean => statements.aloneDue.get({ now }) !== undefined,

    /** Leases one that has to be tried alone. Those that lost the lease of their last attempt become dead letters. */
    leaseAlone(now: number): { leased: SqliteLease | undefined; dead: SqliteLease[] } {
      const { maxAttempts, leaseMs } = options;
      const reason = describeError(leaseLost());
      const dead = statements.moveLostToDeadLetters.all({ reason, maxAttempts, now });
      const row = statements.leaseAlone.get({ until: now + leaseMs, now });
      return { leased: row && toLease(row), dead: dead.map(toLease) };
    },

    remove(digest: string): void {
      statements.remove.run(toBlob(digest));
    },

    /** False when another worker has it by now. */
    postpone(lease: SqliteLease, dueAt: number, reason: string): boolean {
      return statements.postpone.run({ ...leaseKey(lease), dueAt, reason }).changes > 0;
    },

    /** False when another worker has it by now. */
    moveToDeadLetters(lease: SqliteLease, reason: string): boolean {
      return statements.moveToDeadLetters.run({ ...leaseKey(lease), reason }).changes > 0;
    },

    deadLetters({ limit, withBody }: DeadLetterQuery): DeadLetter[] {
      return statements.deadLetters.all({ limit, withBody: Number(withBody) }).map((row) => ({
        digest: toHex(row.digest),
        name: String(row.name),
        attempts: Number(row.attempts),
        receivedAt: new Date(Number(row.received_at)),
        reason: String(row.reason),
        ...(withBody && { body: String(row.body) }),
      }));
    },

    replay: (digest: string, now: number): boolean => statements.replay.run(now, toBlob(digest)).changes > 0,

    discard: (digest: string): boolean => statements.discard.run(toBlob(digest)).changes > 0,

    counts(): InboxCounts {
      const { stored, dead } = statements.counts.get() ?? {};
      return { open: Number(stored) - Number(dead), dead: Number(dead) };
    },

    /** Forgets some digests that are older than they have to be; true when there may be more of them. */
    forget(now: number): boolean {
      statements.pullBack.run({ now });
      return statements.forget.run({ horizon: now - options.rememberMs }).changes === 1000;
    },

    /**
     * Moves what is in the `-wal` into the file and empties it, where handled bodies would stay until something else
     * is written over them. Not within a transaction; does nothing while another process reads or writes.
     */
    emptyWal(): void {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    },
  };
}

function openDatabase(file: PrivateFile, options: SqliteStoreOptions): DatabaseSync {
  const { busyTimeoutMs, longestWaitMs, maxBytes } = options;
  const database = new DatabaseSync(file.path);
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs};`);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  // Bodies hold personal data: nothing of them stays in freed pages, nor goes into temporary files.
  database.exec('PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;');
  database.exec(schema);
  // Only where it is not there yet: looking waits for nobody who writes.
  const known = database.prepare('SELECT ms FROM partner_inbox_wait WHERE ms >= ?').get(longestWaitMs);
  if (known === undefined) {
    database
      .prepare('INSERT INTO partner_inbox_wait VALUES (?) ON CONFLICT (ms) DO NOTHING')
      .run(longestWaitMs);
  }
  if (maxBytes !== undefined) {
    const { page_size } = database.prepare('PRAGMA page_size').get() ?? {};
    database.exec(`PRAGMA max_page_count = ${Math.ceil(maxBytes / Number(page_size))}`);
  }
  file.watchCompanions();
  file.check();
  return database;
}

function toLease(row: Record<string, unknown>): SqliteLease {
  return {
    delivery: {
      digest: toHex(row.digest),
      name: String(row.name),
      key: JSON.parse(String(row.matched_key)),
      body: String(row.body),
    },
    attempt: Number(row.attempts),
    receivedAt: Number(row.received_at),
    alone: row.alone === 1,
  };
}

function leaseKey({ delivery, attempt, alone }: SqliteLease) {
  return { digest: toBlob(delivery.digest), attempt, alone: Number(alone) };
}

function toBlob(digest: string): Uint8Array {
  return Buffer.from(digest, 'hex');
}

function toHex(digest: unknown): string {
  return digest instanceof Uint8Array ? Buffer.from(digest).toString('hex') : '';
}
