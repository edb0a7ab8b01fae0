import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { PgBoss } from 'pg-boss';
import { inject } from 'vitest';
import { bullmqInbox } from '../../src/inbox/bullmq/bullmq-inbox.ts';
import type { HandlingOptions } from '../../src/inbox/handling-options.ts';
import type { ManagedInbox } from '../../src/inbox/managed-inbox.ts';
import { memoryInbox } from '../../src/inbox/memory/memory-inbox.ts';
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
