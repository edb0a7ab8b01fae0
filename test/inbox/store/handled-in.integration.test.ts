import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { storeInbox } from '../../../src/inbox/store/store-inbox.ts';
import { postgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { EventContext } from '../../../src/webhooks/handlers.ts';
import { describeWith, postgresUrl, run } from '../../store/servers.ts';
import { buyInitBody } from '../../support/bodies.ts';
import { isThorough } from '../../support/repeat.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { delivery, gate, quietWebhooks } from '../../webhooks/deliveries.ts';

const schema = `${run}_handled`;
const quick = { maxAttempts: 2, retry: { firstDelayMs: 1 }, role: 'drain' } as const;

/** Kills a process at one of its statements, or at each in turn, and returns how many were killed. */
async function killAtEach(place: readonly string[], post: (order: string) => Promise<void>): Promise<number> {
  const child = join(import.meta.dirname, 'handled-in-child.ts');
  const runChild = async (...rest: string[]): Promise<unknown> => {
    const started = fork(child, [...place, ...rest], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const [code] = await once(started, 'exit');
    return code;
  };
  let killed = 0;
  for (const moment of isThorough ? ['before', 'after'] : ['after']) {
    for (let statement = isThorough ? 1 : 3; ; statement++) {
      await post(`${moment} ${statement}`);
      if ((await runChild(String(statement), moment)) === 0) break;
      killed++;
      if (!isThorough) break;
    }
  }
  await runChild('0', '');
  return killed;
}

describeWith('postgres', 'handledIn on PostgreSQL', () => {
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 4 });
  const store = postgresStore({ client: pool, schema });
  beforeAll(async () => {
    await pool.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.credits (id text)`);
  });
  afterAll(async () => {
    await pool.query(`DROP SCHEMA ${schema} CASCADE`);
    await pool.end();
  });
  const credits = async () =>
    (await pool.query(`SELECT id FROM ${schema}.credits ORDER BY id`)).rows.map(({ id }) => id);

  it('credits each order exactly once without a guard, whichever statement kills the process', async () => {
    const inbox = storeInbox({ store, role: 'receiver' });
    const webhooks = quietWebhooks({ inbox });
    const orders: string[] = [];
    const killed = await killAtEach(['postgres', postgresUrl, schema], async (order) => {
      orders.push(order);
      expect((await webhooks.receive(delivery(buyInitBody({ partner_order_id: order })))).kind).toBe(
        'stored',
      );
    });
    expect(killed).toBeGreaterThan(isThorough ? 8 : 0);
    expect(await credits()).toEqual(orders.sort());
    expect(await inbox.counts()).toEqual({ open: 0, dead: 0 });
    await inbox.stop();
  }, 240_000);

  /** Handles one delivery whose handler does this in a transaction of its own. */
  async function handleIn(
    order: string,
    work: (client: pg.PoolClient, context: EventContext) => Promise<void>,
    prefix = `${order}/`,
  ) {
    const inbox = storeInbox({ ...quick, store, prefix });
    const errors: unknown[] = [];
    const webhooks = quietWebhooks({ inbox, onError: (error) => errors.push(error) }).onAny(
      async (_, context) => {
        const client = await pool.connect();
        try {
          await client.query('BEGIN');
          await client.query(`INSERT INTO ${schema}.credits VALUES ($1)`, [order]);
          await work(client, context);
        } finally {
          client.release(true);
        }
      },
    );
    await webhooks.receive(delivery(buyInitBody({ partner_order_id: order })));
    const result = await inbox.drain({ limit: 1 });
    const times = (await credits()).filter((id) => id === order).length;
    await inbox.stop();
    return { result, times, errors };
  }

  it('holds up no delivery that is received with a repetition of one in an open transaction', async () => {
    const limits = { storeTimeoutMs: 2_000 };
    const limited = postgresStore({ client: pool, schema, ...limits });
    const inbox = storeInbox({ ...quick, ...limits, store: limited, prefix: 'open/' });
    const [marked, end] = [gate(), gate()];
    const webhooks = quietWebhooks({ inbox }).onAny(async (_, { handledIn }) => {
      const client = await pool.connect();
      await client.query('BEGIN');
      await handledIn(postgresStore({ client, schema }));
      marked.open();
      await end.opened;
      await client.query('COMMIT');
      client.release();
    });
    const post = (order: string) => webhooks.receive(delivery(buyInitBody({ partner_order_id: order })));
    await post('marked');
    const drained = inbox.drain({ limit: 1 });
    await marked.opened;
    const [repetition, other] = await Promise.all([post('marked'), post('other')]);
    expect([repetition.status, other.kind]).toEqual([503, 'stored']);
    end.open();
    expect(await drained).toMatchObject({ handled: 1 });
    expect(await post('marked')).toMatchObject({ kind: 'duplicate' });
    await inbox.stop();
  });

  it('counts a transaction that is rolled back as a failed attempt', async () => {
    const { result, times, errors } = await handleIn('rolled-back', async (client, { handledIn }) => {
      await handledIn(postgresStore({ client, schema }));
      await client.query('ROLLBACK');
    });
    expect(errors).toMatchObject([{ code: 'not_committed' }]);
    expect(result).toMatchObject({ handled: 0, failed: 1, left: 1 });
    expect(times).toBe(0);
  });

  it('refuses a table that does not hold the delivery, and the effect cannot be committed alone', async () => {
    await postgresStore({ client: pool, schema, table: 'others' }).list({ prefix: '', limit: 1 });
    for (const table of ['others', 'missing']) {
      const { result, times, errors } = await handleIn(table, async (client, { handledIn }) => {
        await handledIn(postgresStore({ client, schema, table })).catch(() => {});
        await client.query('COMMIT');
      });
      expect(errors).toMatchObject([{ code: table === 'others' ? 'invalid_option' : 'store_failed' }]);
      expect(result).toMatchObject({ failed: 1 });
      expect(times).toBe(0);
    }
  });

  it('refuses a lease that was lost, and the effect cannot be committed alone', async () => {
    const { times, errors } = await handleIn('lost', async (client, { handledIn, digest }) => {
      const key = `lost/delivery/${digest}`;
      await store.transact([key], (records) => {
        // Sound: the inbox writes it.
        records.set(key, { ...(records.get(key) as object), lease: 'of another worker' });
      });
      await handledIn(postgresStore({ client, schema })).catch(() => {});
      await client.query('COMMIT');
    });
    expect(errors).toMatchObject([{ code: 'lease_lost' }]);
    expect(times).toBe(0);
  });

  it('refuses a store without an open transaction', async () => {
    const { errors } = await handleIn('pooled', async (_, { handledIn }) => {
      await handledIn(store);
    });
    expect(errors).toMatchObject([{ code: 'invalid_option' }]);
  });
});

describe('handledIn on SQLite', () => {
  function open() {
    const path = join(scratchFolder(), 'inbox.sqlite');
    const inbox = sqliteInbox({ path, role: 'receiver' });
    const database = new DatabaseSync(path, { timeout: 5_000 });
    database.exec('CREATE TABLE credits (id TEXT)');
    onTestFinished(async () => {
      await inbox.stop();
      database.close();
    });
    const credits = () =>
      database
        .prepare('SELECT id FROM credits ORDER BY id')
        .all()
        .map(({ id }) => id);
    return { path, inbox, database, credits };
  }

  it('credits each order exactly once without a guard, whichever statement kills the process', async () => {
    const { path, inbox, credits } = open();
    const webhooks = quietWebhooks({ inbox });
    const orders: string[] = [];
    const killed = await killAtEach(['sqlite', path, ''], async (order) => {
      orders.push(order);
      expect((await webhooks.receive(delivery(buyInitBody({ partner_order_id: order })))).kind).toBe(
        'stored',
      );
    });
    expect(killed).toBeGreaterThan(isThorough ? 5 : 0);
    expect(credits()).toEqual(orders.sort());
    expect(await inbox.counts()).toEqual({ open: 0, dead: 0 });
  }, 240_000);

  it('rolls back what a handler would commit after a refusal', async () => {
    const { path, database, credits } = open();
    const store = sqliteStore({ path });
    const inbox = storeInbox({ ...quick, store, prefix: 'other/' });
    const webhooks = quietWebhooks({ inbox }).onAny(async (_, { handledIn, digest }) => {
      await store.transact([`other/delivery/${digest}`], (records) =>
        records.delete(`other/delivery/${digest}`),
      );
      database.exec('BEGIN IMMEDIATE');
      database.exec("INSERT INTO credits VALUES ('alone')");
      await handledIn(sqliteStore({ database })).catch(() => {});
      expect(database.isTransaction).toBe(false);
    });
    await webhooks.receive(delivery(buyInitBody()));
    expect(await inbox.drain({ limit: 1 })).toMatchObject({ handled: 0 });
    expect(credits()).toEqual([]);
    await inbox.stop();
    await store.close();
  });
});
