import { randomBytes } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { bullmqInbox } from '../../src/inbox/bullmq/bullmq-inbox.ts';
import type { ManagedInbox } from '../../src/inbox/inbox.ts';
import { eventually, order, quick, receiver } from './contract.ts';
import { engines, redisAddress } from './engines.ts';
import { pgBossTests } from './pg-boss/pg-boss-for-tests.ts';

const redisHere = (await engines.find(({ name }) => name === 'bullmq')?.absent()) === undefined;
const postgresHere = (await engines.find(({ name }) => name === 'pg-boss')?.absent()) === undefined;

const count = 500;

/** Has so many deliveries handled. */
async function fill(inbox: ManagedInbox): Promise<void> {
  const { webhooks } = receiver(inbox);
  for (let index = 0; index < count; index++) await webhooks.receive(order(`order ${index}`));
  await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 0 }));
}

/** What a store keeps of each delivery that it has handled; that it is forgotten in time is tested elsewhere. */
describe('the memory of what was handled', () => {
  it.runIf(redisHere)('takes Redis less than 400 bytes each', async () => {
    const place = { connection: redisAddress, prefix: `pex_growth_${randomBytes(5).toString('hex')}` };
    const queue = new Queue('inbox', place);
    const inbox = bullmqInbox({
      queue,
      createWorker: (name, processor, options) => new Worker(name, processor, { ...options, ...place }),
      ...quick,
    });
    await fill(inbox);
    const redis = new Redis(redisAddress);
    // BullMQ keeps so many of its own events, and no more, in a stream.
    const keys = (await redis.keys(`${place.prefix}:*`)).filter((key) => !key.endsWith(':events'));
    const sizes = await Promise.all(keys.map((key) => redis.memory('USAGE', key)));
    const each = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0) / count;
    console.log(`BullMQ: ${Math.round(each)} bytes for each remembered delivery`);
    expect(each).toBeLessThan(400);
    await inbox.stop();
    await queue.obliterate({ force: true });
    await queue.close();
    await redis.quit();
  });

  describe.runIf(postgresHere)('with pg-boss', () => {
    const test = pgBossTests();

    test('takes PostgreSQL less than 4 kB each', async (given) => {
      const inbox = given.open({ concurrency: 50 });
      const sizeOf = async () => {
        const relations = `SELECT oid FROM pg_class WHERE relnamespace = '${given.schema}'::regnamespace AND relkind = 'r'`;
        const sql = `SELECT sum(pg_total_relation_size(oid)) AS size FROM (${relations}) AS relation`;
        const { rows } = await given.boss.getDb().executeSql(sql);
        return Number(Object(rows[0]).size);
      };
      await inbox.counts();
      const before = await sizeOf();
      await fill(inbox);
      // What was updated since leaves holes, which autovacuum gives to the next.
      const each = ((await sizeOf()) - before) / count;
      console.log(`pg-boss: ${Math.round(each)} bytes for each remembered delivery`);
      expect(each).toBeLessThan(4_000);
    });
  });
});
