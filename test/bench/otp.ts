import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { RecordStore } from '../../src/store/record-store.ts';
import { missingForPostgres, missingForRedis, startPostgres, startRedis } from '../support/private-server.ts';
import { builtUrl } from './built-entries.ts';

/*
 * How many codes a second one process issues and checks on each store, with a messenger that takes every message at
 * once: one after another, and many at a time. Redis and PostgreSQL are started for this, and write to disk before they
 * answer.
 */

type Otp = typeof import('../../src/otp/index.ts');
type Stores = typeof import('../../src/store/index.ts');

// The built files, as they are installed; their types are those of the source.
const { createOtp }: Otp = await import(builtUrl('./otp'));
const { memoryStore, postgresStore, redisStore, sqliteStore }: Stores = await import(builtUrl('./store'));

const { values: flags } = parseArgs({
  options: { codes: { type: 'string', default: '2000' }, concurrency: { type: 'string', default: '64' } },
});
const codes = Number(flags.codes);
const concurrency = Number(flags.concurrency);

const folder = mkdtempSync(join(tmpdir(), 'bench-otp-'));
// PostgreSQL gets one of its own, which is its user's then.
const postgresFolder = mkdtempSync(join(tmpdir(), 'bench-otp-'));
try {
  console.log(`Issue + check of ${codes} codes for different numbers, a second, the messenger faked:`);
  console.log(`  store        one after another   ${concurrency} at a time`);
  await measure('memory', memoryStore());
  await measure('sqlite', sqliteStore({ path: join(folder, 'codes.sqlite') }));
  await measureRedis();
  await measurePostgres();
} finally {
  for (const made of [folder, postgresFolder]) rmSync(made, { recursive: true, force: true });
}

async function measureRedis(): Promise<void> {
  const missing = missingForRedis();
  if (missing !== undefined) return console.log(`  redis        there is no ${missing}`);
  const server = await startRedis(folder);
  const client = new Redis(server.port);
  try {
    await measure('redis', redisStore({ client }));
  } finally {
    await client.quit();
    await server.stop();
  }
}

async function measurePostgres(): Promise<void> {
  const missing = missingForPostgres();
  if (missing !== undefined) return console.log(`  postgres     there is no ${missing}`);
  const server = await startPostgres(postgresFolder);
  const pool = new pg.Pool({ port: server.port, host: '127.0.0.1', user: 'postgres', max: 10 });
  pool.on('error', () => {});
  try {
    await measure('postgres', postgresStore({ client: pool }));
  } finally {
    await pool.end();
    await server.stop();
  }
}

async function measure(name: string, store: RecordStore): Promise<void> {
  const inTurn = await codesPerSecond(store, { first: 10_000_000, atOnce: 1 });
  const atOnce = await codesPerSecond(store, { first: 50_000_000, atOnce: concurrency });
  await store.close();
  console.log(`  ${name.padEnd(12)} ${inTurn.toFixed(0).padStart(17)} ${atOnce.toFixed(0).padStart(14)}`);
}

async function codesPerSecond(
  store: RecordStore,
  { first, atOnce }: { first: number; atOnce: number },
): Promise<number> {
  const sent = new Map<string, string>();
  const otp = createOtp({
    messenger: {
      sendMessage: async ({ to_phone, message }) => {
        sent.set(to_phone, message.slice(0, 6));
      },
    },
    store,
    secrets: ['secret-of-the-benchmark-0123456789abcdef'],
    allowedPrefixes: ['+234'],
  });
  let next = 0;
  const work = async (until: number) => {
    while (next < until) {
      const to_phone = `+23480${first + next++}`;
      const { id } = await otp.issue({ to_phone, purpose: 'sign-in' });
      const { ok } = await otp.check(id, sent.get(to_phone) ?? '', { purpose: 'sign-in' });
      if (!ok) throw new Error('A right code was not accepted.');
    }
  };
  const run = (until: number) => Promise.all(Array.from({ length: atOnce }, () => work(until)));
  // As many as the engine needs to compile.
  const warmup = Math.ceil(codes / 4);
  await run(warmup);
  const begun = performance.now();
  await run(warmup + codes);
  return (codes / (performance.now() - begun)) * 1000;
}
