import { type Job, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { bullmqInbox } from '../../../src/inbox/bullmq/bullmq-inbox.ts';
import { pgBossInbox } from '../../../src/inbox/pg-boss/pg-boss-inbox.ts';
import { dumpRedis } from '../dumps.ts';
import { receiverOn, requestOf, until } from '../subjects.ts';

const fails = (id: string) => {
  if (id !== 'handled') throw new Error(`no such order: ${id}`);
};
const once = { maxAttempts: 1, retry: { firstDelayMs: 1_000, maxDelayMs: 1_000 }, timeLimitMs: 2_000 };

/**
 * All keys of a queue with one delivery in each state, named after its order: `handled`, `dead`, `dead-alone` (it lost
 * a lock before), `failed` (once) and `waiting`.
 */
export async function bullmqEntries(url: string) {
  const connection = { url };
  const [prefix, name] = ['formats', 'inbox'];
  const queue = new Queue(name, { connection, prefix });
  const open = (options: object) =>
    bullmqInbox({
      queue,
      createWorker: (queueName, processor, workerOptions) =>
        new Worker(queueName, processor, { ...workerOptions, connection, prefix }),
      ...options,
    });

  const storing = open({ role: 'receiver' });
  const { webhooks } = receiverOn({ inbox: storing });
  await webhooks.fetch(requestOf('dead-alone'));
  // As a process that dies while it handles: the lock is never renewed.
  const taken = Promise.withResolvers<Job>();
  const dying = new Worker(
    name,
    async (job) => {
      taken.resolve(job);
      await new Promise(() => {});
    },
    {
      ...{ connection, prefix, lockDuration: 1_000, stalledInterval: 1_000 },
    },
  );
  await taken.promise;
  await dying.close(true);

  const handling = open(once);
  const handler = receiverOn({ inbox: handling }, fails);
  await until(() => handler.reports.some(({ outcome }) => outcome === 'dead'));
  for (const id of ['handled', 'dead']) await webhooks.fetch(requestOf(id));
  await until(() => handler.reports.filter(({ stage }) => stage === 'handle').length === 3);
  await handling.stop();

  const retrying = open({ ...once, maxAttempts: 3, retry: { firstDelayMs: 600_000, maxDelayMs: 600_000 } });
  const second = receiverOn({ inbox: retrying }, fails);
  await webhooks.fetch(requestOf('failed'));
  await until(() => second.reports.some(({ outcome }) => outcome === 'failed'));
  await retrying.stop();
  await webhooks.fetch(requestOf('waiting'));

  const redis = new Redis(url);
  const entries = await dumpRedis(redis, `${prefix}:${name}:`);
  await Promise.all([redis.quit(), queue.close()]);
  return entries;
}

/** The rows of a queue and of its dead letters, in the same states. */
export async function pgBossRows(url: string) {
  const schema = 'formats';
  const boss = new PgBoss({
    connectionString: url,
    ...{ schema, superviseIntervalSeconds: 1, monitorIntervalSeconds: 1, schedule: false },
  });
  boss.on('error', () => {});
  await boss.start();
  const open = (options: object) => pgBossInbox({ boss, pollMs: 50, ...options });

  const storing = open({ role: 'receiver', timeLimitMs: 1_000 });
  const { webhooks } = receiverOn({ inbox: storing });
  await webhooks.fetch(requestOf('dead-alone'));
  // As a process that dies while it handles.
  await boss.fetch('partner_inbox');

  const handling = open({ ...once, timeLimitMs: 1_000 });
  const handler = receiverOn({ inbox: handling }, fails);
  await until(() => handler.reports.some(({ outcome }) => outcome === 'dead'));
  for (const id of ['handled', 'dead']) await handler.webhooks.fetch(requestOf(id));
  await until(() => handler.reports.filter(({ stage }) => stage === 'handle').length === 3);
  await handling.stop();

  const retrying = open({ maxAttempts: 3, retry: { firstDelayMs: 600_000, maxDelayMs: 600_000 } });
  const second = receiverOn({ inbox: retrying }, fails);
  await second.webhooks.fetch(requestOf('failed'));
  await until(() => second.reports.some(({ outcome }) => outcome === 'failed'));
  await retrying.stop();
  const { webhooks: last } = receiverOn({ inbox: open({ role: 'receiver' }) });
  await last.fetch(requestOf('waiting'));

  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(
    `SELECT to_jsonb(job) AS row FROM ${schema}.job AS job WHERE name LIKE 'partner_inbox%' ORDER BY created_on, id`,
  );
  await client.end();
  await boss.stop({ graceful: false });
  return rows.map(({ row }) => row);
}
