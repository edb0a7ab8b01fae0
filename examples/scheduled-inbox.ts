/** For the author of functions without a process that stays: one invocation stores, a scheduled one handles. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storeInbox } from 'partner-exchange-sdk/inbox';
import { sqliteStore } from 'partner-exchange-sdk/store';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import { credentials, signedEvent } from './support/signed-events.ts';

const folder = mkdtempSync(join(tmpdir(), 'scheduled-inbox-'));
const handled: string[] = [];

/** What each invocation opens. In the cloud: redisStore or postgresStore, which all machines share. */
function open() {
  const store = sqliteStore({ path: join(folder, 'records.sqlite') });
  const inbox = storeInbox({ store, role: 'drain', retry: { firstDelayMs: 50 } });
  const webhooks = createWebhooks({ credentials, inbox }).on('event.buy.credited.crypto', (event) => {
    handled.push(event.partner_order_id);
  });
  return { store, inbox, webhooks };
}

/** The function behind your callback URL: it acknowledges once the delivery is stored. */
async function receive(request: Request): Promise<Response> {
  const { store, webhooks } = open();
  try {
    return await webhooks.fetch(request);
  } finally {
    await store.close();
  }
}

/** The function that a schedule calls, with less time than the platform gives it. */
async function everyMinute() {
  const { store, inbox } = open();
  try {
    return await inbox.drain({ timeLimitMs: 50_000 });
  } finally {
    await store.close();
  }
}

// The service posts an event, and repeats it.
const post = () =>
  new Request('https://partner.example/orders', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: signedEvent(),
  });
console.log('answers:', (await receive(post())).status, (await receive(post())).status);
console.log('handled so far:', handled.length);
console.log('drained:', await everyMinute());
console.log('drained again:', await everyMinute());
console.log('handled:', handled);
if (handled.length !== 1) process.exitCode = 1;

rmSync(folder, { recursive: true });
