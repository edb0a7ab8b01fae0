import type { DatabaseSync, StatementSync } from 'node:sqlite';

/**
 * due_at is when a delivery may be handled; a lease or a failure moves it ahead. A leased delivery that is due again
 * has lost its lease. `alone` is then set, and stays set.
 */
export const schema = `
  CREATE TABLE IF NOT EXISTS partner_inbox_delivery (
    digest BLOB PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    matched_key TEXT NOT NULL,
    body TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    reason TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'leased', 'dead')),
    alone INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX IF NOT EXISTS partner_inbox_due ON partner_inbox_delivery (state, alone, due_at);
  CREATE TABLE IF NOT EXISTS partner_inbox_seen (
    digest BLOB PRIMARY KEY,
    seen_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS partner_inbox_seen_at ON partner_inbox_seen (seen_at);
  CREATE TABLE IF NOT EXISTS partner_inbox_wait (ms INTEGER PRIMARY KEY);
`;

// No wait exceeds the longest one, so what is due later was stored before the clock went back.
const isDue = '(due_at <= :now OR due_at > :now + (SELECT max(ms) FROM partner_inbox_wait))';
/** Deliveries that lost a lease: no more than processes had leased at a time. */
const isIsolatedDue = `(state = 'leased' OR (state = 'waiting' AND alone = 1)) AND ${isDue}`;

const deadLetter = `
    SELECT digest, name, attempts, received_at, reason, iif(:withBody, body, NULL) AS body
    FROM partner_inbox_delivery WHERE state = 'dead'`;

/** Statements that run for each delivery find their rows by index, however many are waiting. */
export const statementTexts = {
  // Only a known digest is skipped; every other failure must be an error.
  remember: 'INSERT INTO partner_inbox_seen VALUES (?, ?) ON CONFLICT (digest) DO NOTHING',
  insert: `
    INSERT INTO partner_inbox_delivery (digest, name, matched_key, body, received_at, due_at)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING`,
  // Apart, min and max each read one end of the index; in one SELECT they would read all of it.
  nextDue: `
    SELECT
      (SELECT min(due_at) FROM partner_inbox_delivery WHERE state = 'waiting' AND alone = 0) AS due,
      (SELECT max(due_at) FROM partner_inbox_delivery WHERE state = 'waiting' AND alone = 0) AS last,
      (SELECT max(ms) FROM partner_inbox_wait) AS longest`,
  lease: `
    UPDATE partner_inbox_delivery SET state = 'leased', due_at = :until, attempts = attempts + 1
    WHERE rowid IN (
      SELECT * FROM (
        SELECT rowid FROM partner_inbox_delivery
        WHERE state = 'waiting' AND alone = 0 AND due_at <= :now ORDER BY due_at LIMIT :limit
      )
      UNION ALL
      SELECT * FROM (
        SELECT rowid FROM partner_inbox_delivery
        WHERE state = 'waiting' AND alone = 0 AND due_at > :now + (SELECT max(ms) FROM partner_inbox_wait)
        ORDER BY due_at LIMIT :limit
      )
      LIMIT :limit
    ) RETURNING *`,
  isolatedDue: `SELECT 1 FROM partner_inbox_delivery WHERE ${isIsolatedDue} LIMIT 1`,
  // A lease lost while others ran is no attempt: any of them may have killed the process.
  leaseIsolated: `
    UPDATE partner_inbox_delivery
    SET state = 'leased', alone = 1, due_at = :until, attempts = attempts + iif(state = 'leased' AND alone = 0, 0, 1)
    WHERE rowid = (SELECT rowid FROM partner_inbox_delivery WHERE ${isIsolatedDue} ORDER BY due_at LIMIT 1)
    RETURNING *`,
  moveLostToDeadLetters: `
    UPDATE partner_inbox_delivery SET state = 'dead', reason = :reason
    WHERE state = 'leased' AND alone = 1 AND attempts >= :maxAttempts AND ${isDue} RETURNING *`,
  remove: 'DELETE FROM partner_inbox_delivery WHERE digest = ?',
  // The number of attempts and `alone` identify the lease: another worker may have the delivery by now.
  postpone: `
    UPDATE partner_inbox_delivery SET state = 'waiting', due_at = :dueAt, reason = :reason
    WHERE digest = :digest AND attempts = :attempt AND alone = :alone AND state = 'leased'`,
  putBack: `
    UPDATE partner_inbox_delivery SET state = 'waiting', due_at = :dueAt, attempts = attempts - 1
    WHERE digest = :digest AND attempts = :attempt AND alone = :alone AND state = 'leased'`,
  moveToDeadLetters: `
    UPDATE partner_inbox_delivery SET state = 'dead', reason = :reason
    WHERE digest = :digest AND attempts = :attempt AND alone = :alone AND state = 'leased'`,
  deadLetters: `${deadLetter} ORDER BY received_at LIMIT :limit`,
  deadLetter: `${deadLetter} AND digest = :digest`,
  replay: `
    UPDATE partner_inbox_delivery SET state = 'waiting', attempts = 0, due_at = ?
    WHERE digest = ? AND state = 'dead'`,
  discard: "DELETE FROM partner_inbox_delivery WHERE digest = ? AND state = 'dead'",
  // Counting all by page is much faster than counting rows one by one.
  counts: `
    SELECT
      (SELECT count(*) FROM partner_inbox_delivery) AS stored,
      (SELECT count(*) FROM partner_inbox_delivery WHERE state = 'dead') AS dead`,
  // A clock that was ahead for a while must not keep digests longer.
  pullBack: 'UPDATE partner_inbox_seen SET seen_at = :now WHERE seen_at > :now + 86400000',
  forget: `
    DELETE FROM partner_inbox_seen WHERE digest IN (
      SELECT digest FROM partner_inbox_seen WHERE seen_at <= :horizon
      AND digest NOT IN (SELECT digest FROM partner_inbox_delivery) LIMIT 1000
    )`,
} as const;

type Statements = Readonly<Record<keyof typeof statementTexts, StatementSync>>;

export function prepareStatements(database: DatabaseSync): Statements {
  const prepared = Object.entries(statementTexts).map(([name, text]) => [name, database.prepare(text)]);
  // Sound: each text was prepared under its own name.
  return Object.fromEntries(prepared) as Statements;
}
