import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { memoryStore } from '../../src/store/memory-store.ts';
import { postgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { redisStore } from '../../src/store/redis/redis-store.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { isThorough } from '../support/repeat.ts';
import { removeKeys } from './redis/clients.ts';
import { postgresUrl, redisUrl, run } from './servers.ts';

export interface StoreKind {
  readonly name: 'memoryStore' | 'sqliteStore' | 'redisStore' | 'postgresStore';
  /** A store with nothing in it. */
  open(now: () => number): RecordStore;
}

let opened = 0;

/**
 * The stores that rules above them are tried on: every day the simplest and the most distant one, all by `npm run prove`.
 * Without a server, those that need none. (`contract.integration.test.ts` names the
 * servers that are missing.)
 */
export function storeKinds(): StoreKind[] {
  const stores: RecordStore[] = [];
  const keep = (store: RecordStore) => {
    stores.push(store);
    return store;
  };
  const closeAll = async () => {
    for (const store of stores) await store.close();
  };
  const folder = mkdtempSync(join(tmpdir(), 'orders-'));
  const kinds: StoreKind[] = [
    { name: 'memoryStore', open: (now) => keep(memoryStore({ now })) },
    {
      name: 'sqliteStore',
      open: (now) => keep(sqliteStore({ path: join(folder, `${opened++}.sqlite`), now })),
    },
  ];

  if (redisUrl !== '') {
    const client = new Redis(redisUrl, { lazyConnect: true });
    const prefixes: string[] = [];
    afterAll(async () => {
      await closeAll();
      await client.quit();
      await removeKeys(redisUrl, prefixes);
    });
    const open = (now: () => number) => {
      const prefix = `${run}_orders_${opened++}`;
      prefixes.push(prefix);
      return keep(redisStore({ client, prefix, now }));
    };
    kinds.push({ name: 'redisStore', open });
  }

  if (postgresUrl !== '') {
    const schema = `${run}_orders_${opened++}`;
    const pool = new pg.Pool({ connectionString: postgresUrl, max: 4 });
    beforeAll(async () => {
      await pool.query(`CREATE SCHEMA ${schema}`);
    });
    afterAll(async () => {
      await closeAll();
      await pool.query(`DROP SCHEMA ${schema} CASCADE`);
      await pool.end();
    });
    const open = (now: () => number) =>
      keep(postgresStore({ client: pool, schema, table: `t${opened++}`, now }));
    kinds.push({ name: 'postgresStore', open });
  }

  afterAll(async () => {
    await closeAll();
    rmSync(folder, { recursive: true, force: true });
  });
  return isThorough ? kinds : kinds.filter(({ name }) => name === 'memoryStore' || name === 'postgresStore');
}
