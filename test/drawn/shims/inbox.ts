/** `partner-exchange-sdk/inbox`, which also writes down how a program makes its inbox, and keeps files in the folder of the tests. */
import { isAbsolute, join } from 'node:path';
import {
  queueInbox as makeQueueInbox,
  sqliteInbox as makeSqliteInbox,
  storeInbox as makeStoreInbox,
  type QueueInboxOptions,
  type SqliteInboxOptions,
  type StoreInboxOptions,
} from '../../../src/inbox/index.ts';
import { registry } from './registry.ts';

export * from '../../../src/inbox/index.ts';

const program = decodeURIComponent(new URL(import.meta.url).searchParams.get('program') ?? '');

export function queueInbox(options: QueueInboxOptions) {
  const inbox = makeQueueInbox(options);
  registry.inboxes.set(inbox, { kind: 'queue', options });
  return inbox;
}

export function storeInbox(options: StoreInboxOptions) {
  const inbox = makeStoreInbox(options);
  registry.inboxes.set(inbox, { kind: 'store', options });
  return inbox;
}

export function sqliteInbox(options: SqliteInboxOptions) {
  const { path } = options;
  const file = isAbsolute(path) ? path : join(registry.folder, `${program.replaceAll(/\W/g, '-')}-${path}`);
  const inbox = makeSqliteInbox({ ...options, path: file });
  registry.inboxes.set(inbox, { kind: 'sqlite', options });
  registry.servers.push({ close: () => void inbox.stop({ timeoutMs: 0 }).catch(() => {}) });
  return inbox;
}
