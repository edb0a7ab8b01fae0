import type { DatabaseSync } from 'node:sqlite';
import { type ErrorDetails, InboxError } from '../../errors/errors.ts';
import { describeError } from '../../internal/describe-error.ts';
import { openDatabase } from '../../internal/sqlite-database.ts';
import { diskRoom } from '../../store/sqlite/disk-room.ts';
import type { LeasedDelivery } from '../handling-attempt.ts';
import { leaseLost } from '../handling-attempt.ts';
import type { DeadLetter, DeadLetterQuery, DeadLetterRead, Delivery, InboxCounts } from '../inbox.ts';
import { prepareStatements, schema } from './sqlite-statements.ts';

export interface DeliveryTableOptions {
  readonly path: string;
  readonly maxBytes?: number | undefined;
  /** Milliseconds to wait for another process that writes. */
  readonly busyTimeoutMs: number;
  /** Milliseconds of a lease. */
  readonly leaseMs: number;
  /**
   * The longest lease or delay. The file stores that of all processes: what is due later was stored before the clock
   * went back.
   */
  readonly longestWaitMs: number;
  readonly rememberMs: number;
  readonly maxAttempts: number;
}

/**
 * After this many pages (16 MB) a commit moves the `-wal` into the file. Moving waits for the disk, so seldom is
 * cheaper.
 */
const checkpointPages = 4_000;

export interface SqliteLease extends LeasedDelivery {
  readonly isolated: boolean;
}

/** The inbox's file. Everything is synchronous; writes belong in a transaction. */
export type SqliteStore = ReturnType<typeof openSqliteStore>;

/** Makes missing tables. Every commit waits until it is on disk. */
export function openSqliteStore(options: DeliveryTableOptions) {
  const { database, file, close } = openDatabase({
    path: options.path,
    busyTimeoutMs: options.busyTimeoutMs,
    prepare: (database) => prepareDatabase(database, options),
    fail: unavailable,
  });
  const statements = prepareStatements(database);
  const room = diskRoom(database, { path: file.path });

  return {
    database,
    close,

    /** Before each transaction: measures the disk. */
    beforeBegin: () => room.begin(),

    /** @throws {InboxError} `store_unavailable` if the file was deleted or replaced */
    checkFile: () => file.check(),

    /** @throws {InboxError} `store_full` if handling would have no room any more */
    insert(delivery: Delivery, now: number): 'stored' | 'duplicate' {
      const digest = toBlob(delivery.digest);
      // Buffer would drop what is not hexadecimal, so different digests could become equal.
      if (digest.length !== 32) throw new TypeError('The digest of a delivery is 64 hexadecimal digits.');
      if (statements.remember.run(digest, now).changes === 0) return 'duplicate';
      const { name, key, body, traceparent } = delivery;
      const written = [
        { key: delivery.digest, text: body },
        { key: delivery.digest, text: '' },
      ];
      if (!room.take(written)) throw diskFull();
      // Without a column of its own, so that the files of earlier versions stay as they are.
      const matchedKey = JSON.stringify({ ...key, traceparent });
      const { changes } = statements.insert.run(digest, name, matchedKey, body, now, now);
      return changes === 0 ? 'duplicate' : 'stored';
    },

    /** Milliseconds until another delivery is due beside others; `undefined` if there is none. */
    untilNext(now: number): number | undefined {
      const { due, last, longest } = statements.nextDue.get() ?? {};
      if (typeof due !== 'number' || typeof last !== 'number') return undefined;
      return last > now + Number(longest) ? 0 : Math.max(0, due - now);
    },

    lease(limit: number, now: number): SqliteLease[] {
      return statements.lease.all({ until: now + options.leaseMs, now, limit }).map(toLease);
    },

    isIsolatedDue: (now: number): boolean => statements.isolatedDue.get({ now }) !== undefined,

    /** Those whose last attempt lost its lease become dead letters. */
    leaseIsolated(now: number): { leased: SqliteLease | undefined; dead: SqliteLease[] } {
      const { maxAttempts, leaseMs } = options;
      const reason = describeError(leaseLost());
      const dead = statements.moveLostToDeadLetters.all({ reason, maxAttempts, now });
      const row = statements.leaseIsolated.get({ until: now + leaseMs, now });
      return { leased: row && toLease(row), dead: dead.map(toLease) };
    },

    remove(digest: string): void {
      statements.remove.run(toBlob(digest));
    },

    /** Changes nothing if another worker has it by now. */
    postpone(lease: SqliteLease, dueAt: number, reason: string): void {
      statements.postpone.run({ ...leaseKey(lease), dueAt, reason });
    },

    /** Undoes the lease, unless another worker has it by now. */
    putBack(lease: SqliteLease, dueAt: number): void {
      statements.putBack.run({ ...leaseKey(lease), dueAt });
    },

    /** False if another worker has it by now. */
    moveToDeadLetters(lease: SqliteLease, reason: string): boolean {
      return statements.moveToDeadLetters.run({ ...leaseKey(lease), reason }).changes > 0;
    },

    deadLetters({ limit, withBody }: DeadLetterQuery): DeadLetter[] {
      return statements.deadLetters.all({ limit, withBody: Number(withBody) }).map(toDeadLetter);
    },

    deadLetter(digest: string, { withBody }: DeadLetterRead): DeadLetter | undefined {
      const row = statements.deadLetter.get({ digest: toBlob(digest), withBody: Number(withBody) });
      return row && toDeadLetter(row);
    },

    replay: (digest: string, now: number): boolean => statements.replay.run(now, toBlob(digest)).changes > 0,

    discard: (digest: string): boolean => statements.discard.run(toBlob(digest)).changes > 0,

    counts(): InboxCounts {
      const { stored, dead } = statements.counts.get() ?? {};
      return { open: Number(stored) - Number(dead), dead: Number(dead) };
    },

    /** Forgets some outdated digests; true if there may be more. */
    forget(now: number): boolean {
      statements.pullBack.run({ now });
      return statements.forget.run({ horizon: now - options.rememberMs }).changes === 1000;
    },
  };
}

function prepareDatabase(
  database: DatabaseSync,
  { longestWaitMs, maxBytes }: Pick<DeliveryTableOptions, 'longestWaitMs' | 'maxBytes'>,
): void {
  database.exec(schema);
  database.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
  // Read before writing: reading waits for no other process.
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
}

/** @param cause SQLite's error, if SQLite noticed that the disk is full */
export function diskFull(cause?: unknown): InboxError {
  return new InboxError('store_full', 'The disk of the inbox is full: the delivery was not acknowledged.', {
    cause,
  });
}

function unavailable(what: string, details?: ErrorDetails): InboxError {
  return new InboxError('store_unavailable', what, details);
}

function toLease(row: Record<string, unknown>): SqliteLease {
  const { traceparent, ...key } = JSON.parse(String(row.matched_key));
  return {
    delivery: {
      digest: toHex(row.digest),
      name: String(row.name),
      key,
      body: String(row.body),
      ...(traceparent !== undefined && { traceparent }),
    },
    attempt: Number(row.attempts),
    receivedAt: Number(row.received_at),
    isolated: row.alone === 1,
  };
}

function toDeadLetter(row: Record<string, unknown>): DeadLetter {
  return {
    digest: toHex(row.digest),
    name: String(row.name),
    attempts: Number(row.attempts),
    receivedAt: new Date(Number(row.received_at)),
    reason: String(row.reason),
    ...(row.body !== null && { body: String(row.body) }),
  };
}

function leaseKey({ delivery, attempt, isolated }: SqliteLease) {
  return { digest: toBlob(delivery.digest), attempt, alone: Number(isolated) };
}

function toBlob(digest: string): Uint8Array {
  return Buffer.from(digest, 'hex');
}

function toHex(digest: unknown): string {
  return digest instanceof Uint8Array ? Buffer.from(digest).toString('hex') : '';
}
