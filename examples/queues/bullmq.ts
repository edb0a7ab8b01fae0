/**
 * A receiver whose events go through BullMQ (5 or 6), with duplicates dropped by PostgreSQL. Each delivery is one job. A
 * done job is removed with its body, and a dead one stays among the failed jobs of your dashboard, which can retry it.
 * BullMQ would give up a job whose worker died twice: `maxStalledCount` leaves that to the inbox.
 * Redis needs `appendonly yes`, `appendfsync always` and `maxmemory-policy noeviction`.
 */
import { createServer } from 'node:http';
import { type Job, Queue, UnrecoverableError, Worker } from 'bullmq';
import { readEnvironment } from 'partner-exchange-sdk';
import { effectKey } from 'partner-exchange-sdk/events';
import { type QueueMessage, queueInbox } from 'partner-exchange-sdk/inbox';
import { postgresStore } from 'partner-exchange-sdk/store';
import { closeServer, createWebhooks } from 'partner-exchange-sdk/webhooks';
import pg from 'pg';

const retryMs = 15_000; // eight attempts take longer than most outages
const timeLimitMs = 30_000;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const log = (error: Error) => console.error(error.message);
pool.on('error', log); // unheard, a lost connection would end the process
await pool.query('CREATE TABLE IF NOT EXISTS credited (effect text PRIMARY KEY, order_id text)');

const connection = { url: process.env.REDIS_URL ?? 'redis://localhost' };
const queue = new Queue<QueueMessage>('events', { connection });
queue.on('error', log);
const jobOptions = {
  attempts: 1_000_000_000, // the inbox counts
  backoff: { type: 'fixed', delay: retryMs },
  removeOnComplete: true,
};

const { deployment, credentials } = readEnvironment();
const inbox = queueInbox({
  store: postgresStore({ client: pool }),
  timeLimitMs,
  send: (message) => queue.add('event', message, { ...jobOptions, jobId: message.digest }),
});
const webhooks = createWebhooks({ deployment, credentials, inbox });
webhooks.on('event.buy.credited.crypto', async (event) => {
  const effect = effectKey(event);
  if (effect === undefined) throw new Error('the event names no order');
  const insert = 'INSERT INTO credited VALUES ($1, $2) ON CONFLICT DO NOTHING';
  await pool.query(insert, [effect, event.partner_order_id]);
});

async function handle({ data }: Job<QueueMessage>): Promise<void> {
  const result = await inbox.handleMessage(data);
  if (result === 'retry') throw new Error('tried again later');
  if (result === 'dead') throw new UnrecoverableError('for a person');
}

const worker = new Worker('events', handle, { connection, concurrency: 10, maxStalledCount: 1_000_000_000 });
worker.on('error', log);
const server = createServer(webhooks.node).listen(3000);
process.once('SIGTERM', async () => {
  await closeServer(server, { inbox });
  process.exit(); // jobs that are still active are found as stalled
});
