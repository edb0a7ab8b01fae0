import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { postgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { redisStore } from '../../../src/store/redis/redis-store.ts';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { dumpRedis, loadRecords, type RecordDump } from '../dumps.ts';
import { day, writtenAt } from '../subjects.ts';

const now = () => writtenAt;

/** What each store holds. */
export const stored: RecordDump = [
  { key: 'kinds/list', value: [1, -0.5, 1e21, 'Ọlá \u0000 \ud83d\ude00', null, true, { deep: { er: [] } }] },
  { key: 'kinds/number', value: 0 },
  { key: 'kinds/text', value: '' },
  { key: 'lasting', value: { of: 'ever' } },
  { key: 'passing', value: { for: 'a day' }, expiresAt: writtenAt + day },
];

export async function writeSqliteStore(folder: string, scratch: string): Promise<void> {
  const path = join(scratch, 'store.sqlite');
  const store = sqliteStore({ path, now });
  await loadRecords(store, stored);
  await store.close();
  copyFileSync(path, join(folder, 'store.sqlite'));
}

export async function redisEntries(url: string) {
  const client = new Redis(url);
  const store = redisStore({ client, now });
  await loadRecords(store, stored);
  await store.close();
  const entries = await dumpRedis(client, '{partner-exchange}:');
  await client.quit();
  return entries;
}

/** The table as it was made, and its rows. */
export async function postgresTable(url: string) {
  const pool = new pg.Pool({ connectionString: url });
  const store = postgresStore({ client: pool, now });
  await loadRecords(store, stored);
  await store.close();
  const table = 'partner_exchange_records';
  const { rows: columns } = await pool.query(
    `SELECT column_name AS name, data_type AS type, collation_name AS collation, is_nullable AS nullable
     FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position`,
    [table],
  );
  const { rows: indexes } = await pool.query('SELECT indexdef AS text FROM pg_indexes WHERE tablename = $1', [
    table,
  ]);
  const { rows } = await pool.query(`SELECT key, value, expires_at::text FROM ${table} ORDER BY key`);
  await pool.end();
  return { columns, indexes: indexes.map(({ text }) => text), rows };
}
