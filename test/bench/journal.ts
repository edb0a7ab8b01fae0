import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import type { OrderJournal } from '../../src/orders/journal-types.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { postgresStore } from '../../src/store/postgres/postgres-store.ts';
import { event, exchangeOf, fakeService, order } from '../orders/service.ts';
import { startPostgres } from '../support/private-server.ts';
import { median } from './measure.ts';

/*
 * Two order journals in one PostgreSQL, one with few orders and one with many, with the same number of unsettled ones:
 * what each call takes, in turns. Then the same with index entries of settled orders that no vacuum has removed. The
 * journal writes the first orders; PostgreSQL multiplies them.
 */

const { values: flags } = parseArgs({
  options: {
    few: { type: 'string', default: '10000' },
    many: { type: 'string', default: '5000000' },
    open: { type: 'string', default: '100' },
    dead: { type: 'string', default: '200000' },
    rounds: { type: 'string', default: '100' },
  },
});
const rounds = Number(flags.rounds);

const folder = mkdtempSync(join(tmpdir(), 'bench-'));
const options = { autovacuum: 'off', shared_buffers: '512MB', max_wal_size: '8GB', checkpoint_timeout: '1h' };
const server = await startPostgres(
  folder,
  Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
);
const pool = new pg.Pool({ host: '127.0.0.1', port: server.port, user: 'postgres', database: 'postgres' });
pool.on('error', () => {});

try {
  const few = await fill('few', Number(flags.few));
  const many = await fill('many', Number(flags.many));
  await compare(`${flags.many} orders, beside ${flags.few}`, few, many, {
    create: ({ create }) => create(),
    get: ({ journal, count }) => journal.get(`B-${1 + Math.floor(Math.random() * count)}`),
    [`unsettled (${flags.open} are)`]: ({ journal }) => journal.unsettled(),
    'a pass of the loop': ({ journal }) => onePass(journal),
  });
  const { rows } = await pool.query(
    `SELECT pg_size_pretty(pg_table_size('many')) AS rows, pg_size_pretty(pg_indexes_size('many')) AS indexes`,
  );
  console.log(`  on disk: ${rows[0].rows}, indexes ${rows[0].indexes}`);

  const other = await fill('other', Number(flags.few));
  await pool.query(`
    INSERT INTO other SELECT 'orders:open:' || encode(sha256(number::text::bytea), 'hex'), '1'
      FROM generate_series(1, ${Number(flags.dead)}) AS number;
    DELETE FROM other WHERE key LIKE 'orders:open:%' AND value = '1'`);
  const looks = { 'a pass of the loop': (at: Filled) => onePass(at.journal) };
  await compare(`${flags.dead} settled since the last vacuum, the first look`, few, other, looks, 1);
  await compare('the next looks', few, other, looks);
  await pool.query('VACUUM other');
  await compare('after VACUUM', few, other, looks);
} finally {
  await pool.end();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

type Filled = Awaited<ReturnType<typeof fill>>;

/** A journal with unsettled orders, and so many that are settled. */
async function fill(table: string, count: number) {
  const service = fakeService();
  const store = postgresStore({ client: pool, table });
  // Without accepted orders whose first event has not come: the index grows with these alone.
  const journal = createOrderJournal({ exchange: exchangeOf(service), store, firstEventWithinMs: false });
  for (let index = 0; index < Number(flags.open); index++) {
    service.next.push('lost');
    await journal.create({ ...order, partner_order_id: `open ${index}` });
  }
  await journal.create({ ...order, partner_order_id: 'sample' });
  await journal.observe(event('sample'));
  const { rows } = await pool.query(`SELECT value FROM ${table} WHERE value LIKE '%"sample"%'`);
  await pool.query(`ALTER TABLE ${table} DROP CONSTRAINT ${table}_pkey`);
  await pool.query(
    `INSERT INTO ${table}
     SELECT 'orders:order:' || encode(sha256(('"B-' || number || '"')::bytea), 'hex'),
       replace($1, '"sample"', '"B-' || number || '"')
     FROM generate_series(1, $2::int) AS number`,
    [rows[0].value, count],
  );
  await pool.query(`ALTER TABLE ${table} ADD PRIMARY KEY (key); ANALYZE ${table}`);
  let created = 0;
  const create = () => journal.create({ ...order, partner_order_id: `new ${created++}` });
  return { journal, count, create };
}

async function onePass(journal: OrderJournal): Promise<void> {
  const passed = Promise.withResolvers<void>();
  const loop = journal.start({
    load: () => order,
    evidenceWithinMs: 86_400_000,
    sleep: (_, signal) => {
      passed.resolve();
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  });
  await passed.promise;
  await loop.stop();
}

/** Prints medians in milliseconds. */
async function compare(
  title: string,
  one: Filled,
  other: Filled,
  calls: Readonly<Record<string, (filled: Filled) => Promise<unknown>>>,
  times = rounds,
): Promise<void> {
  console.log(`\n${title}`);
  for (const [name, call] of Object.entries(calls)) {
    const [before, after]: [number[], number[]] = [[], []];
    for (let round = 0; round < times; round++) {
      before.push(await timeOf(() => call(one)));
      after.push(await timeOf(() => call(other)));
    }
    const [least, most] = [median(before), median(after)];
    const shown = [least, most].map((ms) => `${ms.toFixed(2).padStart(9)} ms`).join('');
    console.log(`  ${name.padEnd(22)}${shown}${(most / least).toFixed(2).padStart(9)} x`);
  }
}

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}
