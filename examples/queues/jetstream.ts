/**
 * A receiver whose events go through NATS JetStream (@nats-io/transport-node and @nats-io/jetstream 3). Ten loops take one
 * message each: a message that a client prefetches is delivered again when it waits there for longer than `ack_wait`. The
 * digest as the message id drops repetitions of one text within the window of the stream. `max_ack_pending` keeps its
 * default: a nats-server 2.9 that was killed counts some acknowledged messages as pending, and a low limit then stops
 * delivery.
 */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AckPolicy,
  type Consumer,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
} from '@nats-io/jetstream';
import { connect, nanos } from '@nats-io/transport-node';
import { readEnvironment } from 'partner-exchange-sdk';
import { effectKey } from 'partner-exchange-sdk/events';
import { queueInbox } from 'partner-exchange-sdk/inbox';
import { postgresStore } from 'partner-exchange-sdk/store';
import { closeServer, createWebhooks } from 'partner-exchange-sdk/webhooks';
import pg from 'pg';

const timeLimitMs = 30_000;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
pool.on('error', (error) => console.error(error.message)); // unheard, a lost connection would end the process
await pool.query('CREATE TABLE IF NOT EXISTS credited (effect text PRIMARY KEY, order_id text)');
const connection = await connect({ servers: process.env.NATS_URL ?? 'localhost', maxReconnectAttempts: -1 });
const client = jetstream(connection);

const { deployment, credentials } = readEnvironment();
const inbox = queueInbox({
  store: postgresStore({ client: pool }),
  timeLimitMs,
  send: (message) => client.publish('events', JSON.stringify(message), { msgID: message.digest }),
});
const webhooks = createWebhooks({ deployment, credentials, inbox });
webhooks.on('event.buy.credited.crypto', async (event) => {
  const effect = effectKey(event);
  if (effect === undefined) throw new Error('the event names no order');
  const insert = 'INSERT INTO credited VALUES ($1, $2) ON CONFLICT DO NOTHING';
  await pool.query(insert, [effect, event.partner_order_id]);
});

/** Makes what is missing: somebody may have deleted it. */
async function openConsumer(): Promise<Consumer> {
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: 'events', subjects: ['events'], retention: RetentionPolicy.Workqueue });
  await manager.streams.add({ name: 'events-dead', subjects: ['events.dead'] });
  const ack_wait = nanos(2 * timeLimitMs); // longer than a message takes, with its store
  await manager.consumers.add('events', { durable_name: 'inbox', ack_policy: AckPolicy.Explicit, ack_wait });
  return await client.consumers.get('events', 'inbox');
}

async function consume(): Promise<never> {
  for (;;) {
    try {
      const consumer = await openConsumer();
      const next = () => consumer.next({ expires: 5_000 }); // so a consumer that was deleted is noticed soon
      for (let message = await next(); message !== null; message = await next()) await handle(message);
    } catch (error) {
      console.error(error);
      await sleep(1_000);
    }
  }
}

async function handle(message: JsMsg): Promise<void> {
  const result = await inbox.handleMessage(message.data);
  // Kept before the message is dropped. If that fails, it comes again after ack_wait.
  if (result === 'dead') await client.publish('events.dead', message.data);
  if (result !== 'retry') message.ack();
  else message.nak(Math.min(1_000 * 2 ** (message.info.deliveryCount - 1), 60_000));
}

for (let count = 0; count < 10; count++) void consume();
const server = createServer(webhooks.node).listen(3000);
process.once('SIGTERM', async () => {
  await closeServer(server, { inbox });
  process.exit(); // messages without an answer come again
});
