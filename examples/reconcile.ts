/** For the operator: a service that loses an event and credits another address, and what the daily comparison finds. */
import { ExchangeClient } from 'partner-exchange-sdk';
import { createOrderJournal } from 'partner-exchange-sdk/orders';
import { createSandbox } from 'partner-exchange-sdk/sandbox';
import { memoryStore } from 'partner-exchange-sdk/store';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';

let receive: (request: Request) => Promise<Response>;
const sandbox = createSandbox({
  whitelist: 'off',
  fetch: async (input, init) => await receive(new Request(input, init)),
});
const { deployment, fetch } = sandbox;
await new ExchangeClient({ deployment, fetch }).onboard({ partner_code: 'acme', email: 'dev@acme.example' });
const credentials = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
const exchange = new ExchangeClient({ deployment, fetch, credentials });
const journal = createOrderJournal({
  exchange,
  store: memoryStore(),
  onMismatch: ({ partner_order_id }, { name }) => console.log(`${partner_order_id}: ${name} is not about it`),
});
const webhooks = createWebhooks({ credentials, deployment, onError: () => {} }).onAny(journal.observe);
receive = webhooks.fetch;

async function order(partner_order_id: string): Promise<void> {
  const { error } = await journal.create({
    partner_order_id,
    fiat_amount: '15000.50',
    fiat_currency: 'NGN',
    chain: 'usdt-trc20',
    buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
    partner_callback_url: 'https://partner.example/orders',
  });
  if (error !== undefined) throw error;
  await sandbox.idle();
}

await order('A-1');
await sandbox.play('A-1', 'happy');
sandbox.faults.plan('event.buy.init', 'drop');
await order('A-2');
await order('A-3');
sandbox.faults.plan('event.buy.credited.crypto', 'credits_elsewhere');
await sandbox.play('A-3', 'happy');

// From the export of its dashboard: an async iterable, such as the records of a CSV parser, does as well.
const statement = ['A-1', 'A-2', 'A-3', 'B-9'].map((id) => ({ id, amount: '15,000.50' }));
const findings: string[] = [];
for await (const { kind, partner_order_id, advice } of journal.reconcile({
  since: 0,
  olderThanMs: 0,
  statement,
})) {
  findings.push(`${kind} ${partner_order_id}`);
  console.log(`${kind} ${partner_order_id}: ${advice}`);
}

const expected = ['mismatch A-3', 'never_reported A-2', 'only_in_statement B-9', 'stuck A-3'];
if (findings.sort().join() !== expected.join()) throw new Error(`Found ${findings.join()}.`);
