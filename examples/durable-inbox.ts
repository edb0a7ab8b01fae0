/** For the author of a webhook handler who must lose nothing: store, acknowledge, handle; survive a crash. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteInbox } from 'partner-exchange-sdk/inbox/sqlite';
import { createWebhooks, type DeliveryReport } from 'partner-exchange-sdk/webhooks';
import { credentials, signedEvent } from './support/signed-events.ts';

const folder = mkdtempSync(join(tmpdir(), 'durable-inbox-'));

// Your own database. The digest and the effect are written in one transaction: a second run changes nothing.
const app = new DatabaseSync(join(folder, 'app.sqlite'));
app.exec(`
  CREATE TABLE handled (digest TEXT PRIMARY KEY);
  CREATE TABLE balance (id INTEGER PRIMARY KEY, credits INTEGER NOT NULL);
  INSERT INTO balance VALUES (1, 0);
`);
function creditOnce(digest: string): void {
  app.exec('BEGIN IMMEDIATE');
  const { changes } = app.prepare('INSERT OR IGNORE INTO handled VALUES (?)').run(digest);
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
    (event, { digest }) => {
      if (accountsAreDown) throw new Error('the accounts are down');
      creditOnce(digest);
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

// What the service would post.
const body = signedEvent();

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
while ((await second.inbox.counts()).open > 0) await pause(20);
console.log('repeated after the restart:', (await second.webhooks.receive(body)).kind);
await second.inbox.stop();
const { credits } = { credits: undefined, ...app.prepare('SELECT credits FROM balance').get() };
console.log('credits:', credits, Object.fromEntries(outcomes));
if (credits !== 1) process.exitCode = 1;

app.close();
rmSync(folder, { recursive: true });

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
