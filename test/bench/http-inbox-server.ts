/** Webhooks with one of the inboxes, in a process of its own: started by http-inboxes.ts. */
import { createServer } from 'node:http';
import type { ManagedInbox } from '../../src/inbox/inbox.ts';
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
    case 'bullmq': {
      const { bullmqInbox }: typeof import('../../src/inbox/bullmq/index.ts') = await import(
        builtUrl('./inbox/bullmq')
      );
      const { Queue, Worker } = await import('bullmq');
      const connection = { host: '127.0.0.1', port: place.redisPort };
      return bullmqInbox({
        queue: new Queue('inbox', { connection }),
        createWorker: (name, processor, options) =>
          new Worker(name, processor, {
            ...options,
            connection: { ...connection, maxRetriesPerRequest: null },
          }),
        concurrency: 50,
      });
    }
    case 'pg-boss': {
      const { pgBossInbox }: typeof import('../../src/inbox/pg-boss/index.ts') = await import(
        builtUrl('./inbox/pg-boss')
      );
      const { PgBoss } = await import('pg-boss');
      const boss = new PgBoss({ connectionString: place.postgresUrl, max: 10 });
      await boss.start();
      return pgBossInbox({ boss, concurrency: 50, pollMs: 50 });
    }
  }
}
