import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { createWebhooks } from '../../../src/webhooks/create-webhooks.ts';
import { credentials } from '../../webhooks/deliveries.ts';

/** A process whose handler never ends. It says which order it has: then it is killed. */
const [path = ''] = process.argv.slice(2);
// Do not outlive the parent.
process.on('disconnect', () => process.exit());
const inbox = sqliteInbox({ path, timeLimitMs: 600_000, pollMs: 20 });
createWebhooks({ credentials, inbox, onError: () => {} }).onAny((event) => {
  process.send?.(event.partner_order_id);
  return new Promise(() => {});
});
