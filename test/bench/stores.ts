import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import { postgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { redisStore } from '../../src/store/redis/redis-store.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { missingForPostgres, missingForRedis, startPostgres, startRedis } from '../support/private-server.ts';
import { measureInTurns, median, ratio } from './measure.ts';

/*
 * How many transactions a second each record store makes, beside the bare engine reading and writing one value in the
 * same way. Every engine writes to disk before it answers. In turns, round by round, in one process.
 */

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    'round-ms': { type: 'string', default: '1000' },
    at: { type: 'string', multiple: true, default: ['1', '32'] },
    engine: { type: 'string', multiple: true, default: ['sqlite', 'redis', 'postgres'] },
  },
});
const rounds = Number(flags.rounds);
const roundMs = Number(flags['round-ms']);
/** Of an order in the journal, about. */
const value = { state: 'sending', digest: 'd'.repeat(64), at: 1_700_000_000_000 };
const keyCount = 1000;

/** Reads the value of a key, and writes it with one more. */
type Change = (key: string) => Promise<void>;

interface Contest {
  readonly bare: Change;
  readonly store: Change;
  close(): Promise<void>;
}

const contests: Readonly<Record<string, (folder: string) => Promise<Contest>>> = {
  sqlite: sqliteContest,
  redis: redisContest,
  postgres: postgresContest,
};

for (const engine of flags.engine) {
  const open = contests[engine];
  if (open === undefined) throw new Error(`There is no engine ${engine}.`);
  const missing = { redis: missingForRedis(), postgres: missingForPostgres() }[engine];
  if (missing !== undefined) {
    console.log(`\n${engine}: left out, there is no ${missing}.`);
    continue;
  }
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const contest = await open(folder);
  try {
    for (const callers of flags.at.map(Number)) await compare(engine, contest, callers);
  } finally {
    await contest.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
process.exit();

async function compare(engine: string, { bare, store }: Contest, callers: number): Promise<void> {
  const changes = { bare, store };
  const contenders = Object.entries(changes).map(
    ([name, change]) => [name, () => measure(change, callers)] as const,
  );
  const rates = await measureInTurns(Object.fromEntries(contenders), { rounds, warmup: 1 });
  console.log(`\n${engine}, ${callers} at once: transactions a second, and times the bare engine`);
  for (const name of Object.keys(changes)) {
    const found = rates[name] ?? [];
    const times = ratio(found, rates.bare ?? []).value.toFixed(2);
    console.log(`  ${name.padEnd(12)}${median(found).toFixed(0).padStart(8)}${`${times} x`.padStart(10)}`);
  }
}

/** Changes a second, of random keys. */
async function measure(change: Change, callers: number): Promise<number> {
  const begun = performance.now();
  let made = 0;
  const call = async () => {
    while (performance.now() - begun < roundMs) {
      await change(`order/${Math.floor(Math.random() * keyCount)}`);
      made++;
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return (made * 1000) / (performance.now() - begun);
}

function through(store: RecordStore): Change {
  return (key) =>
    store.transact([key], (records) => {
      // Sound: only this program writes it.
      const found = records.get(key) as { readonly count: number } | undefined;
      records.set(key, { ...value, count: (found?.count ?? 0) + 1 });
    });
}

/** The value that is to be written after this one. */
function next(text: string | null | undefined): string {
  const { count = 0 } = text ? (JSON.parse(text) as { readonly count?: number }) : {};
  return JSON.stringify({ ...value, count: count + 1 });
}

async function sqliteContest(folder: string): Promise<Contest> {
  const database = new DatabaseSync(join(folder, 'bare.sqlite'));
  database.exec(`
    PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE records (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`);
  const read = database.prepare('SELECT value FROM records WHERE key = ?');
  const write = database.prepare(
    'INSERT INTO records VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  );
  const store = sqliteStore({ path: join(folder, 'store.sqlite') });
  return {
    async bare(key) {
      database.exec('BEGIN IMMEDIATE');
      const row = read.get(key);
      write.run(key, next(row && String(row.value)));
      database.exec('COMMIT');
    },
    store: through(store),
    async close() {
      await store.close();
      database.close();
    },
  };
}

async function redisContest(folder: string): Promise<Contest> {
  const server = await startRedis(folder);
  const client = new Redis(server.port, '127.0.0.1');
  const store = redisStore({ client });
  return {
    // Two round trips, as the store has.
    async bare(key) {
      await client.set(key, next(await client.get(key)));
    },
    store: through(store),
    async close() {
      await store.close();
      client.disconnect();
      await server.stop();
    },
  };
}

async function postgresContest(folder: string): Promise<Contest> {
  const server = await startPostgres(folder);
  const address = { host: '127.0.0.1', port: server.port, user: 'postgres', database: 'postgres', max: 32 };
  const pool = new pg.Pool(address);
  await pool.query('CREATE TABLE records (key text PRIMARY KEY, value text NOT NULL)');
  const store = postgresStore({ client: pool });
  return {
    async bare(key) {
      const client = await pool.connect();
      await client.query('BEGIN');
      const { rows } = await client.query('SELECT value FROM records WHERE key = $1 FOR UPDATE', [key]);
      await client.query(
        'INSERT INTO records VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
        [key, next(rows[0]?.value)],
      );
      await client.query('COMMIT');
      client.release();
    },
    store: through(store),
    async close() {
      await store.close();
      await pool.end();
      await server.stop();
    },
  };
}
