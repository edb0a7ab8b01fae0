/**
 * A receiver whose events go through RabbitMQ (amqplib 2.3 or later, which connects again after a loss), with duplicates
 * dropped by PostgreSQL. RabbitMQ confirms a message that no queue takes, and drops it: `mandatory` returns it first. It
 * requeues without a pause, so this program holds a message for a while; failing messages take up the prefetch meanwhile.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChannelModel, type ConfirmChannel, type ConsumeMessage, connect } from 'amqplib';
import { readEnvironment } from 'partner-exchange-sdk';
import { effectKey } from 'partner-exchange-sdk/events';
import { queueInbox } from 'partner-exchange-sdk/inbox';
import { postgresStore } from 'partner-exchange-sdk/store';
import { closeServer, createWebhooks } from 'partner-exchange-sdk/webhooks';
import pg from 'pg';

const retryMs = 15_000; // eight attempts take longer than most outages
const timeLimitMs = 30_000;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const log = (error: Error) => console.error(error.message);
pool.on('error', log); // unheard, a lost connection would end the process
await pool.query('CREATE TABLE IF NOT EXISTS credited (effect text PRIMARY KEY, order_id text)');

let channel: ConfirmChannel | undefined;
const returned = new Set<string>();

const { deployment, credentials } = readEnvironment();
const inbox = queueInbox({
  store: postgresStore({ client: pool }),
  timeLimitMs,
  send: (message) => publish('events', Buffer.from(JSON.stringify(message))),
});
const webhooks = createWebhooks({ deployment, credentials, inbox });
webhooks.on('event.buy.credited.crypto', async (event) => {
  const effect = effectKey(event);
  if (effect === undefined) throw new Error('the event names no order');
  const insert = 'INSERT INTO credited VALUES ($1, $2) ON CONFLICT DO NOTHING';
  await pool.query(insert, [effect, event.partner_order_id]);
});

function publish(queue: string, content: Buffer): Promise<void> {
  const messageId = randomUUID();
  const options = { persistent: true, mandatory: true, messageId };
  return new Promise((resolve, reject) => {
    if (channel === undefined) throw new Error('RabbitMQ is not connected');
    channel.sendToQueue(queue, content, options, (error) => {
      if (error) reject(error);
      else if (returned.delete(messageId)) reject(new Error(`there is no queue ${queue}`));
      else resolve();
    });
  });
}

/** Called after each connect. */
async function setup(model: ChannelModel): Promise<void> {
  model.on('error', log); // of this connection, until it is set up
  const opened = await model.createConfirmChannel();
  opened.on('error', log);
  opened.on('return', ({ properties }) => returned.add(properties.messageId));
  await opened.prefetch(10);
  await consume(opened);
  channel = opened;
}

async function consume(opened: ConfirmChannel): Promise<void> {
  await opened.assertQueue('events', { durable: true });
  await opened.consume('events', (message) => {
    const work = message === null ? consume(opened) : handle(opened, message); // null: the queue was deleted
    // Without a connection RabbitMQ delivers the message again.
    work.catch(log);
  });
}

async function handle(opened: ConfirmChannel, message: ConsumeMessage): Promise<void> {
  const result = await inbox.handleMessage(message.content);
  const isSettled = result === 'done' || (result === 'dead' && (await setAside(opened, message)));
  if (isSettled) return opened.ack(message);
  await sleep(retryMs);
  opened.nack(message);
}

/** Published before the message is acknowledged: RabbitMQ's own dead lettering drops what no queue takes. */
async function setAside(opened: ConfirmChannel, { content }: ConsumeMessage): Promise<boolean> {
  await opened.assertQueue('events.dead', { durable: true });
  return await publish('events.dead', content).then(
    () => true,
    () => false,
  );
}

const recovery = { setup, maxDelay: 5_000 };
const connection = await connect(process.env.AMQP_URL ?? 'amqp://localhost', { recovery });
connection.on('error', log);
const server = createServer(webhooks.node).listen(3000);
process.once('SIGTERM', async () => {
  await closeServer(server, { inbox });
  process.exit(); // messages without an answer come again
});
