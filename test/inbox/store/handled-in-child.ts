import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { storeInbox } from '../../../src/inbox/store/store-inbox.ts';
import { postgresStore } from '../../../src/store/postgres/postgres-store.ts';
import type { RecordStore } from '../../../src/store/record-store.ts';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { createWebhooks } from '../../../src/webhooks/create-webhooks.ts';
import { credentials } from '../../webhooks/deliveries.ts';

/**
 * A process that credits the orders of its inbox in transactions of its own, with no guard but `handledIn`. It kills
 * itself at one of its statements, before or after it.
 */
const [engine = '', address = '', schema = '', killAt = '0', moment = ''] = process.argv.slice(2);
// Do not outlive the parent.
process.on('disconnect', () => process.exit());
let statements = 0;
/** From the first one of a credit on: polling has no end. */
let isCounting = false;

function runStatement<Result>(run: () => Result): Result {
  const isIt = isCounting && ++statements === Number(killAt);
  if (isIt && moment === 'before') process.kill(process.pid, 'SIGKILL');
  const result = run();
  if (isIt && moment === 'after') {
    const end = () => process.kill(process.pid, 'SIGKILL');
    if (result instanceof Promise) result.then(end, end);
    else end();
  }
  return result;
}

/** Counts the statements of every connection of a pool. */
class MortalClient extends pg.Client {
  constructor(...given: ConstructorParameters<typeof pg.Client>) {
    super(...given);
    const query = this.query.bind(this);
    // Sound: it only passes on what it gets.
    this.query = ((...parameters: unknown[]) =>
      runStatement(() => Reflect.apply(query, this, parameters))) as typeof this.query;
  }
}

/** The next process frees the lease of a killed one, so it may be long. */
const handling = {
  timeLimitMs: 10_000,
  maxAttempts: 1_000,
  pollMs: 20,
  concurrency: 1,
  retry: { firstDelayMs: 10, maxDelayMs: 100 },
};
type Credit = (order: string, handledIn: (store: RecordStore) => Promise<void>) => Promise<void>;

function onPostgres() {
  const pool = new pg.Pool({ connectionString: address, max: 4, Client: MortalClient });
  pool.on('error', () => {});
  const credit: Credit = async (order, handledIn) => {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(`INSERT INTO ${schema}.credits VALUES ($1)`, [order]);
      await handledIn(postgresStore({ client, schema }));
      await client.query('COMMIT');
    } finally {
      client.release(true);
    }
  };
  return { credit, inbox: storeInbox({ ...handling, store: postgresStore({ client: pool, schema }) }) };
}

function onSqlite() {
  const inbox = sqliteInbox({ ...handling, path: address });
  const credit: Credit = async (order, handledIn) => {
    const opened = new DatabaseSync(address, { timeout: 5_000 });
    const database = {
      get isTransaction() {
        return opened.isTransaction;
      },
      exec: (sql: string) => runStatement(() => opened.exec(sql)),
      prepare: (sql: string) => runStatement(() => opened.prepare(sql)),
    };
    try {
      database.exec('BEGIN IMMEDIATE');
      database.prepare('INSERT INTO credits VALUES (?)').run(order);
      await handledIn(sqliteStore({ database }));
      database.exec('COMMIT');
    } finally {
      opened.close();
    }
  };
  return { credit, inbox };
}

const { credit, inbox } = engine === 'postgres' ? onPostgres() : onSqlite();
createWebhooks({ credentials, inbox, onError: () => {} }).onAny((event, { handledIn }) => {
  isCounting = true;
  return credit(String(event.partner_order_id), handledIn);
});
// A delivery that is leased between two listings of one look is in neither.
let looksAtNone = 0;
const timer = setInterval(async () => {
  const { open } = await inbox.counts().catch(() => ({ open: 1 }));
  looksAtNone = open > 0 ? 0 : looksAtNone + 1;
  if (looksAtNone < 3) return;
  clearInterval(timer);
  process.exit(0);
}, 20);
