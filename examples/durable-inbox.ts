/** For the author of a webhook handler who must lose nothing: store, acknowledge, handle; survive a crash. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteInbox } from 'partner-exchange-sdk/inbox/sqlite';
import { signBody } from 'partner-exchange-sdk/signature';
import { createWebhooks, type DeliveryReport } from 'partner-exchange-sdk/webhooks';

const folder = mkdtempSync(join(tmpdir(), 'durable-inbox-'));
const keys = ['sk_merchant_examplesk_partner_example'];

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
    retryFirstMs: 50,
  });
  const webhooks = createWebhooks({ keys, inbox, onError: () => {}, onDelivery: count }).on(
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
const fates = new Map<string, number>();
function count({ stage, fate }: DeliveryReport): void {
  fates.set(`${stage}: ${fate}`, (fates.get(`${stage}: ${fate}`) ?? 0) + 1);
}

// What the service would post.
const { text: body } = signBody(
  {
    event_name: 'event.buy.credited.crypto',
    partner_order_id: 'A-1003',
    platform_order_ref: 'ref_1',
    fiat_amount_to_pay: 20000,
    crypto_amount_to_receive: 13,
    exchange_rate: 1538.46,
    pair: 'NGN/USDT',
    fiat_currency: 'NGN',
    buyer_crypto_address: 'TQ5NMqJjhpQGK7YJbESKfVXGnLkYbLZ1pA',
    chain: 'usdt-trc20',
    fiat_payment_status: 'PAID',
    crypto_payment_status: 'PAID',
    payer_into_account: { account_name: 'A', account_number: '1', bank_name: 'B' },
    payment_link: null,
    crypto_txn_hash: '0x9f2c4d',
    partner_callback_url: 'https://partner.example/orders',
    transactional_kyc: { email: '', phone: '', first_name: '', last_name: '' },
  },
  { key: keys[0] ?? '' },
);

const first = start();
console.log('first delivery:', (await first.webhooks.receive(body)).kind);
console.log('repeated:', (await first.webhooks.receive(body)).kind);
while ((await first.inbox.counts()).dead === 0) await pause(20);
const [letter] = await first.inbox.deadLetters();
console.log('given up after', letter?.attempts, 'attempts:', letter?.reason);
console.log('stopped:', await first.inbox.stop());

// A new process finds everything where the old one left it.
accountsAreDown = false;
const second = start();
if (letter !== undefined) await second.inbox.replay(letter.digest);
while ((await second.inbox.counts()).open > 0) await pause(20);
console.log('repeated after the restart:', (await second.webhooks.receive(body)).kind);
await second.inbox.stop();
console.log('credits:', app.prepare('SELECT credits FROM balance').get()?.credits, Object.fromEntries(fates));

app.close();
rmSync(folder, { recursive: true });

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
