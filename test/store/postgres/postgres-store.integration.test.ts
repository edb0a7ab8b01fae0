import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type PostgresStoreOptions, postgresStore } from '../../../src/store/postgres/postgres-store.ts';
import type { RecordStore } from '../../../src/store/record-store.ts';
import { userTransactionOf } from '../../../src/store/user-transaction.ts';
import { refusal } from '../../support/refusal.ts';
import { startProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { increment, read, set } from '../counted.ts';
import { describeWith, postgresUrl, run } from '../servers.ts';

const schema = `${run}_postgres`;
let pool: pg.Pool;
let table = '';
let opened = 0;

function open(options: Partial<PostgresStoreOptions> = {}): RecordStore {
  return postgresStore({ client: pool, schema, table, ...options });
}

async function keysOnDisk(): Promise<string[]> {
  const { rows } = await pool.query(`SELECT key FROM ${schema}.${table} ORDER BY key`);
  return rows.map(({ key }) => String(key));
}

/** A client of its own, not of the pool. */
async function connect(options: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: postgresUrl, ...options });
  client.on('error', () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** A pool whose connections go through a proxy. */
async function throughProxy(max = 2): Promise<{ readonly proxy: TcpProxy; readonly client: pg.Pool }> {
  const url = new URL(postgresUrl);
  if (url.hostname !== '127.0.0.1') throw new Error('The proxy wants a PostgreSQL of this machine.');
  const proxy = await startProxy(Number(url.port));
  url.port = String(proxy.port);
  const client = new pg.Pool({ connectionString: url.href, max });
  client.on('error', () => {});
  onTestFinished(async () => {
    await client.end();
    await proxy.close();
  });
  return { proxy, client };
}

/** As statements.ts has it. */
function numberOf(key: string): bigint {
  return createHash('sha256').update(key).digest().readBigInt64BE();
}

const isCommit = (request: string) => request.includes('COMMIT\0');
const isLock = (request: string) => request.includes('pg_advisory_xact_lock');

describeWith('postgres', 'postgresStore', () => {
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: postgresUrl, max: 6 });
    await pool.query(`CREATE SCHEMA ${schema}`);
  });
  afterAll(async () => {
    await pool.query(`DROP SCHEMA ${schema} CASCADE`);
    await pool.end();
  });
  // A table of its own for every test.
  const test = (name: string, define: () => Promise<void> | void, timeoutMs?: number) =>
    it(
      name,
      async () => {
        table = `t${opened++}`;
        await define();
      },
      timeoutMs,
    );

  test('refuses unsound options', () => {
    const refused = (options: object) => refusal(() => open(options as never));
    const invalid = 'ConfigurationError invalid_option';
    const half = [{ query() {} }, { query() {}, totalCount: 0 }, { connect() {}, totalCount: 0 }];
    for (const client of [undefined, null, {}, ...half]) expect(refused({ client })).toBe(invalid);
    for (const unsound of ['', 'a"b', 'a;b', "a'b", '1a', 'a.b', 'x'.repeat(57), ['a']]) {
      expect(refused({ table: unsound })).toBe(invalid);
      expect(refused({ schema: unsound })).toBe(invalid);
    }
    for (const name of ['table', 'schema']) expect(() => open({ [name]: '' })).toThrow(name);
    expect(() => open({ client: {} } as never)).toThrow('postgresStore needs a Pool');
    expect(() => open({ tabel: 'a' } as never)).toThrow('Did you mean "table"?');
  });

  describe('in a transaction of the user', () => {
    /** A client that is in a transaction. The table is there already. */
    async function begin(
      how = 'BEGIN',
    ): Promise<{ readonly client: pg.Client; readonly store: RecordStore }> {
      await set(open(), 'kept', 'yes');
      const client = await connect();
      await client.query(`CREATE TABLE IF NOT EXISTS ${schema}.users_${table} (id int)`);
      await client.query(how);
      await client.query(`INSERT INTO ${schema}.users_${table} VALUES (1)`);
      return { client, store: open({ client }) };
    }
    const countUsers = async () => (await pool.query(`SELECT FROM ${schema}.users_${table}`)).rowCount;

    test('its records are committed with it, and seen by nobody before', async () => {
      const { client, store } = await begin();
      const query = vi.spyOn(client, 'query');
      expect(await increment(store)).toBe(1);
      expect(await increment(store)).toBe(2);
      expect(await store.list({ prefix: 'c', limit: 1 })).toEqual([{ key: 'count', value: 2 }]);
      expect(await open().list({ prefix: 'c', limit: 1 })).toEqual([]);
      await client.query('COMMIT');
      // A sweep in the background would run into the queries of the user.
      expect(query.mock.calls.filter(([text]) => String(text).includes('DELETE'))).toEqual([]);
      expect(await read(open())).toBe(2);
      expect(await countUsers()).toBe(1);
    });

    test('it can go on after a change that throws, without its writes', async () => {
      const { client, store } = await begin();
      await increment(store);
      const failure = store.transact(['count'], (records) => {
        records.set('count', 100);
        throw new Error('no');
      });
      await expect(failure).rejects.toThrow('no');
      expect(await increment(store)).toBe(2);
      await client.query('COMMIT');
      expect(await read(open())).toBe(2);
      expect(await countUsers()).toBe(1);
    });

    test('its records are rolled back with it, also when BEGIN was not waited for', async () => {
      await set(open(), 'kept', 'yes');
      const client = await connect();
      const begun = client.query('BEGIN');
      await increment(open({ client }));
      await begun;
      await client.query('ROLLBACK');
      expect(await read(open())).toBeUndefined();
    });

    test('it can go on when the table is missing, which is not made in it', async () => {
      const { client } = await begin();
      const store = open({ client, table: 'missing' });
      for (const failing of [() => increment(store), () => store.list({ prefix: '', limit: 1 })])
        await expect(failing()).rejects.toMatchObject({
          code: 'store_failed',
          cause: { message: expect.stringContaining('does not exist') },
        });
      await client.query('COMMIT');
      expect(await countUsers()).toBe(1);
    });

    test('refuses one that does not see what was committed since it began', async () => {
      const { client, store } = await begin('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await expect(increment(store)).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining('READ COMMITTED'),
      });
      await client.query('COMMIT');
      expect(await countUsers()).toBe(1);
    });

    test('several stores over its client do not run into each other', async () => {
      const { client } = await begin();
      const stores = [open({ client }), open({ client }), open({ client })];
      await Promise.all(stores.flatMap((store) => Array.from({ length: 10 }, () => increment(store))));
      await client.query('COMMIT');
      expect(await read(open())).toBe(30);
    });

    test('it commits nothing once it was made to fail', async () => {
      const { client, store } = await begin();
      await increment(store);
      await userTransactionOf(store)?.fail();
      expect(await client.query('COMMIT')).toMatchObject({ command: 'ROLLBACK' });
      expect(await countUsers()).toBe(0);
    });

    test('refuses a client without one', async () => {
      const { client, store } = await begin();
      const committed = client.query('COMMIT');
      for (const call of [() => increment(store), () => store.list({ prefix: '', limit: 1 })])
        await expect(call()).rejects.toThrow('needs a client with an open transaction');
      await committed;
      expect(await read(open())).toBeUndefined();
    });
  });

  test('does not say that a change is made when another query has failed its transaction', async () => {
    const one = new pg.Pool({ connectionString: postgresUrl, max: 1 });
    onTestFinished(() => one.end());
    const store = open({ client: one });
    await increment(store);
    const client = await one.connect();
    client.release();
    const { query } = client;
    // Sound: it passes everything on.
    client.query = ((...args: [string]) => {
      if (args[0] === 'COMMIT') void Reflect.apply(query, client, ['SELECT 1 / 0']).catch(() => {});
      return Reflect.apply(query, client, args);
    }) as never;
    await expect(increment(store)).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('nothing was written'),
    });
    expect(await read(open())).toBe(1);
  });

  describe('the table', () => {
    test('once it is there, needs a role that may only read and write', async () => {
      await increment(open());
      const role = `${schema}_${table}`;
      await pool.query(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA ${schema} TO ${role};
        GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.${table} TO ${role}`);
      const client = new pg.Pool({ connectionString: postgresUrl, max: 1, options: `-c role=${role}` });
      onTestFinished(async () => {
        await client.end();
        await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      });
      const store = open({ client });
      await expect(client.query(`CREATE TABLE ${schema}.denied ()`)).rejects.toThrow('permission denied');
      expect(await increment(store)).toBe(2);
      await store.transact(['count'], (records) => records.delete('count'));
      expect(await store.list({ prefix: '', limit: 1 })).toEqual([]);
      await store.close();
    });

    test('has one lock for a key, named with and without its schema', async () => {
      const options = `-c search_path=${schema}`;
      const client = new pg.Pool({ connectionString: postgresUrl, max: 4, options });
      onTestFinished(() => client.end());
      const stores = [open(), postgresStore({ client, table })];
      await increment(open(), 'other');
      await Promise.all(stores.flatMap((store) => Array.from({ length: 20 }, () => increment(store))));
      expect(await read(open())).toBe(40);
    });

    test('is made once, by whoever comes first', async () => {
      const stores = Array.from({ length: 6 }, () => open());
      await Promise.all([...stores.map((store) => increment(store)), open().list({ prefix: '', limit: 1 })]);
      expect(await read(open())).toBe(6);
    });
  });

  test('sees what was committed while it waited, whatever the default isolation', async () => {
    const client = new pg.Pool({
      connectionString: postgresUrl,
      max: 4,
      options: `-c default_transaction_isolation=repeatable\\ read`,
    });
    onTestFinished(() => client.end());
    const stores = [open({ client }), open({ client })];
    for (let round = 0; round < 10; round++) {
      const keys = [`${round}/a`, `${round}/b`];
      // Each may take the last shift only while the other one is on duty, and both are at first: no record says no.
      await Promise.all(
        stores.map((store, index) =>
          store.transact(keys, (records) => {
            if (keys.every((key) => records.get(key) === undefined)) records.set(keys[index] ?? '', 'off');
          }),
        ),
      );
      expect(await open().list({ prefix: `${round}/`, limit: 2 })).toHaveLength(1);
    }
  });

  test('says that a change may have been written when the reply to COMMIT is lost', async () => {
    const { proxy, client } = await throughProxy();
    const store = open({ client });
    await increment(store);
    const { lost } = proxy.loseReplyTo(isCommit);
    await expect(increment(store)).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('may have been written'),
    });
    await lost;
    expect(await increment(store)).toBe(3);
  });

  test('says that nothing was written when the connection breaks before, and lives on', async () => {
    const { proxy, client } = await throughProxy();
    const store = open({ client });
    await increment(store);
    for (const part of ['pg_advisory_xact_lock', 'SELECT key', 'INSERT INTO']) {
      const { lost } = proxy.loseReplyTo((request) => request.includes(part));
      await expect(increment(store)).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining('nothing was written'),
      });
      await lost;
    }
    expect(await increment(store)).toBe(2);
  });

  test('commits nothing after its time limit, and gives the connection up', async () => {
    const { proxy, client } = await throughProxy(1);
    // Has the usual time limit: it makes the table and connects, perhaps on a busy machine.
    const patient = open({ client });
    await increment(patient);
    const store = open({ client, storeTimeoutMs: 1_000 });
    for (const match of [isLock, (request: string) => request.includes('INSERT INTO')]) {
      const { held, release } = proxy.hold(match);
      await expect(increment(store)).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining('nothing was written'),
      });
      await held;
      // Without waiting for an answer.
      expect(client.totalCount).toBe(0);
      release();
    }
    expect(await increment(patient)).toBe(2);
    expect(client.totalCount).toBe(1);
  });

  test('does not wait for a client of the pool for ever, and gives it back when it comes late', async () => {
    const one = new pg.Pool({ connectionString: postgresUrl, max: 1 });
    onTestFinished(() => one.end());
    const store = open({ client: one, storeTimeoutMs: 1_000 });
    const borrowed = await one.connect();
    await expect(increment(store)).rejects.toMatchObject({ code: 'store_failed' });
    borrowed.release();
    expect(await increment(store)).toBe(1);
    expect(one.idleCount).toBe(1);
  });

  test('uses no client that was given back in the middle of a transaction', async () => {
    const one = new pg.Pool({ connectionString: postgresUrl, max: 1 });
    onTestFinished(() => one.end());
    const store = open({ client: one });
    await increment(store);
    const borrowed = await one.connect();
    await borrowed.query('BEGIN');
    borrowed.release();
    await expect(increment(store)).rejects.toMatchObject({ code: 'store_failed' });
    expect(await increment(store)).toBe(2);
  });

  describe('a deadlock with a transaction of the user', () => {
    /** Its lock is taken before that of b. */
    const first = ['c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].find((key) => numberOf(key) < numberOf('b')) ?? '';

    /** The user's transaction has b and wants the first, a transaction of the pool has the first and wants b. */
    async function meet(victim: 'pool' | 'user') {
      await set(open(), 'a', '1');
      const timeout = (side: string) => `-c deadlock_timeout=${side === victim ? '1s' : '20s'}`;
      const client = await connect({ options: timeout('user') });
      const name = `deadlock ${victim}`;
      const other = new pg.Pool({
        ...{ connectionString: postgresUrl, max: 1, application_name: name },
        options: timeout('pool'),
      });
      onTestFinished(() => other.end());
      await client.query('BEGIN');
      const users = open({ client });
      await increment(users, 'b');
      let runs = 0;
      const pools = open({ client: other, storeTimeoutMs: 15_000 }).transact([first, 'b'], (records) => {
        runs++;
        records.set(first, Number(records.get('b') ?? 0) + 10);
      });
      const waiting = `SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND NOT granted AND application_name = '${name}'`;
      await expect.poll(async () => (await pool.query(waiting)).rowCount).toBeGreaterThanOrEqual(1);
      return { client, users, pools, runs: () => runs };
    }

    test('makes the pool begin again', async () => {
      const { client, users, pools, runs } = await meet('pool');
      expect(await increment(users, first)).toBe(1);
      await client.query('COMMIT');
      await pools;
      expect(runs()).toBe(1);
      expect(await read(open(), first)).toBe(11);
    });

    test('is told to the user, whose transaction can go on', async () => {
      const { client, users, pools } = await meet('user');
      await expect(increment(users, first)).rejects.toMatchObject({ code: 'store_conflict' });
      expect(await increment(users, 'b')).toBe(2);
      await client.query('COMMIT');
      await pools;
      expect(await read(open(), first)).toBe(12);
    });
  });

  test('shows no keys and values of records in its errors', async () => {
    await set(open(), 'a', '1');
    await pool.query(`ALTER TABLE ${schema}.${table} ADD CHECK (length(value) < 10)`);
    const connected = await connect();
    await connected.query('BEGIN');
    for (const client of [pool, connected]) {
      const error: unknown = await set(open({ client }), 'secret-key', 'secret-value').catch(
        (thrown) => thrown,
      );
      expect(error).toMatchObject({
        code: 'store_failed',
        cause: { code: '23514', message: expect.stringContaining('violates check constraint') },
      });
      expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/secret/);
      expect(await read(open({ client }), 'secret-key')).toBeUndefined();
    }
  });

  test('deletes expired records from the table, an hour after they expired', async () => {
    const hour = 3_600_000;
    const store = open();
    await store.transact(['old', 'recent', 'kept'], (records) => {
      records.set('old', '1', { expiresAt: Date.now() - hour - 1000 });
      records.set('recent', '1', { expiresAt: Date.now() - hour + 60_000 });
      records.set('kept', '1');
    });
    // It sweeps after its first change, and then once a second.
    await store.close();
    expect(await keysOnDisk()).toEqual(['kept', 'recent']);
  });

  test('deletes nothing that is still good for others in a process whose clock is far ahead', async () => {
    const day = 86_400_000;
    await set(open(), 'good', 'yes', Date.now() + day);
    const ahead = open({ now: () => Date.now() + 10 * day });
    expect(await read(ahead, 'good')).toBeUndefined();
    await increment(ahead);
    await ahead.close();
    expect(await keysOnDisk()).toEqual(['count', 'good']);
    expect(await read(open(), 'good')).toBe('yes');
  });

  it('keeps the process alive when a lent client is cut, also between its loan and the first listener', async () => {
    const own = new pg.Pool({ connectionString: postgresUrl, max: 1 });
    onTestFinished(() => own.end());
    const before = await own.connect();
    before.release();
    // Two stores add one listener.
    for (let store = 0; store < 2; store++) postgresStore({ client: own, schema, table });
    for (let loan = 0; loan < 2; loan++) {
      const client = await own.connect();
      expect(client.listenerCount('error')).toBe(1);
      expect(() => client.emit('error', new Error('cut'))).not.toThrow();
      client.release();
    }
    expect(own.listenerCount('acquire')).toBe(1);
  });
});
