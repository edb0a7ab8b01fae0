import { type QueueInboxOptions, queueInbox } from '../../../src/inbox/queue/queue-inbox.ts';
import type { QueueMessage } from '../../../src/inbox/queue/queue-message.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import { quietWebhooks } from '../../webhooks/deliveries.ts';

/** An inbox whose queue is a list, and what its handlers were called with. */
export function open(options: Partial<QueueInboxOptions> = {}, behave: (id: string) => unknown = () => {}) {
  const messages: QueueMessage[] = [];
  const calls: string[] = [];
  const reports: unknown[][] = [];
  const inbox = queueInbox({ send: async (message) => messages.push(message), ...options });
  const webhooks = quietWebhooks({
    inbox,
    onDelivery: ({ stage, outcome, attempt }) => stage === 'handle' && reports.push([outcome, attempt]),
  }).on('event.buy.init', async (event) => {
    calls.push(event.partner_order_id);
    await behave(event.partner_order_id);
  });
  return { inbox, webhooks, messages, calls, reports };
}

/** Two processes on one store and one clock. */
export function guarded(options: Partial<QueueInboxOptions> = {}, behave?: (id: string) => unknown) {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const store = memoryStore({ now });
  const openAnother = (other = behave, others: Partial<QueueInboxOptions> = {}) =>
    open({ store, now, ...options, ...others }, other);
  return { clock, store, openAnother, ...openAnother() };
}
