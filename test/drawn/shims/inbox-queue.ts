/** `partner-exchange-sdk/inbox/queue`, which also writes down how a program makes its inbox. */
import { queueInbox as open, type QueueInboxOptions } from '../../../src/inbox/queue/index.ts';
import { registry } from './registry.ts';

export * from '../../../src/inbox/queue/index.ts';

export function queueInbox(options: QueueInboxOptions) {
  const inbox = open(options);
  registry.inboxes.set(inbox, { kind: 'queue', options });
  return inbox;
}
