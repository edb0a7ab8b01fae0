/** For the author of a program that has a queue already: one message in, one message out. */
import { type MessageResult, type QueueMessage, queueInbox } from 'partner-exchange-sdk/inbox';
import { memoryStore } from 'partner-exchange-sdk/store';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import { credentials, signedEvent } from './support/signed-events.ts';

// In place of your queue: RabbitMQ, SQS, Pub/Sub, NATS, Cloudflare Queues.
const queue: string[] = [];
const setAside: string[] = [];

const inbox = queueInbox({
  send: async (message: QueueMessage) => queue.push(JSON.stringify(message)),
  // Drops duplicates. Yours is one that all processes share: redisStore or postgresStore.
  store: memoryStore(),
});

const handled: string[] = [];
let accountsAreDown = true;
const webhooks = createWebhooks({ credentials, inbox, onError: () => {} }).on(
  'event.buy.credited.crypto',
  (event) => {
    if (accountsAreDown) throw new Error('the accounts are down');
    handled.push(event.partner_order_id);
  },
);

/** Your consumer: it does with each message what the inbox says. */
async function consume(): Promise<MessageResult[]> {
  const results: MessageResult[] = [];
  for (const message of queue.splice(0)) {
    const result = await inbox.handleMessage(message);
    if (result === 'retry') queue.push(message);
    if (result === 'dead') setAside.push(message);
    results.push(result);
  }
  return results;
}

// The service posts an event and repeats it; another program writes to the queue.
console.log('first delivery:', (await webhooks.receive(signedEvent())).kind);
console.log('repeated:', (await webhooks.receive(signedEvent())).kind);
queue.push('not ours');

console.log('consumed:', await consume());
accountsAreDown = false;
console.log('consumed:', await consume());
console.log('handled:', handled, 'set aside:', setAside.length);
if (handled.length !== 1 || setAside.length !== 1) process.exitCode = 1;
await inbox.stop();
