import pg from 'pg';
import { afterAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { type StoreInboxOptions, storeInbox } from '../../../src/inbox/store/store-inbox.ts';
import { type PostgresStoreOptions, postgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { describeWith, postgresUrl, run } from '../../store/servers.ts';
import { gate } from '../../webhooks/deliveries.ts';
import { eventually, order, receiver } from '../contract.ts';

/** No test waits for a poll, unless it says so. */
const pollMs = 600_000;

describeWith('postgres', 'a delivery in PostgreSQL that another process stored', () => {
  const table = `${run}_woken`;
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 4 });
  beforeEach(async () => {
    await pool.query(`DROP TABLE IF EXISTS ${table}`);
  });
  afterAll(async () => {
    await pool.query(`DROP TABLE IF EXISTS ${table}`);
    await pool.end();
  });

  /** As a process of its own, with its own pool. */
  function start(options: Partial<StoreInboxOptions> = {}, client?: PostgresStoreOptions['client']) {
    const own = new pg.Pool({ connectionString: postgresUrl, max: 1, application_name: table });
    const store = postgresStore({ client: client ?? own, table });
    const inbox = storeInbox({ store, pollMs, ...options });
    onTestFinished(async () => {
      await inbox.stop({ timeoutMs: 0 });
      await store.close();
      await own.end();
    });
    return inbox;
  }

  async function listeners(): Promise<number[]> {
    const { rows } = await pool.query(
      `SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND query LIKE 'LISTEN%'`,
      [table],
    );
    return rows.map(({ pid }) => pid);
  }
  const someListen = (count: number) => eventually(async () => expect(await listeners()).toHaveLength(count));

  it('is handled without waiting for the poll, also with a pool of one connection', async () => {
    const { calls } = receiver(start());
    await someListen(1);
    const { webhooks } = receiver(start({ role: 'receiver' }));
    for (const id of ['A', 'B', 'C']) {
      await webhooks.receive(order(id));
      await eventually(() => expect(calls.at(-1)).toBe(id));
    }
  });

  it('is handled by another replica if its own is busy', async () => {
    const busy = start({ concurrency: 1 });
    const [begun, end] = [gate(), gate()];
    const { webhooks } = receiver(busy, () => {
      begun.open();
      return end.opened;
    });
    await webhooks.receive(order('A'));
    await begun.opened;
    const { calls } = receiver(start());
    await someListen(2);
    await webhooks.receive(order('B'));
    await eventually(() => expect(calls).toEqual(['B']));
    end.open();
  });

  it('is handled after a listening connection was cut, and so is what came meanwhile', async () => {
    const { calls } = receiver(start());
    await someListen(1);
    const [pid] = await listeners();
    const { webhooks } = receiver(start({ role: 'receiver' }));
    await pool.query('SELECT pg_terminate_backend($1)', [pid]);
    await webhooks.receive(order('A'));
    await eventually(() => expect(calls).toEqual(['A']));
    await someListen(1);
    await webhooks.receive(order('B'));
    await eventually(() => expect(calls).toEqual(['A', 'B']));
  });

  it('waits for the poll where the pool does not say how to connect, or signals are lost', async () => {
    /** As PgBouncer in transaction mode: it takes LISTEN, and passes no signal on. */
    class DeafClient extends pg.Client {
      override on(event: string | symbol, listener: (...given: never[]) => void): this {
        return event === 'notification' ? this : super.on(event as 'drain', listener as () => void);
      }
    }
    const deaf = new pg.Pool({ connectionString: postgresUrl, max: 4, Client: DeafClient });
    onTestFinished(() => deaf.end());
    const bare: PostgresStoreOptions['client'] = {
      query: (text, values) => pool.query(text, values),
      connect: () => pool.connect(),
      totalCount: 0,
    };
    for (const client of [deaf, bare]) {
      const inbox = start({ pollMs: 20 }, client);
      const { calls } = receiver(inbox);
      const { webhooks } = receiver(start({ role: 'receiver' }));
      const id = client === deaf ? 'A' : 'B';
      await webhooks.receive(order(id));
      await eventually(() => expect(calls).toEqual([id]));
      await inbox.stop();
    }
    expect(await listeners()).toEqual([]);
  });

  it('is announced on one connection, which a stop closes', async () => {
    const inbox = start();
    receiver(inbox);
    await someListen(1);
    await inbox.stop();
    await someListen(0);
  });
});
