/** `partner-exchange-sdk/inbox/store`, which also writes down how a program makes its inbox. */
import { storeInbox as open, type StoreInboxOptions } from '../../../src/inbox/store/index.ts';
import { registry } from './registry.ts';

export * from '../../../src/inbox/store/index.ts';

export function storeInbox(options: StoreInboxOptions) {
  const inbox = open(options);
  registry.inboxes.set(inbox, { kind: 'store', options });
  return inbox;
}
