import {
  AckPolicy,
  DiscardPolicy,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { connect as connectNats, nanos } from '@nats-io/transport-node';
import { connect as connectRabbitmq } from 'amqplib';
import type { QueueInbox } from '../../../src/inbox/queue/queue-inbox.ts';
import type { QueueMessage } from '../../../src/inbox/queue/queue-message.ts';

export type QueueName = 'rabbitmq' | 'nats';

/** A queue of a server, in short. The programs of the guide survive outages of the broker too: see programs.ts. */
export interface TestQueue {
  send(message: unknown): Promise<unknown>;
  /** Handles messages until the queue is closed. */
  consume(inbox: QueueInbox): Promise<void>;
  /** What is left of dead messages. */
  dead(): Promise<number>;
  close(): Promise<void>;
}

export async function openQueue(name: QueueName, url: string, queue: string): Promise<TestQueue> {
  return name === 'rabbitmq' ? await openRabbitmq(url, queue) : await openJetStream(url, queue);
}

/** Milliseconds before a message is delivered again. */
const retryMs = 20;

async function openRabbitmq(url: string, queue: string): Promise<TestQueue> {
  const connection = await connectRabbitmq(url);
  connection.on('error', () => {});
  const channel = await connection.createConfirmChannel();
  channel.on('error', () => {});
  await channel.assertQueue(`${queue}.dead`, { durable: true });
  await channel.assertQueue(queue, {
    durable: true,
    deadLetterExchange: '',
    deadLetterRoutingKey: `${queue}.dead`,
  });
  await channel.prefetch(10);
  return {
    async send(message) {
      channel.sendToQueue(queue, Buffer.from(textOf(message)), { persistent: true });
      await channel.waitForConfirms();
    },
    async consume(inbox) {
      await channel.consume(queue, async (message) => {
        if (message === null) return;
        const result = await inbox.handleMessage(message.content);
        // real time: the delay of the queue.
        if (result === 'retry') await new Promise((resolve) => setTimeout(resolve, retryMs));
        if (result === 'done') channel.ack(message);
        else channel.nack(message, false, result === 'retry');
      });
    },
    dead: async () => (await channel.checkQueue(`${queue}.dead`)).messageCount,
    close: () => connection.close(),
  };
}

async function openJetStream(url: string, queue: string): Promise<TestQueue> {
  const connection = await connectNats({ servers: url });
  const manager = await jetstreamManager(connection);
  const client = jetstream(connection);
  await manager.streams.add({
    name: queue,
    subjects: [queue],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
  });
  await manager.consumers.add(queue, {
    durable_name: 'inbox',
    ack_policy: AckPolicy.Explicit,
    // No max_ack_pending: nats-server 2.9, when killed, goes on counting messages that were acknowledged and dropped.
    ack_wait: nanos(2_000),
  });
  let dead = 0;
  let stopConsuming = async (): Promise<void> => {};
  return {
    async send(message) {
      const { digest } = Object(message) as QueueMessage;
      // JetStream drops what is published again within its window.
      await client.publish(queue, textOf(message), digest === undefined ? {} : { msgID: digest });
    },
    async consume(inbox) {
      const consumer = await client.consumers.get(queue, 'inbox');
      const messages = await consumer.consume({ max_messages: 10 });
      stopConsuming = async () => {
        await messages.close();
      };
      void (async () => {
        for await (const message of messages) {
          void inbox.handleMessage(message.data).then((result) => {
            if (result === 'done') message.ack();
            else if (result === 'retry') message.nak(retryMs);
            else {
              dead++;
              message.term('dead');
            }
          });
        }
      })();
    },
    dead: async () => dead,
    async close() {
      await stopConsuming();
      await connection.close();
    },
  };
}

/** Text as it is: a test sends what is no message too. */
function textOf(message: unknown): string {
  return typeof message === 'string' ? message : JSON.stringify(message);
}
