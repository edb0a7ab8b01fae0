import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { inject } from 'vitest';
import type { HandlingOptions } from '../../src/inbox/handling-options.ts';
import type { ManagedInbox } from '../../src/inbox/inbox.ts';
import { memoryInbox } from '../../src/inbox/memory-inbox.ts';
import { sqliteInbox } from '../../src/inbox/sqlite/sqlite-inbox.ts';
import { type StoreInbox, storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { postgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { redisStore } from '../../src/store/redis/redis-store.ts';
import { postgresUrl, redisUrl, run } from '../store/servers.ts';

/** An engine that keeps deliveries, as the contract suite uses it. */
export interface Engine {
  readonly name: string;
  /** Acknowledges once stored, and handles after that. */
  readonly durable: boolean;
  /** What it needs and what is not there; `undefined` when it can run. */
  readonly missing: string | undefined;
  /** A store of its own, empty, for one test. */
  open(): Promise<Store>;
  /** Removes everything that this run left in the engine. */
  remove(): Promise<void>;
}

/** One file, or one queue. */
export interface Store {
  /** An inbox on it: each is as good as a process of its own. */
  inbox(options?: HandlingOptions): ManagedInbox & Partial<Pick<StoreInbox, 'find'>>;
  /** All that the engine has stored of it, as text; `undefined` if it stores nothing outside of the process. */
  raw(): Promise<string | undefined>;
  close(): Promise<void>;
}

let opened = 0;

function missingServer(name: 'redis' | 'postgres'): string | undefined {
  const server = inject(name);
  return 'missing' in server ? server.missing : undefined;
}

export const engines: readonly Engine[] = [
  memoryEngine(),
  sqliteEngine(),
  storeEngine('memory store', openMemoryStore),
  storeEngine('redis store', openRedisStore, missingServer('redis')),
  storeEngine('postgres store', openPostgresStore, missingServer('postgres')),
];

function memoryEngine(): Engine {
  return {
    name: 'memory',
    durable: false,
    missing: undefined,
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
    missing: undefined,
    async open() {
      const folder = mkdtempSync(join(tmpdir(), 'inbox-'));
      const inboxes: ManagedInbox[] = [];
      return {
        inbox: (options) =>
          keep(inboxes, sqliteInbox({ path: join(folder, 'inbox.sqlite'), pollMs: 20, ...options })),
        // Free pages and the -wal too.
        raw: async () => readFolder(folder),
        async close() {
          await stopAll(inboxes);
          rmSync(folder, { recursive: true, force: true });
        },
      };
    },
    remove: async () => {},
  };
}

let sharedRedis: Redis | undefined;
let sharedPool: pg.Pool | undefined;

/** A record store, empty, that several inboxes open. */
interface OpenedStore {
  open(): RecordStore;
  end(store: RecordStore): Promise<void>;
  raw(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** The inbox over a record store. */
function storeEngine(name: string, openStore: () => Promise<OpenedStore>, missing?: string): Engine {
  return {
    name,
    durable: true,
    missing,
    async open() {
      const stores = await openStore();
      const inboxes: ManagedInbox[] = [];
      return {
        inbox(options) {
          const store = stores.open();
          const inbox = storeInbox({ store, pollMs: 20, ...options });
          // As a process that ends.
          const stop: ManagedInbox['stop'] = (given) => inbox.stop(given).finally(() => stores.end(store));
          return keep(inboxes, { ...inbox, stop });
        },
        raw: stores.raw,
        async close() {
          await stopAll(inboxes);
          await stores.close();
        },
      };
    },
    async remove() {
      await Promise.all([sharedRedis?.quit(), sharedPool?.end()]);
      [sharedRedis, sharedPool] = [undefined, undefined];
    },
  };
}

async function openMemoryStore(): Promise<OpenedStore> {
  const store = memoryStore();
  return {
    // One for all: `close` ends it.
    open: () => store,
    end: async () => {},
    raw: async () => JSON.stringify(await store.list({ prefix: '', limit: 1000 })),
    close: () => store.close(),
  };
}

async function openRedisStore(): Promise<OpenedStore> {
  sharedRedis ??= new Redis(redisUrl);
  const client = sharedRedis;
  const prefix = `${run}_store${opened++}`;
  return {
    open: () => redisStore({ client, prefix }),
    end: (store) => store.close(),
    async raw() {
      const members = ['keys', 'expiries', 'commits'].map((name) =>
        client.zrange(`{${prefix}}:${name}`, '0', '-1'),
      );
      return JSON.stringify([await client.hgetall(`{${prefix}}:records`), ...(await Promise.all(members))]);
    },
    async close() {
      const keys = await client.keys(`{${prefix}}:*`);
      if (keys.length > 0) await client.del(...keys);
    },
  };
}

async function openPostgresStore(): Promise<OpenedStore> {
  sharedPool ??= new pg.Pool({ connectionString: postgresUrl, max: 4 });
  const client = sharedPool;
  const table = `${run}_store${opened++}`;
  return {
    open: () => postgresStore({ client, table }),
    end: (store) => store.close(),
    async raw() {
      const { rows } = await client.query(`SELECT row::text AS text FROM ${table} AS row`);
      return rows.map(({ text }) => String(text)).join('\n');
    },
    async close() {
      await client.query(`DROP TABLE IF EXISTS ${table}`);
    },
  };
}

function readFolder(folder: string): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('');
}

function keep(inboxes: ManagedInbox[], inbox: ManagedInbox): ManagedInbox {
  inboxes.push(inbox);
  return inbox;
}

async function stopAll(inboxes: readonly ManagedInbox[]): Promise<void> {
  await Promise.all(inboxes.map((inbox) => inbox.stop({ timeoutMs: 0 })));
}
