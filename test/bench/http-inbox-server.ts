/** Webhooks with one of the inboxes, in a process of its own: started by http-inboxes.ts. */
import { createServer } from 'node:http';
import type { ManagedInbox } from '../../src/inbox/inbox.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { listeningPort } from '../support/listening.ts';
import { builtUrl } from './built-entries.ts';
import type { InboxKind, InboxPlace } from './http-inboxes.ts';
import { sampleKey } from './sample-event.ts';

const { createWebhooks }: typeof import('../../src/webhooks/index.ts') = await import(builtUrl('./webhooks'));
// Sound: its parent gives both.
const kind = process.argv[2] as InboxKind;
const place = JSON.parse(process.argv[3] ?? '{}') as InboxPlace;

let handled = 0;
const webhooks = createWebhooks({ keys: [sampleKey], inbox: await openInbox() }).onAny(() => {
  handled++;
});
const server = createServer(webhooks.node);
process.on('message', () => process.send?.(handled));
process.on('disconnect', () => process.exit());
process.send?.(await listeningPort(server));

async function openInbox(): Promise<ManagedInbox> {
  switch (kind) {
    case 'memory': {
      const { memoryInbox }: typeof import('../../src/inbox/index.ts') = await import(builtUrl('./inbox'));
      return memoryInbox();
    }
    case 'sqlite': {
      const { sqliteInbox }: typeof import('../../src/inbox/index.ts') = await import(builtUrl('./inbox'));
      return sqliteInbox({ path: `${place.folder}/inbox.sqlite`, concurrency: 50 });
    }
    case 'redis': {
      const { Redis } = await import('ioredis');
      return await openStoreInbox(({ redisStore }) => redisStore({ client: new Redis(place.redisPort) }));
    }
    case 'postgres': {
      const { default: pg } = await import('pg');
      const client = new pg.Pool({ connectionString: place.postgresUrl });
      return await openStoreInbox(({ postgresStore }) => postgresStore({ client }));
    }
  }
}

async function openStoreInbox(
  openStore: (stores: typeof import('../../src/store/index.ts')) => RecordStore,
): Promise<ManagedInbox> {
  const { storeInbox }: typeof import('../../src/inbox/index.ts') = await import(builtUrl('./inbox'));
  const stores: typeof import('../../src/store/index.ts') = await import(builtUrl('./store'));
  return storeInbox({ store: openStore(stores), concurrency: 50 });
}
