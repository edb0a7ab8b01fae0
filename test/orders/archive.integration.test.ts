import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { postgresStore } from '../../src/store/postgres/postgres-store.ts';
import { describeWith, postgresUrl, run } from '../store/servers.ts';
import { snippetsOf } from '../support/doc-snippets.ts';
import { bench, event, order } from './service.ts';

const schema = `${run}_archive`;

describeWith('postgres', 'the statements of the page for millions of orders', () => {
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 2, options: `-c search_path=${schema}` });
  beforeAll(async () => {
    await pool.query(`CREATE SCHEMA ${schema}`);
  });
  afterAll(async () => {
    await pool.query(`DROP SCHEMA ${schema} CASCADE`);
    await pool.end();
  });

  it('archive orders that were settled more than a year ago, and no other', async () => {
    // The entry of an order without its event stays in the index for as long.
    const options = { firstEventWithinMs: 500 * 86_400_000 };
    const { journal, service, clock } = bench(options, (now) => postgresStore({ client: pool, now }));
    const create = async (partner_order_id: string) => await journal.create({ ...order, partner_order_id });
    const settle = async (id: string) => {
      await create(id);
      await journal.observe(event(id));
    };
    const ids = ['accepted', 'without its event', 'refused', 'lost', 'recent'];
    clock.now = Date.now() - 400 * 86_400_000;
    await settle('accepted');
    await create('without its event');
    service.next.push({ status: 422 }, 'lost');
    await create('refused');
    await create('lost');
    clock.now = Date.now();
    await settle('recent');
    for (const statements of snippetsOf('docs/details/orders.md', 'sql')) await pool.query(statements);
    const kept = await Promise.all(ids.map((id) => journal.get(id)));
    expect(kept.map((found) => found?.partner_order_id)).toEqual([
      undefined,
      'without its event',
      undefined,
      'lost',
      'recent',
    ]);
    const { rows } = await pool.query('SELECT value FROM archived_orders');
    expect(rows.map(({ value }) => JSON.parse(value).partner_order_id).sort()).toEqual([
      'accepted',
      'refused',
    ]);
  });
});
