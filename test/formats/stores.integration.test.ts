import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { redisStore } from '../../src/store/redis/redis-store.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { describeWith, postgresUrl, redisUrl, run } from '../store/servers.ts';
import { loadRedis, type RedisEntry } from './dumps.ts';
import { allFixtures } from './fixtures.ts';
import { day, writtenAt } from './subjects.ts';
import { stored } from './writers/stores.ts';

const lasting = stored.filter(({ expiresAt }) => expiresAt === undefined);

async function expectRecords(open: (now: () => number) => RecordStore): Promise<void> {
  let now = writtenAt;
  const store = open(() => now);
  expect(await store.list({ prefix: '', limit: 100 })).toEqual(stored);
  const values = await store.transact(['kinds/text', 'passing', 'none'], (records) => [
    records.get('kinds/text'),
    records.get('passing'),
    records.get('none'),
  ]);
  expect(values).toEqual(['', { for: 'a day' }, undefined]);
  now += day;
  expect(await store.list({ prefix: '', limit: 100 })).toEqual(lasting);
  await store.transact(['lasting', 'kinds/number'], (records) => {
    records.delete('kinds/number');
    records.set('lasting', { of: 'a change' });
  });
  expect(await store.list({ prefix: 'lasting', limit: 100 })).toEqual([
    { key: 'lasting', value: { of: 'a change' } },
  ]);
  await store.close();
}

for (const { release, copy, json } of allFixtures) {
  describe(`a file of sqliteStore, written by ${release}`, () => {
    it('has its records, and forgets what expires', async () => {
      const path = copy('store.sqlite');
      await expectRecords((now) => sqliteStore({ path, now }));
    });
  });

  describeWith('redis', `the keys of redisStore, written by ${release}`, () => {
    const redis = new Redis(redisUrl, { lazyConnect: true });
    const prefix = `${run}_formats_store_${release.replaceAll('.', '_')}`;
    afterAll(async () => {
      const keys = await redis.keys(`{${prefix}}*`);
      if (keys.length > 0) await redis.del(...keys);
      await redis.quit();
    });

    it('have their records, and forget what expires', async () => {
      await loadRedis(redis, `{${prefix}}:`, json<RedisEntry[]>('redis-store.json'));
      await expectRecords((now) => redisStore({ client: redis, prefix, now }));
    });
  });

  describeWith('postgres', `the table of postgresStore, written by ${release}`, () => {
    const pool = new pg.Pool({ connectionString: postgresUrl, max: 2 });
    const schema = `${run}_formats_store_${release.replaceAll('.', '_')}`;
    afterAll(async () => {
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await pool.end();
    });

    interface Table {
      readonly columns: readonly { name: string; type: string; collation: string | null; nullable: string }[];
      readonly indexes: readonly string[];
      readonly rows: readonly object[];
    }

    it('has its records, and forgets what expires', async () => {
      const { columns, indexes, rows } = json<Table>('postgres-store.json');
      const table = 'partner_exchange_records';
      const written = columns.map(({ name, type, collation, nullable }) => {
        const collate = collation === null ? '' : ` COLLATE "${collation}"`;
        return `${name} ${type}${collate}${nullable === 'NO' ? ' NOT NULL' : ''}`;
      });
      await pool.query(`CREATE SCHEMA ${schema}`);
      await pool.query(`CREATE TABLE ${schema}.${table} (${written.join(', ')})`);
      for (const index of indexes) await pool.query(index.replace('public.', `${schema}.`));
      await pool.query(
        `INSERT INTO ${schema}.${table} SELECT * FROM jsonb_populate_recordset(NULL::${schema}.${table}, $1::jsonb)`,
        [JSON.stringify(rows)],
      );
      await expectRecords((now) => postgresStore({ client: pool, schema, table, now }));
    });
  });
}
