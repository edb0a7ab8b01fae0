import { DatabaseSync } from 'node:sqlite';

/** The tables and the statements of the versions that had an engine of their own, up to the commit 9c17b3a. */
export const formerSchema = `
  PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
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
  INSERT INTO partner_inbox_wait VALUES (660000) ON CONFLICT (ms) DO NOTHING;
`;

/** Writes into a file as an earlier version did, with the file open. */
export function formerInbox(path: string) {
  const database = new DatabaseSync(path, { timeout: 5_000 });
  database.exec(formerSchema);
  const remember = database.prepare(
    'INSERT INTO partner_inbox_seen VALUES (?, ?) ON CONFLICT (digest) DO NOTHING',
  );
  const insert = database.prepare(
    `INSERT INTO partner_inbox_delivery (digest, name, matched_key, body, received_at, due_at)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING`,
  );
  const remove = database.prepare('DELETE FROM partner_inbox_delivery WHERE digest = ?');
  const due = database.prepare('SELECT count(*) AS due FROM partner_inbox_delivery WHERE due_at <= ?');
  return {
    /** Throws if the delivery is not on disk. */
    store({ digest, body }: { digest: string; body: string }): void {
      const [blob, now] = [Buffer.from(digest, 'hex'), Date.now()];
      database.exec('BEGIN IMMEDIATE');
      try {
        remember.run(blob, now);
        insert.run(blob, 'event.buy.init', '{"index":0}', body, now, now);
        database.exec('COMMIT');
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
    /** As after it was handled. */
    remove: (digest: string) => remove.run(Buffer.from(digest, 'hex')),
    due: () => Number(due.get(Date.now())?.due),
    /** Digests of deliveries that were handled. */
    fill(count: number): void {
      database
        .prepare(
          `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?)
           INSERT INTO partner_inbox_seen SELECT randomblob(32), ? FROM n`,
        )
        .run(count, Date.now());
    },
    close: () => database.close(),
  };
}
