import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../errors/errors.ts';
import { sleep } from '../../internal/backoff.ts';
import type { JsonObject } from '../../internal/json.ts';
import { isFull } from '../../internal/sqlite-busy.ts';
import type { WriteGroup } from '../../internal/sqlite-database.ts';
import type { RecordMove, RunningMove } from '../../store/sqlite/sqlite-store.ts';
import { type IndexName, indexKey, indexPrefix, indexRecord } from '../store/delivery-index.ts';
import { deliveryKey, deliveryRecord, handledRecord, type Stored } from '../store/record-form.ts';

interface FormerTablesOptions {
  readonly prefix: string;
  readonly rememberMs: number;
  readonly now: () => number;
}

/** So few at once that no delivery waits for long. */
const rowsOfStep = 200;
const afterErrorMs = 1_000;
/** A record has up to 1 MiB as text, and each attempt adds to it. */
const longestText = 1_000_000;

/**
 * The tables of an inbox as earlier versions made them, perhaps in part.
 *
 * They are renamed in one transaction, and views without rows take their names: a process of such a version that has
 * the file open sees no delivery from then on, and fails to store one.
 */
const freeze = `
  CREATE TABLE IF NOT EXISTS partner_inbox_seen (digest BLOB PRIMARY KEY, seen_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS partner_inbox_wait (ms INTEGER PRIMARY KEY);
  ALTER TABLE partner_inbox_delivery RENAME TO partner_inbox_moving_delivery;
  ALTER TABLE partner_inbox_seen RENAME TO partner_inbox_moving_seen;
  CREATE VIEW partner_inbox_delivery AS SELECT * FROM partner_inbox_moving_delivery WHERE false;
  CREATE VIEW partner_inbox_seen AS SELECT * FROM partner_inbox_moving_seen WHERE false;
`;

/**
 * Moves the deliveries and the digests of an earlier version into records, a few in each transaction. A delivery that is
 * received meanwhile has its own digest moved first, so that it is still known. Deliveries are listed, and so handled,
 * once all of them are moved; digests follow.
 */
export function formerTables(options: FormerTablesOptions): RecordMove {
  return {
    prepare(database) {
      if (!hasTable(database, 'partner_inbox_delivery')) return;
      database.exec('BEGIN IMMEDIATE');
      try {
        // Another process may have been faster.
        if (hasTable(database, 'partner_inbox_delivery')) database.exec(freeze);
        database.exec('COMMIT');
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
    start: (database, write) =>
      hasTable(database, 'partner_inbox_moving_delivery')
        ? startMove(movingRows(database, options), write)
        : undefined,
  };
}

function startMove({ moveDigest, steps }: ReturnType<typeof movingRows>, write: WriteGroup): RunningMove {
  const ending = new AbortController();
  const listed = Promise.withResolvers<void>();
  // Only `list` waits for it.
  listed.promise.catch(() => {});
  let isMoved = false;

  async function moveAll(): Promise<void> {
    for (const step of [steps.deliveries, steps.digests]) {
      await repeat(step);
      if (ending.signal.aborted) return;
      listed.resolve();
    }
    isMoved = true;
  }

  async function repeat(step: (limit: number) => number): Promise<void> {
    let limit = rowsOfStep;
    while (!ending.signal.aborted) {
      try {
        if ((await write(() => step(limit))) === 0) return;
      } catch (error) {
        // On a full disk there may be room for one.
        if (isFull(error)) limit = 1;
        await sleep(afterErrorMs, ending.signal);
      }
    }
  }

  const moving = moveAll();
  return {
    moveKeys(keys) {
      if (!isMoved) for (const key of keys) moveDigest(key);
    },
    whenListed: () => listed.promise,
    async stop() {
      ending.abort();
      listed.reject(new StoreError('store_closed', 'The record store was closed.'));
      await moving;
    },
  };
}

/** Everything in it runs in a transaction of its caller. */
function movingRows(database: DatabaseSync, { prefix, rememberMs, now }: FormerTablesOptions) {
  const delivery = 'DELETE FROM partner_inbox_moving_delivery WHERE';
  const seen = 'DELETE FROM partner_inbox_moving_seen WHERE';
  const takeDeliveries = database.prepare(
    `${delivery} rowid IN (SELECT rowid FROM partner_inbox_moving_delivery LIMIT ?) RETURNING *`,
  );
  const takeDelivery = database.prepare(`${delivery} digest = ? RETURNING *`);
  const takeDigests = database.prepare(
    `${seen} digest IN (SELECT digest FROM partner_inbox_moving_seen LIMIT ?) RETURNING *`,
  );
  const takeDigest = database.prepare(`${seen} digest = ? RETURNING *`);
  const insert = database.prepare(
    'INSERT INTO partner_records VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING',
  );
  const longestWait = database.prepare('SELECT max(ms) AS ms FROM partner_inbox_wait');
  const recordPrefix = deliveryKey(prefix, '');

  function putDelivery(row: Record<string, unknown>): void {
    const at = Math.floor(now());
    const { index, ...stored } = readRow(row, at + Number(longestWait.get()?.ms ?? 0), at);
    const key = indexKey(indexPrefix(prefix, index.name), index.at, stored.delivery.digest);
    const entry = indexRecord({ receivedAt: stored.receivedAt, former: undefined }, at);
    put(deliveryKey(prefix, stored.delivery.digest), deliveryRecord({ ...stored, index: key }));
    put(key, entry);
    if (row.digest instanceof Uint8Array) takeDigest.all(row.digest);
  }

  function putDigest({ digest, seen_at }: Record<string, unknown>): void {
    const at = Math.floor(now());
    // A clock that was ahead for a while must not keep digests longer.
    const expiresAt = Math.min(Math.min(Number(seen_at), at) + rememberMs, Number.MAX_SAFE_INTEGER);
    if (expiresAt > at) put(deliveryKey(prefix, toHex(digest)), handledRecord, expiresAt);
  }

  function put(key: string, value: JsonObject, expiresAt?: number): void {
    insert.run(key, JSON.stringify(value), expiresAt ?? null);
  }

  return {
    moveDigest(key: string): void {
      if (!key.startsWith(recordPrefix)) return;
      const digest = Buffer.from(key.slice(recordPrefix.length), 'hex');
      for (const row of takeDelivery.all(digest)) putDelivery(row);
      for (const row of takeDigest.all(digest)) putDigest(row);
    },
    /** Each moves up to this many rows, and returns how many it moved. */
    steps: {
      deliveries(limit: number): number {
        const rows = takeDeliveries.all(limit);
        for (const row of rows) putDelivery(row);
        return rows.length;
      },
      digests(limit: number): number {
        const rows = takeDigests.all(limit);
        for (const row of rows) putDigest(row);
        return rows.length;
      },
    },
  };
}

/** @param latest no lease or delay ends later: the clock went back since it was written */
function readRow(
  row: Record<string, unknown>,
  latest: number,
  now: number,
): Omit<Stored, 'index'> & { readonly index: { readonly name: IndexName; readonly at: number } } {
  const { traceparent, ...key } = JSON.parse(String(row.matched_key));
  const [receivedAt, dueAt] = [Number(row.received_at), Number(row.due_at)];
  const isolated = row.alone === 1;
  const tooLong = JSON.stringify(row.body).length > longestText;
  const name =
    row.state === 'dead' || tooLong ? 'dead' : row.state === 'leased' || isolated ? 'alone' : 'due';
  return {
    delivery: {
      digest: toHex(row.digest),
      name: String(row.name),
      key,
      body: String(row.body),
      ...(traceparent !== undefined && { traceparent }),
    },
    receivedAt,
    attempts: Number(row.attempts),
    reason: tooLong ? 'Error: The body is longer than a record may be.' : String(row.reason),
    index: { name, at: name === 'dead' ? receivedAt : dueAt > latest ? now : dueAt },
    isolated,
    ...(row.state === 'leased' && name === 'alone' && { lease: crypto.randomUUID() }),
    kept: {},
  };
}

function hasTable(database: DatabaseSync, name: string): boolean {
  const query = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
  return query.get(name) !== undefined;
}

function toHex(digest: unknown): string {
  return digest instanceof Uint8Array ? Buffer.from(digest).toString('hex') : '';
}
