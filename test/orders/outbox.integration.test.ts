import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { postgresStore } from '../../src/store/postgres/postgres-store.ts';
import { describeWith, postgresUrl, run } from '../store/servers.ts';
import { exchangeOf, fakeService, order } from './service.ts';

describeWith('postgres', 'prepare in a transaction of your own', () => {
  const schema = `${run}_outbox`;
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 4 });
  const service = fakeService();
  const journal = createOrderJournal({
    exchange: exchangeOf(service),
    store: postgresStore({ client: pool, schema }),
  });
  beforeAll(async () => {
    await pool.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders (id text PRIMARY KEY)`);
    // Makes the store's table, which the store does not do in somebody's transaction.
    await journal.unsettled();
  });
  afterAll(async () => {
    await pool.query(`DROP SCHEMA ${schema} CASCADE`);
    await pool.end();
  });

  /** Writes an order and its intent, and then commits or not. */
  async function write(id: string, end: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(`INSERT INTO ${schema}.orders VALUES ($1)`, [id]);
      const store = postgresStore({ client, schema });
      expect(await journal.prepare({ ...order, partner_order_id: id }, { store })).toMatchObject({
        state: 'prepared',
      });
      // Nobody else sees it yet.
      expect((await pool.query(`SELECT 1 FROM ${schema}.orders WHERE id = $1`, [id])).rowCount).toBe(0);
      expect(await journal.unsettled()).toEqual([]);
      await client.query(end);
    } finally {
      client.release();
    }
  }

  it('leaves nothing behind after a rollback', async () => {
    await write('A', 'ROLLBACK');
    expect(await journal.get('A')).toBeUndefined();
    expect(await journal.unsettled()).toEqual([]);
  });

  it('is there with your own row after the commit, and create sends it', async () => {
    await write('B', 'COMMIT');
    expect(await journal.unsettled()).toMatchObject([{ partner_order_id: 'B', state: 'prepared' }]);
    expect(service.requests).toEqual([]);
    expect(await journal.create({ ...order, partner_order_id: 'B' })).toMatchObject({
      reply: { status: 200 },
    });
    expect(service.requests).toEqual(['B']);
    expect(await journal.unsettled()).toEqual([]);
  });
});
