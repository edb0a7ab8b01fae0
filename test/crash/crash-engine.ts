import { DatabaseSync } from 'node:sqlite';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import type { HandlingOptions } from '../../src/inbox/handling-options.ts';
import type { ManagedInbox } from '../../src/inbox/inbox.ts';
import { sqliteInbox } from '../../src/inbox/sqlite/sqlite-inbox.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { bases } from '../deployment/bases.ts';
import { openStore } from '../store/open-store.ts';
import {
  missingForPostgres,
  missingForRedis,
  type PrivateServer,
  startPostgres,
  startRedis,
} from '../support/private-server.ts';
import { credentials } from '../webhooks/deliveries.ts';

export const inboxEngines = ['inbox-sqlite', 'inbox-redis', 'inbox-postgres'] as const;
export const storeEngines = ['store-sqlite', 'store-redis', 'store-postgres'] as const;
export type InboxEngine = (typeof inboxEngines)[number];
export type StoreEngine = (typeof storeEngines)[number];

/** What this machine lacks to run an engine. */
export function missingFor(engine: InboxEngine | StoreEngine): string | undefined {
  if (engine.endsWith('redis')) return missingForRedis();
  return engine.endsWith('postgres') ? missingForPostgres() : undefined;
}

/** Where the engine of a run is. Passed to child processes. */
export interface Place {
  /** As `openStore` takes it. */
  readonly engine: string;
  readonly address: string;
  /** Of the files of the run. */
  readonly folder: string;
}

/** An engine of the run's own, which can be killed too. SQLite lives in the processes, and dies with each of them. */
export async function startEngine(
  engine: InboxEngine | StoreEngine,
  folder: string,
): Promise<{ readonly place: Place; readonly server?: PrivateServer }> {
  if (engine.endsWith('redis')) {
    const server = await startRedis(folder);
    return { place: { engine: 'ioredis', address: `redis://127.0.0.1:${server.port}`, folder }, server };
  }
  if (engine.endsWith('postgres')) {
    const server = await startPostgres(folder);
    const address = `postgres://postgres@127.0.0.1:${server.port}/postgres`;
    return { place: { engine: 'postgres', address, folder }, server };
  }
  return { place: { engine: 'sqlite', address: folder, folder } };
}

/** An order whose handler kills its process. */
export const isPoison = (order: string): boolean => order.startsWith('poison');

/** An order whose event credits another address: no handler may act on it. */
export const isElsewhere = (order: string): boolean => order.startsWith('elsewhere');

/** An order whose event has another amount: it is handled, and stays in sight. */
export const isDearer = (order: string): boolean => order.startsWith('dearer');

/** The orders of a run, in a file of their own, whatever the inbox is over. The service takes every order. */
export function openJournal({ folder }: Place) {
  const store = sqliteStore({ path: `${folder}/orders.sqlite`, busyTimeoutMs: 60_000 });
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

/** A process that starts frees what a killed one of its machine had leased, so a lease may be long. */
const handling: HandlingOptions = {
  maxAttempts: 4,
  timeLimitMs: 10_000,
  retry: { firstDelayMs: 10, maxDelayMs: 200 },
  concurrency: 8,
  onStoreError: () => {},
};

export async function openInbox(
  { engine, address, folder }: Place,
  role: 'both' | 'receiver',
): Promise<ManagedInbox> {
  const options = { ...handling, pollMs: 20, role };
  if (engine === 'sqlite')
    return sqliteInbox({ path: `${folder}/inbox.sqlite`, busyTimeoutMs: 5_000, ...options });
  const { store } = await openStore(engine, address, 'inbox', { storeTimeoutMs: 2_000 });
  return storeInbox({ store, storeTimeoutMs: 5_000, ...options });
}

/** What a handler's program keeps of its own. */
export function openEffects({ folder }: Place) {
  const database = new DatabaseSync(`${folder}/effects.sqlite`, { timeout: 60_000 });
  database.exec(`
    PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS calls (key TEXT PRIMARY KEY, times INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS handled (digest TEXT PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS effects (key TEXT PRIMARY KEY, times INTEGER NOT NULL);
  `);
  const count = (table: string) =>
    database.prepare(`INSERT INTO ${table} VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1`);
  const [call, effect] = [count('calls'), count('effects')];
  const guard = database.prepare('INSERT OR IGNORE INTO handled VALUES (?)');
  const read = (table: string) =>
    new Map(
      database
        .prepare(`SELECT key, times FROM ${table}`)
        .all()
        .map(({ key, times }) => [String(key), Number(times)]),
    );
  return {
    /** A handler has run to the point of its effect. Not guarded. */
    countCall: (digest: string): void => void call.run(digest),
    /** The digest and the effect are written in one transaction, and the effect only if the digest was not there. */
    applyOnce(digest: string, order: string): void {
      database.exec('BEGIN IMMEDIATE');
      if (guard.run(digest).changes === 1) effect.run(order);
      database.exec('COMMIT');
    },
    /** How often each order has had its effect. */
    readEffects: () => read('effects'),
    readCalls: () => read('calls'),
    close: () => database.close(),
  };
}
