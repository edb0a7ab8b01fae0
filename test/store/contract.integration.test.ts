import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { describeRecordStore, type TestRunner } from '../../src/devtools/testing/describe-record-store.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { postgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { redisStore } from '../../src/store/redis/redis-store.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { isThorough } from '../support/repeat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { clients, removeKeys, type TestClient } from './redis/clients.ts';
import { describeWith, postgresUrl, redisUrl, run } from './servers.ts';

/** The cases run side by side. A thousand changes of one key wait for each other, perhaps on a busy machine. */
const patient: TestRunner = { describe, it: (name, run) => it.concurrent(name, { timeout: 120_000 }, run) };
/** For clients of a server: 150 changes of one key from three stores, without the thousand from one. */
const shorter: TestRunner = {
  describe,
  it(name, run) {
    if (isThorough || !name.startsWith('1,000 changes')) patient.it(name, run);
  },
};

describe('memoryStore', () => {
  // Its records live in the object, so the same data is the same object.
  const stores = new Map<string, RecordStore>();
  describeRecordStore(patient, ({ now, data }) => {
    const store = stores.get(data) ?? memoryStore({ now });
    stores.set(data, store);
    return store;
  });
});

describe('sqliteStore', () => {
  const folder = scratchFolder(afterAll);
  describeRecordStore(patient, ({ now, data }) => sqliteStore({ path: join(folder, `${data}.sqlite`), now }));
});

// `npm run prove` and `check:peers` try all.
for (const [name, connect] of Object.entries(clients).filter(([name]) => isThorough || name === 'ioredis')) {
  describeWith('redis', `redisStore with ${name}`, () => {
    let connected: TestClient;
    const prefixes = new Set<string>();
    beforeAll(async () => {
      connected = await connect(redisUrl);
    });
    afterAll(async () => {
      await removeKeys(redisUrl, [...prefixes]);
      await connected.close();
    });
    describeRecordStore(shorter, ({ now, data }) => {
      prefixes.add(data);
      return redisStore({ client: connected.client, prefix: data, now, storeTimeoutMs: 60_000 });
    });
  });
}

describeWith('postgres', 'postgresStore', () => {
  const schema = `${run}_contract`;
  const client = new pg.Pool({ connectionString: postgresUrl, max: 6 });
  beforeAll(async () => {
    await client.query(`CREATE SCHEMA ${schema}`);
  });
  afterAll(async () => {
    await client.query(`DROP SCHEMA ${schema} CASCADE`);
    await client.end();
  });
  describeRecordStore(shorter, ({ now, data }) =>
    // Longer than the default: a thousand changes of one key wait for each other, perhaps on a busy disk.
    postgresStore({ client, schema, table: `t${data}`, now, storeTimeoutMs: 60_000 }),
  );
});
