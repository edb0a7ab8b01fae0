/** For the author of a webhook handler who must lose nothing: store, acknowledge, handle; survive a crash. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { effectKey } from 'partner-exchange-sdk/events';
import { sqliteInbox } from 'partner-exchange-sdk/inbox';
import { eventBody } from 'partner-exchange-sdk/testing';
import { createWebhooks, type DeliveryReport } from 'partner-exchange-sdk/webhooks';
import { credentials, signedEvent } from './support/signed-events.ts';

const folder = mkdtempSync(join(tmpdir(), 'durable-inbox-'));

// Your own database. The key of the effect and the effect are written in one transaction: a second run changes nothing.
const app = new DatabaseSync(join(folder, 'app.sqlite'));
app.exec(`
  CREATE TABLE applied (effect TEXT PRIMARY KEY);
  CREATE TABLE balance (id INTEGER PRIMARY KEY, credits INTEGER NOT NULL);
  INSERT INTO balance VALUES (1, 0);
`);
function creditOnce(effect: string | undefined): void {
  // A dead letter, for a person to look at.
  if (effect === undefined) throw new Error('the event names no order');
  app.exec('BEGIN IMMEDIATE');
  const { changes } = app.prepare('INSERT OR IGNORE INTO applied VALUES (?)').run(effect);
  if (changes === 1) app.exec('UPDATE balance SET credits = credits + 1');
  app.exec('COMMIT');
}

let accountsAreDown = true;

/** What each process of yours runs at its start. */
function start() {
  const inbox = sqliteInbox({
    path: join(folder, 'inbox.sqlite'),
    maxAttempts: 2,
    retry: { firstDelayMs: 50 },
  });
  const webhooks = createWebhooks({ credentials, inbox, onError: () => {}, onDelivery: count }).on(
    'event.buy.credited.crypto',
    (event) => {
      if (accountsAreDown) throw new Error('the accounts are down');
      // Not the digest of the delivery: two texts can report one credit.
      creditOnce(effectKey(event));
      console.log('handled', event.partner_order_id);
    },
  );
  return { inbox, webhooks };
}

// Counters for your metrics: no personal data in a report.
const outcomes = new Map<string, number>();
function count({ stage, outcome }: DeliveryReport): void {
  outcomes.set(`${stage}: ${outcome}`, (outcomes.get(`${stage}: ${outcome}`) ?? 0) + 1);
}

// What the service would post: one credit, and the same credit in another text.
const body = signedEvent();
const otherText = signedEvent(
  eventBody('event.buy.credited.crypto', { partner_order_id: 'A-1001', crypto_payment_status: 'Completed' }),
);

const first = start();
console.log('first delivery:', (await first.webhooks.receive(body)).kind);
console.log('repeated:', (await first.webhooks.receive(body)).kind);
while ((await first.inbox.counts()).dead === 0) await pause(20);
const [dead] = await first.inbox.deadLetters();
console.log('given up after', dead?.attempts, 'attempts:', dead?.reason);
console.log('stopped:', await first.inbox.stop());

// A new process finds everything where the old one left it.
accountsAreDown = false;
const second = start();
if (dead !== undefined) await second.inbox.replay(dead.digest);
console.log('repeated after the restart:', (await second.webhooks.receive(body)).kind);
console.log('the same credit in another text:', (await second.webhooks.receive(otherText)).kind);
while ((await second.inbox.counts()).open > 0) await pause(20);
await second.inbox.stop();
const { credits } = { credits: undefined, ...app.prepare('SELECT credits FROM balance').get() };
console.log('credits:', credits, Object.fromEntries(outcomes));
if (credits !== 1) process.exitCode = 1;

app.close();
rmSync(folder, { recursive: true });

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
