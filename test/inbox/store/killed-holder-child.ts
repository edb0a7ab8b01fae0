import pg from 'pg';
import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { storeInbox } from '../../../src/inbox/store/store-inbox.ts';
import { postgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { createWebhooks } from '../../../src/webhooks/create-webhooks.ts';
import { credentials } from '../../webhooks/deliveries.ts';

/** A process whose handler never ends. It says which order it has: then it is killed. */
const [engine = '', address = '', table = ''] = process.argv.slice(2);
// Do not outlive the parent.
process.on('disconnect', () => process.exit());
const handling = { timeLimitMs: 600_000, pollMs: 20 };
const inbox =
  engine === 'sqlite'
    ? sqliteInbox({ ...handling, path: address })
    : storeInbox({
        ...handling,
        store: postgresStore({ client: new pg.Pool({ connectionString: address }), table }),
      });
createWebhooks({ credentials, inbox, onError: () => {} }).onAny((event) => {
  process.send?.(event.partner_order_id);
  return new Promise(() => {});
});
