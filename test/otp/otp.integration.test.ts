import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { memoryStore } from '../../src/store/memory-store.ts';
import { postgresStore } from '../../src/store/postgres/postgres-store.ts';
import { redisStore } from '../../src/store/redis/redis-store.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { clients, removeKeys, type TestClient } from '../store/redis/clients.ts';
import { describeWith, postgresUrl, redisUrl, run } from '../store/servers.ts';
import { scratchFolder } from '../support/scratch.ts';
import { describeOtp } from './otp-suite.ts';

const folder = scratchFolder(afterAll);
let opened = 0;
/** A thousand changes of one record wait for each other, perhaps on a busy machine. */
const storeTimeoutMs = 60_000;

describeOtp('memoryStore', ({ now }) => memoryStore({ now }));
describeOtp('sqliteStore', ({ now }) => sqliteStore({ path: join(folder, `${opened++}.sqlite`), now }));

describeWith('redis', 'redisStore', () => {
  let connected: TestClient | undefined;
  const prefixes: string[] = [];
  beforeAll(async () => {
    connected = await clients.ioredis?.(redisUrl);
  });
  afterAll(async () => {
    await removeKeys(redisUrl, prefixes);
    await connected?.close();
  });
  describeOtp('redisStore', ({ now }) => {
    if (connected === undefined) throw new Error('There is no client.');
    const prefix = `${run}_otp${opened++}`;
    prefixes.push(prefix);
    return redisStore({ client: connected.client, prefix, now, storeTimeoutMs });
  });
});

describeWith('postgres', 'postgresStore', () => {
  const schema = `${run}_otp`;
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 5 });
  beforeAll(async () => {
    await pool.query(`CREATE SCHEMA ${schema}`);
  });
  afterAll(async () => {
    await pool.query(`DROP SCHEMA ${schema} CASCADE`);
    await pool.end();
  });
  describeOtp('postgresStore', ({ now }) =>
    postgresStore({ client: pool, schema, table: `t${opened++}`, now, storeTimeoutMs }),
  );
});
