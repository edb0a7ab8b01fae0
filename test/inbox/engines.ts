import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { PgBoss } from 'pg-boss';
import { inject } from 'vitest';
import { bullmqInbox } from '../../src/inbox/bullmq/bullmq-inbox.ts';
import type { HandlingOptions } from '../../src/inbox/handling-options.ts';
import type { ManagedInbox } from '../../src/inbox/inbox.ts';
import { memoryInbox } from '../../src/inbox/memory-inbox.ts';
import { pgBossInbox } from '../../src/inbox/pg-boss/pg-boss-inbox.ts';
import { sqliteInbox } from '../../src/inbox/sqlite/sqlite-inbox.ts';

const [redis, postgres] = [inject('redis'), inject('postgres')];
/** Of the run's own servers. Empty where there is none: `absent` says so, and nothing uses them. */
export const postgresUrl = 'url' in postgres ? postgres.url : '';
export const redisAddress = addressOf('url' in redis ? redis.url : 'redis://127.0.0.1:0');

/** An engine that keeps deliveries, as the contract suite uses it. */
export interface Engine {
  readonly name: string;
  /** Acknowledges once stored, and handles after that. */
  readonly durable: boolean;
  /** What it needs and what is not there; `undefined` when it can run. */
  absent(): Promise<string | undefined>;
  /** A store of its own, empty, for one test. */
  open(): Promise<Store>;
  /** Removes everything that this run left in the engine. */
  remove(): Promise<void>;
}

/** One file, or one queue. */
export interface Store {
  /** An inbox on it: each is as good as a process of its own. */
  inbox(options?: HandlingOptions): ManagedInbox;
  /** All that the engine has stored of it, as text; `undefined` if it stores nothing outside of the process. */
  raw(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Unique to the run, so that runs side by side do not meet. */
const run = `pex_${randomBytes(5).toString('hex')}`;
let opened = 0;

export const engines: readonly Engine[] = [memoryEngine(), sqliteEngine(), bullmqEngine(), pgBossEngine()];

function memoryEngine(): Engine {
  return {
    name: 'memory',
    durable: false,
    absent: async () => undefined,
    async open() {
      const inboxes: ManagedInbox[] = [];
      return {
        // It has no other options of these.
        inbox: ({ maxAttempts, timeLimitMs, rememberMs, now } = {}) =>
          keep(inboxes, memoryInbox({ maxAttempts, timeLimitMs, rememberMs, now })),
        raw: async () => undefined,
        close: () => stopAll(inboxes),
      };
    },
    remove: async () => {},
  };
}

function sqliteEngine(): Engine {
  return {
    name: 'sqlite',
    durable: true,
    absent: async () => undefined,
    async open() {
      const folder = mkdtempSync(join(tmpdir(), 'inbox-'));
      const inboxes: ManagedInbox[] = [];
      return {
        inbox: (options) =>
          keep(inboxes, sqliteInbox({ path: join(folder, 'inbox.sqlite'), pollMs: 20, ...options })),
        // Free pages and the -wal too.
        raw: async () =>
          readdirSync(folder)
            .map((name) => readFileSync(join(folder, name), 'latin1'))
            .join(''),
        async close() {
          await stopAll(inboxes);
          rmSync(folder, { recursive: true, force: true });
        },
      };
    },
    remove: async () => {},
  };
}

function bullmqEngine(): Engine {
  return {
    name: 'bullmq',
    durable: true,
    absent: async () => ('missing' in redis ? redis.missing : undefined),
    async open() {
      const queue = new Queue(`inbox${opened++}`, { connection: redisAddress, prefix: run });
      const inboxes: ManagedInbox[] = [];
      return {
        inbox: (options) => {
          const createWorker: Parameters<typeof bullmqInbox>[0]['createWorker'] = (
            name,
            processor,
            workerOptions,
          ) => new Worker(name, processor, { ...workerOptions, connection: redisAddress, prefix: run });
          return keep(inboxes, bullmqInbox({ queue, createWorker, ...options }));
        },
        raw: () => readRedis(`${run}:${queue.name}:*`),
        async close() {
          await stopAll(inboxes);
          await queue.obliterate({ force: true });
          await queue.close();
        },
      };
    },
    async remove() {
      const redis = new Redis(redisAddress);
      const keys = await redis.keys(`${run}:*`);
      if (keys.length > 0) await redis.del(...keys);
      await redis.quit();
    },
  };
}

function pgBossEngine(): Engine {
  let started: Promise<PgBoss> | undefined;
  return {
    name: 'pg-boss',
    durable: true,
    absent: async () => ('missing' in postgres ? postgres.missing : undefined),
    async open() {
      started ??= startBoss(run);
      const boss = await started;
      const inboxes: ManagedInbox[] = [];
      const queue = `inbox${opened++}`;
      return {
        inbox: (options) => keep(inboxes, pgBossInbox({ boss, queue, pollMs: 50, ...options })),
        raw: () => readSchema(boss, run),
        close: () => stopAll(inboxes),
      };
    },
    async remove() {
      const boss = await started;
      await boss?.getDb().executeSql(`DROP SCHEMA ${run} CASCADE`);
      await boss?.stop({ graceful: false });
    },
  };
}

/** A pg-boss with a schema of its own, which looks every second for lost leases and for what may be deleted. */
export async function startBoss(schema: string): Promise<PgBoss> {
  const boss = new PgBoss({
    connectionString: postgresUrl,
    schema,
    max: 6,
    superviseIntervalSeconds: 1,
    monitorIntervalSeconds: 1,
    maintenanceIntervalSeconds: 1,
    schedule: false,
  });
  boss.on('error', () => {});
  await boss.start();
  return boss;
}

/** The values of all keys of a pattern. */
async function readRedis(pattern: string): Promise<string> {
  const redis = new Redis(redisAddress);
  const read: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
    string: (key) => redis.get(key),
    hash: (key) => redis.hgetall(key),
    list: (key) => redis.lrange(key, 0, -1),
    set: (key) => redis.smembers(key),
    zset: (key) => redis.zrange(key, '0', '-1', 'WITHSCORES'),
    stream: (key) => redis.xrange(key, '-', '+'),
  };
  const values = await Promise.all(
    (await redis.keys(pattern)).map(async (key) => [key, await read[await redis.type(key)]?.(key)]),
  );
  await redis.quit();
  return JSON.stringify(values);
}

/** The rows of all tables of a schema. */
async function readSchema(boss: PgBoss, schema: string): Promise<string> {
  const ofSchema = `SELECT relname FROM pg_class WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r'`;
  const { rows: tables } = await boss.getDb().executeSql(ofSchema);
  const texts = tables.map(async ({ relname }) => {
    const { rows } = await boss
      .getDb()
      .executeSql(`SELECT row::text AS text FROM ${schema}."${relname}" AS row`);
    return rows.map(({ text }) => String(text)).join('\n');
  });
  return (await Promise.all(texts)).join('\n');
}

function keep(inboxes: ManagedInbox[], inbox: ManagedInbox): ManagedInbox {
  inboxes.push(inbox);
  return inbox;
}

async function stopAll(inboxes: readonly ManagedInbox[]): Promise<void> {
  await Promise.all(inboxes.map((inbox) => inbox.stop({ timeoutMs: 100 })));
}

/** As ioredis and BullMQ take it. */
function addressOf(url: string) {
  const { hostname, port, username, password, pathname, protocol } = new URL(url);
  return {
    host: hostname,
    port: Number(port || 6379),
    db: Number(pathname.slice(1)),
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
}
