import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { createClient, createClientPool } from 'redis';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { RecordStore } from '../../../src/store/record-store.ts';
import { type RedisStoreOptions, redisStore } from '../../../src/store/redis/redis-store.ts';
import { commitScript } from '../../../src/store/redis/scripts.ts';
import { refusal } from '../../support/refusal.ts';
import { startProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { increment, read, set } from '../counted.ts';
import { describeWith, redisUrl, run } from '../servers.ts';
import { removeKeys } from './clients.ts';

let redis: Redis;
let prefix = '';
let opened = 0;

function open(options: Partial<RedisStoreOptions> = {}): RecordStore {
  return redisStore({ client: redis, prefix, ...options });
}

const isCommit = (request: string) => request.includes(commitScript.sha);

/** An ioredis client behind a proxy. */
async function throughProxy(): Promise<{ readonly proxy: TcpProxy; readonly client: Redis }> {
  const { hostname, port, username, password, pathname } = new URL(redisUrl);
  if (hostname !== '127.0.0.1') throw new Error('The proxy wants a Redis of this machine.');
  const proxy = await startProxy(Number(port));
  const client = new Redis({
    port: proxy.port,
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    db: Number(pathname.slice(1)),
  });
  client.on('error', () => {});
  onTestFinished(async () => {
    client.disconnect();
    await proxy.close();
  });
  return { proxy, client };
}

describeWith('redis', 'redisStore', () => {
  beforeAll(() => {
    redis = new Redis(redisUrl);
  });
  afterAll(async () => {
    await redis.quit();
  });
  afterEach(() => removeKeys(redisUrl, [prefix]));
  // A part of its own for every test.
  const test = (name: string, define: () => Promise<void> | void, timeoutMs?: number) =>
    it(
      name,
      async () => {
        prefix = `${run}_redis_${opened++}`;
        await define();
      },
      timeoutMs,
    );

  test('refuses unsound options', () => {
    const refused = (options: object) => refusal(() => open(options as never));
    const invalid = 'ConfigurationError invalid_option';
    const half = [{ eval() {} }, { evalsha() {} }, { eval() {}, evalsha: 1 }, { eval() {}, evalSha: 1 }];
    for (const client of [undefined, null, {}, ...half]) expect(refused({ client })).toBe(invalid);
    for (const unsound of ['', 'a{b', 'a}', 'a b', 'é', 'x'.repeat(65), 1])
      expect(refused({ prefix: unsound })).toBe(invalid);
    expect(refused({ storeTimeoutMs: 0 })).toBe(invalid);
    expect(() => open({ prefix: '' })).toThrow('prefix');
    expect(() => open({ client: {} } as never)).toThrow('redisStore needs a client');
    expect(() => open({ prefx: 'a' } as never)).toThrow('Did you mean "prefix"?');
  });

  test('goes on when Redis has forgotten the scripts', async () => {
    const store = open();
    await increment(store);
    await redis.script('FLUSH');
    expect(await increment(store)).toBe(2);
    await redis.script('FLUSH');
    expect(await store.list({ prefix: '', limit: 1 })).toEqual([{ key: 'count', value: 2 }]);
  });

  test('keeps everything in four keys with one hash tag, below the key prefix of ioredis', async () => {
    const client = new Redis(redisUrl, { keyPrefix: `${prefix}-app:` });
    await increment(open({ client }));
    await set(open({ client }), 'a', 'b', Date.now() + 60_000);
    expect(await read(open({ client }))).toBe(1);
    expect(await read(open())).toBeUndefined();
    const keys = await redis.keys(`${prefix}-app:*`);
    expect(keys.toSorted()).toEqual(
      ['commits', 'expiries', 'keys', 'records'].map((name) => `${prefix}-app:{${prefix}}:${name}`),
    );
    await redis.del(keys);
    await client.quit();
  });

  test('is one store for clients of both kinds, also one that returns buffers', async () => {
    const { RESP_TYPES } = await import('redis');
    const connected = await createClient({ url: redisUrl })
      .on('error', () => {})
      .connect();
    const client = connected.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
    const pool = createClientPool({ url: redisUrl });
    await pool.on('error', () => {}).connect();
    const other = open({ client });
    const stores = [open(), other, open({ client: pool })];
    await Promise.all(Array.from({ length: 100 }, (_, index) => increment(stores[index % 3] ?? other)));
    await pool.close();
    await set(other, 'text', 'é 😀');
    expect(await read(open())).toBe(100);
    expect(await other.list({ prefix: '', limit: 5 })).toEqual([
      { key: 'count', value: 100 },
      { key: 'text', value: 'é 😀' },
    ]);
    await connected.close();
  });

  test('makes a change once that ioredis sends again, since the reply was lost', async () => {
    const { proxy, client } = await throughProxy();
    const store = open({ client });
    await increment(store);
    const { lost } = proxy.loseReplyTo(isCommit);
    const [count] = await Promise.all([increment(store), lost]);
    expect(count).toBe(2);
    expect(await read(open())).toBe(2);
  });

  test('makes it once also if others have changed the record before it came again', async () => {
    const { proxy, client } = await throughProxy();
    const store = open({ client });
    await increment(store);
    const { lost } = proxy.loseReplyTo(isCommit);
    const again = lost.then(async () => {
      const held = proxy.hold(isCommit);
      await held.held;
      await increment(open());
      held.release();
    });
    const [count] = await Promise.all([increment(store), again]);
    expect(count).toBe(2);
    expect(await read(open())).toBe(3);
  });

  test('says that a change may have been written when node-redis has lost the reply', async () => {
    const { proxy } = await throughProxy();
    const client = createClient({ socket: { host: '127.0.0.1', port: proxy.port } });
    await client.on('error', () => {}).connect();
    const store = open({ client });
    await increment(store);
    const { lost } = proxy.loseReplyTo(isCommit);
    const failure = increment(store);
    await expect(failure).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('may have been written'),
    });
    await lost;
    expect(await read(open())).toBe(2);
    client.destroy();
  });

  test('makes no change any more after its time limit', async () => {
    const { proxy, client } = await throughProxy();
    const store = open({ client, storeTimeoutMs: 1_000 });
    await increment(store);
    const { held, release } = proxy.hold(isCommit);
    const failure = increment(store);
    await expect(failure).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('may have been written'),
    });
    await held;
    // real time: the limit of the server begins with its answer to the read, which may take a while on a busy machine.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    release();
    // It comes after the change, on the same connection.
    expect(await read(store)).toBe(1);
    expect(await increment(store)).toBe(2);
  });

  test('gives up, and has written nothing, when others are always faster', async () => {
    const other = open();
    let attempts = 0;
    const client: RedisStoreOptions['client'] = {
      eval: (script: string, count: number, ...values: string[]) => redis.eval(script, count, ...values),
      async evalsha(sha: string, count: number, ...values: string[]) {
        if (sha === commitScript.sha) {
          attempts++;
          await increment(other);
        }
        return await redis.evalsha(sha, count, ...values);
      },
    };
    await expect(
      open({ client }).transact(['count', 'mine'], (records) =>
        records.set('mine', records.get('count') ?? 0),
      ),
    ).rejects.toMatchObject({ code: 'store_conflict' });
    expect(await read(other)).toBe(attempts);
    expect(await read(other, 'mine')).toBeUndefined();
  });

  test('shows no keys and values of records in its errors', async () => {
    await set(open(), 'secret-key', 'secret-value');
    await redis.set(`{${prefix}}:commits`, 'of a wrong type');
    const node = await createClient({ url: redisUrl })
      .on('error', () => {})
      .connect();
    for (const client of [redis, node]) {
      const error: unknown = await set(open({ client }), 'secret-key', 'secret-value-2').catch(
        (thrown) => thrown,
      );
      expect(error).toMatchObject({
        code: 'store_failed',
        cause: { message: expect.stringContaining('WRONGTYPE') },
      });
      expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/secret/);
    }
    await node.close();
  });

  test('deletes expired records from Redis, an hour after they expired', async () => {
    const hour = 3_600_000;
    const store = open();
    await store.transact(['old', 'recent', 'kept'], (records) => {
      records.set('old', 1, { expiresAt: Date.now() - hour - 1000 });
      records.set('recent', 1, { expiresAt: Date.now() - hour + 60_000 });
      records.set('kept', 1);
    });
    expect(await redis.hlen(`{${prefix}}:records`)).toBe(4);
    await increment(store);
    expect((await redis.hkeys(`{${prefix}}:records`)).toSorted()).toEqual([
      'count',
      'kept',
      'recent',
      'store id',
    ]);
    expect(await redis.zrange(`{${prefix}}:keys`, '0', '-1')).toEqual(['count', 'kept', 'recent']);
    expect(await redis.zrange(`{${prefix}}:expiries`, '0', '-1')).toEqual(['recent']);
  });

  test('deletes at most ten more expired records with a change than it writes', async () => {
    const store = open();
    const keys = Array.from({ length: 30 }, (_, index) => `old${index}`);
    await store.transact(keys, (records) => {
      for (const key of keys) records.set(key, 1, { expiresAt: 1 });
    });
    await increment(store);
    expect(await redis.zcard(`{${prefix}}:expiries`)).toBe(30 - 11);
  });

  test('leaves nothing of a record that was deleted', async () => {
    const store = open();
    await set(store, 'a', 1, Date.now() + 60_000);
    await set(store, 'b', 1);
    await store.transact(['a', 'b'], (records) => {
      for (const key of ['a', 'b']) records.delete(key);
    });
    expect(await redis.hkeys(`{${prefix}}:records`)).toEqual(['store id']);
    expect(await redis.exists(`{${prefix}}:keys`, `{${prefix}}:expiries`)).toBe(0);
  });

  test('lists a page that lies behind a thousand expired records', async () => {
    const store = open();
    const keys = Array.from({ length: 999 }, (_, index) => `b${index}`);
    await store.transact(keys, (records) => {
      for (const key of keys) records.set(key, 1, { expiresAt: Date.now() - 1 });
    });
    await store.transact(['a', 'c', 'd', 'e'], (records) => {
      for (const key of ['a', 'c', 'd', 'e']) records.set(key, 1);
    });
    const listed = await store.list({ prefix: '', limit: 3 });
    expect(listed.map(({ key }) => key)).toEqual(['a', 'c', 'd']);
  });

  test('begins a list after a key, and at its prefix if the key comes before', async () => {
    const store = open();
    await store.transact(['a', 'b', 'c', 'c1'], (records) => {
      for (const key of ['a', 'b', 'c', 'c1']) records.set(key, 1);
    });
    const list = async (prefix: string, after?: string) =>
      (await store.list({ prefix, after, limit: 9 })).map(({ key }) => key);
    expect(await list('', 'b')).toEqual(['c', 'c1']);
    expect(await list('c', 'a')).toEqual(['c', 'c1']);
    expect(await list('c', 'c')).toEqual(['c1']);
    expect(await list('c', 'c1')).toEqual([]);
  });

  test('deletes nothing that is still good for others in a process whose clock is far ahead', async () => {
    const day = 86_400_000;
    await set(open(), 'good', 'yes', Date.now() + day);
    const ahead = open({ now: () => Date.now() + 10 * day });
    expect(await read(ahead, 'good')).toBeUndefined();
    for (let index = 0; index < 5; index++) await increment(ahead);
    expect(await read(open(), 'good')).toBe('yes');
  });

  test('forgets the commits that cannot come again', async () => {
    const store = open({ storeTimeoutMs: 1_000 });
    for (let index = 0; index < 5; index++) await increment(store);
    expect(await redis.zcard(`{${prefix}}:commits`)).toBeGreaterThanOrEqual(1);
    // real time: a commit can come again until its limit is over.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await increment(store);
    expect(await redis.zcard(`{${prefix}}:commits`)).toBe(1);
  });
});
