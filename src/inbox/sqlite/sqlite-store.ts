import { DatabaseSync } from 'node:sqlite';
import { describeError } from '../../redaction/describe-error.ts';
import type { LeasedDelivery } from '../attempt.ts';
import type { Delivery } from '../inbox.ts';
import { leaseLost } from '../lease-lost.ts';
import type { DeadLetter, InboxCounts } from '../managed-inbox.ts';

export interface SqliteStoreOptions {
  readonly path: string;
  readonly maxBytes?: number | undefined;
  /** Milliseconds to wait for another process that writes. */
  readonly busyTimeoutMs: number;
  /** Milliseconds for which a delivery belongs to who has taken it. */
  readonly leaseMs: number;
  /**
   * No time to wait, of a lease or before an attempt, is longer. Kept in the file, where the longest of all processes
   * counts: what lies further ahead than that, the clock went back.
   */
  readonly longestWaitMs: number;
  readonly rememberMs: number;
  readonly maxAttempts: number;
}

/** What the inbox needs of its file. All synchronous; what writes belongs into a transaction. */
export type SqliteStore = ReturnType<typeof openSqliteStore>;

// due_at: when it may be taken. Taking moves it ahead by the lease, failing by the delay of the retry.
const schema = `
  CREATE TABLE IF NOT EXISTS partner_inbox_delivery (
    digest BLOB PRIMARY KEY,
    name TEXT NOT NULL,
    matched_key TEXT NOT NULL,
    body TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    reason TEXT NOT NULL DEFAULT '',
    dead INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX IF NOT EXISTS partner_inbox_due ON partner_inbox_delivery (dead, due_at);
  CREATE TABLE IF NOT EXISTS partner_inbox_seen (
    digest BLOB PRIMARY KEY,
    seen_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS partner_inbox_seen_at ON partner_inbox_seen (seen_at);
  CREATE TABLE IF NOT EXISTS partner_inbox_wait (ms INTEGER PRIMARY KEY);
`;

/** Opens the file, and makes the tables where there are none. Every commit waits until it is on disk. */
export function openSqliteStore(options: SqliteStoreOptions) {
  const database = new DatabaseSync(options.path);
  database.exec(`PRAGMA busy_timeout = ${options.busyTimeoutMs};`);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  database.exec(schema);
  // Only where it is not there yet: looking waits for nobody who writes.
  const known = database
    .prepare('SELECT ms FROM partner_inbox_wait WHERE ms >= ?')
    .get(options.longestWaitMs);
  if (known === undefined) {
    database.prepare('INSERT OR IGNORE INTO partner_inbox_wait VALUES (?)').run(options.longestWaitMs);
  }
  if (options.maxBytes !== undefined) {
    const { page_size } = database.prepare('PRAGMA page_size').get() ?? {};
    database.exec(`PRAGMA max_page_count = ${Math.ceil(options.maxBytes / Number(page_size))}`);
  }
  const statements = {
    remember: database.prepare('INSERT OR IGNORE INTO partner_inbox_seen VALUES (?, ?)'),
    insert: database.prepare(
      `INSERT OR IGNORE INTO partner_inbox_delivery (digest, name, matched_key, body, received_at, due_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    ),
    nextDue: database.prepare(
      `SELECT min(due_at) AS due, max(due_at) AS last, (SELECT max(ms) FROM partner_inbox_wait) AS longest
       FROM partner_inbox_delivery WHERE dead = 0`,
    ),
    take: database.prepare(
      `UPDATE partner_inbox_delivery SET due_at = :until, attempts = attempts + 1
       WHERE digest IN (
         SELECT digest FROM partner_inbox_delivery
         WHERE dead = 0 AND (due_at <= :now OR due_at > :now + (SELECT max(ms) FROM partner_inbox_wait)) ORDER BY due_at LIMIT :limit
       ) RETURNING *`,
    ),
    remove: database.prepare('DELETE FROM partner_inbox_delivery WHERE digest = ?'),
    // Only of who has taken it last: another worker may have it by now.
    postpone: database.prepare(
      'UPDATE partner_inbox_delivery SET due_at = ?, reason = ? WHERE digest = ? AND attempts = ? AND dead = 0',
    ),
    bury: database.prepare(
      'UPDATE partner_inbox_delivery SET dead = 1, reason = ?, attempts = ? WHERE digest = ? AND attempts = ?',
    ),
    dead: database.prepare(
      `SELECT digest, name, attempts, received_at, reason FROM partner_inbox_delivery
       WHERE dead = 1 ORDER BY received_at LIMIT ?`,
    ),
    replay: database.prepare(
      'UPDATE partner_inbox_delivery SET dead = 0, attempts = 0, due_at = ? WHERE digest = ? AND dead = 1',
    ),
    discard: database.prepare('DELETE FROM partner_inbox_delivery WHERE digest = ? AND dead = 1'),
    counts: database.prepare(
      'SELECT dead, count(*) AS number FROM partner_inbox_delivery GROUP BY dead ORDER BY dead',
    ),
    // A clock that was ahead for a while must not keep digests longer.
    pullBack: database.prepare(
      'UPDATE partner_inbox_seen SET seen_at = :now WHERE seen_at > :now + 86400000',
    ),
    forget: database.prepare(
      `DELETE FROM partner_inbox_seen WHERE digest IN (
         SELECT digest FROM partner_inbox_seen WHERE seen_at <= :horizon
         AND digest NOT IN (SELECT digest FROM partner_inbox_delivery) LIMIT 1000
       )`,
    ),
  };

  return {
    database,

    insert(delivery: Delivery, now: number): 'stored' | 'duplicate' {
      const digest = toBlob(delivery.digest);
      if (statements.remember.run(digest, now).changes === 0) return 'duplicate';
      const { name, key, body } = delivery;
      const { changes } = statements.insert.run(digest, name, JSON.stringify(key), body, now, now);
      return changes === 0 ? 'duplicate' : 'stored';
    },

    /** Milliseconds until the next one may be taken; `undefined` when there is none. */
    untilNext(now: number): number | undefined {
      const { due, last, longest } = statements.nextDue.get() ?? {};
      if (typeof due !== 'number' || typeof last !== 'number') return undefined;
      return last > now + Number(longest) ? 0 : Math.max(0, due - now);
    },

    /** Takes up to so many that are due. Those whose worker died at their last attempt are buried. */
    take(limit: number, now: number): { taken: LeasedDelivery[]; dead: LeasedDelivery[] } {
      const rows = statements.take.all({ until: now + options.leaseMs, now, limit });
      const all = rows.map(toTaken);
      const lost = all.filter(({ attempt }) => attempt > options.maxAttempts);
      const reason = describeError(leaseLost());
      for (const { delivery, attempt } of lost) {
        statements.bury.run(reason, attempt - 1, toBlob(delivery.digest), attempt);
      }
      return {
        taken: all.filter((one) => !lost.includes(one)),
        dead: lost.map((one) => ({ ...one, attempt: one.attempt - 1 })),
      };
    },

    remove(digest: string): void {
      statements.remove.run(toBlob(digest));
    },

    /** False when another worker has it by now. */
    postpone({ delivery, attempt }: LeasedDelivery, dueAt: number, reason: string): boolean {
      return statements.postpone.run(dueAt, reason, toBlob(delivery.digest), attempt).changes > 0;
    },

    /** False when another worker has it by now. */
    bury({ delivery, attempt }: LeasedDelivery, reason: string): boolean {
      return statements.bury.run(reason, attempt, toBlob(delivery.digest), attempt).changes > 0;
    },

    deadLetters(limit: number): DeadLetter[] {
      return statements.dead.all(limit).map((row) => ({
        digest: toHex(row.digest),
        name: String(row.name),
        attempts: Number(row.attempts),
        receivedAt: new Date(Number(row.received_at)),
        reason: String(row.reason),
      }));
    },

    replay: (digest: string, now: number): boolean => statements.replay.run(now, toBlob(digest)).changes > 0,

    discard: (digest: string): boolean => statements.discard.run(toBlob(digest)).changes > 0,

    counts(): InboxCounts {
      const numbers = new Map(statements.counts.all().map(({ dead, number }) => [dead, Number(number)]));
      return { open: numbers.get(0) ?? 0, dead: numbers.get(1) ?? 0 };
    },

    /** Forgets some digests that are older than they have to be; true when there may be more of them. */
    forget(now: number): boolean {
      statements.pullBack.run({ now });
      return statements.forget.run({ horizon: now - options.rememberMs }).changes === 1000;
    },
  };
}

function toTaken(row: Record<string, unknown>): LeasedDelivery {
  return {
    delivery: {
      digest: toHex(row.digest),
      name: String(row.name),
      key: JSON.parse(String(row.matched_key)),
      body: String(row.body),
    },
    attempt: Number(row.attempts),
    receivedAt: Number(row.received_at),
  };
}

function toBlob(digest: string): Uint8Array {
  return Buffer.from(digest, 'hex');
}

function toHex(digest: unknown): string {
  return digest instanceof Uint8Array ? Buffer.from(digest).toString('hex') : '';
}
