/** Webhooks with the SQLite inbox or without one, in a process of its own: started by inbox-sqlite.ts. */
import { createServer } from 'node:http';
import { listeningPort } from '../support/listening.ts';
import { builtUrl } from './built-entries.ts';
import { sampleKey } from './sample-event.ts';

/** What it has done so far. */
export interface InboxUsage {
  readonly handled: number;
  readonly cpuMicros: number;
}

type Webhooks = typeof import('../../src/webhooks/index.ts');
type SqliteInbox = typeof import('../../src/inbox/index.ts');

const { createWebhooks }: Webhooks = await import(builtUrl('./webhooks'));
const { sqliteInbox }: SqliteInbox = await import(builtUrl('./inbox'));
const path = process.argv[2];

let handled = 0;
const inbox = path === undefined ? {} : { inbox: sqliteInbox({ path, concurrency: 50 }) };
const webhooks = createWebhooks({ keys: [sampleKey], ...inbox }).onAny(() => {
  handled++;
});
const server = createServer(webhooks.node);
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ handled, cpuMicros: user + system } satisfies InboxUsage);
});
process.on('disconnect', () => process.exit());
process.send?.(await listeningPort(server));
