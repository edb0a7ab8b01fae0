/**
 * For workerd: an inbox over a Cloudflare Queue, with a store that drops duplicates, shared by all requests and batches.
 * Each message is in the queue twice.
 */
import { env } from 'cloudflare:workers';
import { type QueueMessage, queueInbox } from 'partner-exchange-sdk/inbox';
import { memoryStore } from 'partner-exchange-sdk/store';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import type recipe from '../../../examples/queues/cloudflare.ts';
import { credentials } from './fixtures.ts';

// Sound: check-queues.mjs gives the Worker these bindings.
const { EVENTS, ACCOUNTS, RESULTS } = env as {
  readonly EVENTS: { send(message: QueueMessage): Promise<unknown> };
  readonly ACCOUNTS: { fetch(url: string): Promise<Response> };
  readonly RESULTS: { fetch(url: string): Promise<Response> };
};

const inbox = queueInbox({
  send: (message) => Promise.all([EVENTS.send(message), EVENTS.send(message)]),
  store: memoryStore(),
});
const webhooks = createWebhooks({ credentials, inbox, onError: () => {} }).onAny(
  async ({ partner_order_id }) => {
    const { ok } = await ACCOUNTS.fetch(`http://accounts/${partner_order_id}`);
    if (!ok) throw new Error('down');
  },
);

export default {
  fetch: webhooks.fetch,
  async queue({ messages }: Parameters<typeof recipe.queue>[0]): Promise<void> {
    for (const message of messages) {
      const result = await inbox.handleMessage(message.body);
      await RESULTS.fetch(`http://results/${result}`);
      if (result === 'retry') message.retry();
      else message.ack();
    }
  },
};
