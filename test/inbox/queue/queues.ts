import { DiscardPolicy, jetstream, jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { connect as connectRabbitmq } from 'amqplib';
import type { QueueMessage } from '../../../src/inbox/queue/queue-message.ts';

export type QueueName = 'rabbitmq' | 'nats';

/** A queue that keeps what it is sent, for the benchmark. The programs of the guide consume, too: see programs.ts. */
export interface TestQueue {
  send(message: QueueMessage): Promise<unknown>;
  close(): Promise<void>;
}

export async function openQueue(name: QueueName, url: string, queue: string): Promise<TestQueue> {
  return name === 'rabbitmq' ? await openRabbitmq(url, queue) : await openJetStream(url, queue);
}

async function openRabbitmq(url: string, queue: string): Promise<TestQueue> {
  const connection = await connectRabbitmq(url);
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue(queue, { durable: true });
  return {
    async send(message) {
      channel.sendToQueue(queue, Buffer.from(JSON.stringify(message)), { persistent: true });
      await channel.waitForConfirms();
    },
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
  return {
    // JetStream drops a message that is published again within its window.
    send: (message) => client.publish(queue, JSON.stringify(message), { msgID: message.digest }),
    close: () => connection.close(),
  };
}
