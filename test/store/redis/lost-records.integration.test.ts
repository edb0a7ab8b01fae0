import type { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { createOrderJournal } from '../../../src/orders/order-journal.ts';
import type { RecordStore } from '../../../src/store/record-store.ts';
import type { IoredisClient } from '../../../src/store/redis/redis-client.ts';
import { redisStore } from '../../../src/store/redis/redis-store.ts';
import { commitScript } from '../../../src/store/redis/scripts.ts';
import { exchangeOf, fakeService, order } from '../../orders/service.ts';
import { startOwnRedis } from '../../support/own-server.ts';
import { missingForRedis } from '../../support/private-server.ts';
import { increment, read } from '../counted.ts';
import { connectTo } from './clients.ts';

const list = (store: RecordStore) => store.list({ prefix: '', limit: 10 });
const lost = { name: 'StoreError', code: 'store_lost' };

async function refusesAll(store: RecordStore): Promise<void> {
  await expect(increment(store)).rejects.toMatchObject(lost);
  await expect(read(store)).rejects.toMatchObject(lost);
  await expect(list(store)).rejects.toMatchObject(lost);
}

/** A client that can be led to another server. */
function switching(first: Redis): IoredisClient & { to: Redis } {
  return {
    to: first,
    eval(script: string, count: number, ...values: string[]) {
      return this.to.eval(script, count, ...values);
    },
    evalsha(sha: string, count: number, ...values: string[]) {
      return this.to.evalsha(sha, count, ...values);
    },
  };
}

describe.skipIf(missingForRedis() !== undefined)('redisStore, when everything is gone', () => {
  it('sends no order again that was accepted, after FLUSHALL', async () => {
    const client = connectTo((await startOwnRedis()).port);
    const service = fakeService();
    const journal = createOrderJournal({ exchange: exchangeOf(service), store: redisStore({ client }) });
    await journal.create(order);
    await client.flushall();
    await expect(journal.create(order)).rejects.toMatchObject(lost);
    await expect(journal.unsettled()).rejects.toMatchObject(lost);
    expect(service.requests).toEqual([order.partner_order_id]);
  });

  it.each(['increment', 'read', 'list'] as const)(
    'has noticed it also if it only did %s before',
    async (use) => {
      const client = connectTo((await startOwnRedis()).port);
      await increment(redisStore({ client }));
      const store = redisStore({ client });
      await { increment, read, list }[use](store);
      await client.flushall();
      await refusesAll(store);
      expect(await client.dbsize()).toBe(0);
    },
  );

  it('goes on refusing, also when others have begun anew, until its own process is started again', async () => {
    const client = connectTo((await startOwnRedis()).port);
    const store = redisStore({ client, prefix: 'shop' });
    await increment(store);
    await client.flushall();
    await refusesAll(store);
    expect(await increment(redisStore({ client, prefix: 'shop' }))).toBe(1);
    await refusesAll(store);
    expect(await increment(redisStore({ client, prefix: 'shop' }))).toBe(2);
  });

  it('notices that an empty server has taken over, and goes on when the right one is back', async () => {
    const [first, empty] = [connectTo((await startOwnRedis()).port), connectTo((await startOwnRedis()).port)];
    const client = switching(first);
    const store = redisStore({ client });
    expect(await increment(store)).toBe(1);
    client.to = empty;
    await refusesAll(store);
    expect(await empty.dbsize()).toBe(0);
    client.to = first;
    expect(await increment(store)).toBe(2);
  });

  it('writes nothing when it happens between reading and writing', async () => {
    const redis = connectTo((await startOwnRedis()).port);
    const client = switching(redis);
    const store = redisStore({
      client: {
        eval: client.eval.bind(client),
        async evalsha(sha: string, count: number, ...values: string[]) {
          if (sha === commitScript.sha) await redis.flushall();
          return await redis.evalsha(sha, count, ...values);
        },
      },
    });
    await expect(increment(store)).rejects.toMatchObject(lost);
    expect(await redis.dbsize()).toBe(0);
  });

  it('notices that Redis has evicted the keys that hold the records', async () => {
    const client = connectTo((await startOwnRedis()).port);
    const store = redisStore({ client });
    await increment(store);
    await client.del('{partner-exchange}:records', '{partner-exchange}:keys');
    await refusesAll(store);
  });

  it('does not take a store for lost whose records were all deleted', async () => {
    const client = connectTo((await startOwnRedis()).port);
    const store = redisStore({ client });
    await increment(store);
    await store.transact(['count'], (records) => records.delete('count'));
    expect(await list(store)).toEqual([]);
    expect(await increment(store)).toBe(1);
    expect(await increment(redisStore({ client }))).toBe(2);
  });
});
