import { DatabaseSync } from 'node:sqlite';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import type { HandlingOptions } from '../../src/inbox/handling-options.ts';
import type { ManagedInbox } from '../../src/inbox/inbox.ts';
import { sqliteInbox } from '../../src/inbox/sqlite/sqlite-inbox.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { bases } from '../deployment/bases.ts';
import { openStore } from '../store/open-store.ts';
import { credentials } from '../webhooks/deliveries.ts';

/** `inbox-`: over a record store. `queue-`: over a queue, with a store as the guard. */
export const crashEngines = ['sqlite', 'inbox-redis', 'inbox-postgres', 'queue-nats'] as const;
export type CrashEngineName = (typeof crashEngines)[number];

/** Whether it is over a queue: a server of the run's own. */
export function isQueue(engine: CrashEngineName): boolean {
  return engine === 'queue-nats';
}

/** What an engine needs to be there. */
export function serverOf(engine: CrashEngineName): 'redis' | 'postgres' | undefined {
  if (engine === 'inbox-redis') return 'redis';
  return engine === 'inbox-postgres' ? 'postgres' : undefined;
}

/** Where the engine of a run is, and what is this run's in it. Passed to child processes. */
export interface Place {
  readonly engine: CrashEngineName;
  /** A prefix of keys, or a schema. */
  readonly run: string;
  /** SQLite: of its files. */
  readonly folder: string;
  readonly redis: { readonly host: string; readonly port: number };
  readonly postgresUrl: string;
  readonly queueUrl?: string | undefined;
}

/** What a handler's program keeps of its own, in the engine of the inbox. */
export interface Effects {
  /** A handler has run to the point of its effect. Not guarded. */
  countCall(digest: string): Promise<void>;
  /**
   * The de-duplication guard: the digest and the effect are written in one transaction, and the effect only if the
   * digest was not there before.
   */
  applyOnce(digest: string, order: string): Promise<void>;
  /** How often each order has had its effect. */
  readEffects(): Promise<Map<string, number>>;
  readCalls(): Promise<Map<string, number>>;
  close(): Promise<void>;
}

/** An order whose handler kills its process. */
export const isPoison = (order: string): boolean => order.startsWith('poison');

/** An order whose event credits another address: no handler may act on it. */
export const isElsewhere = (order: string): boolean => order.startsWith('elsewhere');

/** An order whose event has another amount: it is handled, and stays in sight. */
export const isDearer = (order: string): boolean => order.startsWith('dearer');

/** The orders of a run, in a file of their own, whatever the inbox is over. The service takes every order. */
export function openJournal({ folder }: Place) {
  const store = sqliteStore({ path: `${folder}/orders.sqlite`, busyTimeoutMs: 5_000 });
  const exchange = new ExchangeClient({
    deployment: defineDeployment(bases),
    // Without a name of the partner, as the receivers: events then are of the same one.
    credentials,
    fetch: async () => Response.json({ ok: true }),
  });
  return {
    journal: createOrderJournal({ exchange, store, onMismatch: () => {} }),
    close: () => store.close(),
  };
}

/** So that a lost lease is found within a second or so; with the default number of attempts. */
const handling: HandlingOptions = {
  timeLimitMs: 400,
  retry: { firstDelayMs: 10, maxDelayMs: 200 },
  concurrency: 8,
  onStoreError: () => {},
};

/** What an engine needs is loaded only for it: processes start often here. */
export async function openInbox(place: Place, role: 'both' | 'receiver'): Promise<ManagedInbox> {
  const options = { ...handling, role };
  switch (place.engine) {
    case 'sqlite':
      return sqliteInbox({
        path: `${place.folder}/inbox.sqlite`,
        pollMs: 20,
        busyTimeoutMs: 5_000,
        ...options,
      });
    case 'queue-nats':
      return await openQueueInbox(place, options);
    case 'inbox-redis':
      return await openStoreInbox(
        options,
        'ioredis',
        `redis://${place.redis.host}:${place.redis.port}`,
        place.run,
      );
    case 'inbox-postgres':
      return await openStoreInbox(options, 'postgres', place.postgresUrl, `${place.run}_inbox`);
  }
}

/** A message that is dead stays with the queue: the run has none. */
async function openQueueInbox(
  place: Place,
  { timeLimitMs, role, onStoreError }: HandlingOptions,
): Promise<ManagedInbox> {
  const { openQueue } = await import('../inbox/queue/queues.ts');
  const { queueInbox } = await import('../../src/inbox/queue/queue-inbox.ts');
  const queue = await openQueue('nats', place.queueUrl ?? '', place.run);
  const { store, close } = await openStore('sqlite', place.folder, 'guard');
  const inbox = queueInbox({ send: queue.send, store, timeLimitMs, role, onStoreError });
  return {
    ...inbox,
    attach(host) {
      inbox.attach?.(host);
      if (role === 'both') void queue.consume(inbox);
    },
    counts: async () => ({ open: 0, dead: 0 }),
    health: async () => ({ open: 0, dead: 0, quarantined: 0, oldestAgeMs: null }),
    deadLetters: async () => [],
    deadLetter: async () => undefined,
    replay: async () => false,
    discard: async () => false,
    async stop(given) {
      const end = await inbox.stop(given);
      await queue.close();
      await close();
      return end;
    },
  };
}

async function openStoreInbox(
  options: HandlingOptions,
  ...[engine, address, name]: readonly [engine: string, address: string, name: string]
): Promise<ManagedInbox> {
  const { storeInbox } = await import('../../src/inbox/store/store-inbox.ts');
  const { store } = await openStore(engine, address, name, { storeTimeoutMs: 2_000 });
  return storeInbox({ store, storeTimeoutMs: 5_000, pollMs: 20, ...options });
}

export async function openEffects(place: Place): Promise<Effects> {
  switch (serverOf(place.engine)) {
    case 'redis':
      return await redisEffects(place);
    case 'postgres':
      return await postgresEffects(place);
    case undefined:
      return sqliteEffects(`${place.folder}/effects.sqlite`);
  }
}

function sqliteEffects(path: string): Effects {
  const database = new DatabaseSync(path, { timeout: 5_000 });
  database.exec(`
    PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS calls (digest TEXT PRIMARY KEY, times INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS handled (digest TEXT PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS effects (key TEXT PRIMARY KEY, times INTEGER NOT NULL);
  `);
  const count = database.prepare(
    'INSERT INTO calls VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1',
  );
  const guard = database.prepare('INSERT OR IGNORE INTO handled VALUES (?)');
  const effect = database.prepare(
    'INSERT INTO effects VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1',
  );
  const read = (sql: string) =>
    new Map(
      database
        .prepare(sql)
        .all()
        .map(({ key, times }) => [String(key), Number(times)]),
    );
  return {
    async countCall(digest) {
      count.run(digest);
    },
    async applyOnce(digest, order) {
      database.exec('BEGIN IMMEDIATE');
      if (guard.run(digest).changes === 1) effect.run(order);
      database.exec('COMMIT');
    },
    readEffects: async () => read('SELECT key, times FROM effects'),
    readCalls: async () => read('SELECT digest AS key, times FROM calls'),
    async close() {
      database.close();
    },
  };
}

async function redisEffects({ redis: address, run }: Place): Promise<Effects> {
  const { Redis } = await import('ioredis');
  const redis = new Redis({ ...address, maxRetriesPerRequest: null });
  redis.on('error', () => {});
  const toMap = (hash: Record<string, string>) =>
    new Map(Object.entries(hash).map(([key, times]) => [key, Number(times)]));
  // A script is a transaction.
  const script = `if redis.call('SADD', KEYS[1], ARGV[1]) == 1 then redis.call('HINCRBY', KEYS[2], ARGV[2], 1) end`;
  return {
    async countCall(digest) {
      await redis.hincrby(`${run}:calls`, digest, 1);
    },
    async applyOnce(digest, order) {
      await redis.eval(script, 2, `${run}:handled`, `${run}:effects`, digest, order);
    },
    readEffects: async () => toMap(await redis.hgetall(`${run}:effects`)),
    readCalls: async () => toMap(await redis.hgetall(`${run}:calls`)),
    async close() {
      const keys = [...(await redis.keys(`${run}:*`)), ...(await redis.keys(`{${run}}:*`))];
      if (keys.length > 0) await redis.del(...keys);
      await redis.quit();
    },
  };
}

async function postgresEffects({ postgresUrl, run }: Place): Promise<Effects> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 4 });
  pool.on('error', () => {});
  // The schema is made by whoever is first: the parent, before there are children.
  await pool.query(`
    CREATE SCHEMA IF NOT EXISTS ${run}_app;
    CREATE TABLE IF NOT EXISTS ${run}_app.calls (key text PRIMARY KEY, times int NOT NULL);
    CREATE TABLE IF NOT EXISTS ${run}_app.handled (digest text PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS ${run}_app.effects (key text PRIMARY KEY, times int NOT NULL);
  `);
  const read = async (table: string) => {
    const { rows } = await pool.query(`SELECT key, times FROM ${run}_app.${table}`);
    return new Map(rows.map(({ key, times }) => [String(key), Number(times)]));
  };
  return {
    async countCall(digest) {
      await pool.query(
        `INSERT INTO ${run}_app.calls AS c VALUES ($1, 1) ON CONFLICT (key) DO UPDATE SET times = c.times + 1`,
        [digest],
      );
    },
    async applyOnce(digest, order) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        const guard = `INSERT INTO ${run}_app.handled VALUES ($1) ON CONFLICT DO NOTHING`;
        const { rowCount } = await client.query(guard, [digest]);
        if (rowCount === 1) {
          await client.query(
            `INSERT INTO ${run}_app.effects AS e VALUES ($1, 1) ON CONFLICT (key) DO UPDATE SET times = e.times + 1`,
            [order],
          );
        }
        await client.query('COMMIT');
        client.release();
      } catch (error) {
        client.release(true);
        throw error;
      }
    },
    readEffects: () => read('effects'),
    readCalls: () => read('calls'),
    async close() {
      await pool.query(`DROP SCHEMA IF EXISTS ${run}_app CASCADE; DROP TABLE IF EXISTS ${run}_inbox`);
      await pool.end();
    },
  };
}
