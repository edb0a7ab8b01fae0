/** `partner-exchange-sdk/inbox/sqlite`, in the folder of the tests. */
import { isAbsolute, join } from 'node:path';
import { sqliteInbox as open, type SqliteInboxOptions } from '../../../src/inbox/sqlite/index.ts';
import { registry } from './registry.ts';

export * from '../../../src/inbox/sqlite/index.ts';

const program = decodeURIComponent(new URL(import.meta.url).searchParams.get('program') ?? '');

export function sqliteInbox(options: SqliteInboxOptions) {
  const { path } = options;
  const file = isAbsolute(path) ? path : join(registry.folder, `${program.replaceAll(/\W/g, '-')}-${path}`);
  const inbox = open({ ...options, path: file });
  registry.inboxes.set(inbox, { kind: 'sqlite', options });
  registry.servers.push({ close: () => void inbox.stop({ timeoutMs: 0 }).catch(() => {}) });
  return inbox;
}
