/**
 * A receiver whose events go through pg-boss (12.30 or later). Each delivery is one job. pg-boss keeps a completed job for
 * a week: this program deletes a done one, since its body is personal data. A dead one is in `events.dead`, until
 * `boss.redrive('events.dead')` has it tried again. Leave `supervise` on in one process: it finds the jobs of a worker
 * that died.
 */
import { createServer } from 'node:http';
import { readEnvironment } from 'partner-exchange-sdk';
import { effectKey } from 'partner-exchange-sdk/events';
import { type QueueMessage, queueInbox } from 'partner-exchange-sdk/inbox';
import { postgresStore } from 'partner-exchange-sdk/store';
import { closeServer, createWebhooks } from 'partner-exchange-sdk/webhooks';
import pg from 'pg';
import { type Job, type JobResult, PgBoss } from 'pg-boss';

const timeLimitMs = 30_000;
const connectionString = process.env.DATABASE_URL ?? 'postgres://localhost';
const pool = new pg.Pool({ connectionString });
const log = (error: Error) => console.error(error.message);
pool.on('error', log); // unheard, a lost connection would end the process
await pool.query('CREATE TABLE IF NOT EXISTS credited (effect text PRIMARY KEY, order_id text)');

const boss = new PgBoss({ connectionString });
boss.on('error', log);
await boss.start();
const retentionSeconds = 10 * 365 * 86_400; // what waits, and what is dead, is not dropped after two weeks
await boss.createQueue('events.dead', { retentionSeconds });
await boss.createQueue('events', {
  deadLetter: 'events.dead',
  retryLimit: 1_000_000_000, // the inbox counts
  retryDelay: 15, // seconds: eight attempts take longer than most outages
  heartbeatSeconds: 30,
  retentionSeconds,
});

const { deployment, credentials } = readEnvironment();
const inbox = queueInbox({
  store: postgresStore({ client: pool }),
  timeLimitMs,
  send: (message) => boss.send('events', message),
});
const webhooks = createWebhooks({ deployment, credentials, inbox });
webhooks.on('event.buy.credited.crypto', async (event) => {
  const effect = effectKey(event);
  if (effect === undefined) throw new Error('the event names no order');
  const insert = 'INSERT INTO credited VALUES ($1, $2) ON CONFLICT DO NOTHING';
  await pool.query(insert, [effect, event.partner_order_id]);
});

const statuses = { done: 'completed', retry: 'failed', dead: 'deadletter' } as const;

async function handle(jobs: Job<QueueMessage>[]): Promise<JobResult[]> {
  const results: JobResult[] = [];
  for (const { id, data } of jobs) {
    const result = await inbox.handleMessage(data);
    if (result === 'done') await boss.deleteJob('events', id);
    results.push({ id, status: statuses[result] });
  }
  return results;
}

await boss.work('events', { localConcurrency: 10, perJobResults: true }, handle);
const server = createServer(webhooks.node).listen(3000);
process.once('SIGTERM', async () => {
  await closeServer(server, { inbox });
  process.exit(); // jobs that are still active miss their heartbeat, and come again
});
