/** For the author of a webhook handler: mount the receiver on node:http and act on each event once. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ExchangeClient } from 'partner-exchange-sdk';
import { createSandbox } from 'partner-exchange-sdk/sandbox';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';

const sandbox = createSandbox({ whitelist: 'off' });
const service = await sandbox.listen();
const { deployment } = service;
await new ExchangeClient({ deployment }).onboard({ partner_code: 'acme', email: 'dev@acme.example' });
const credentials = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');

const webhooks = createWebhooks({ credentials, deployment })
  .on('event.buy.received.fiat_kyc_error', (event) => {
    if (event.kyc_error_type === 'NO_KYC') console.log('ask the buyer to do KYC at', event.default_kyc_url);
    else console.log('paid from the account of somebody else:', event.sender_name);
  })
  .on('event.buy.credited.crypto', (event, { decimal }) => {
    // The exact literal, as the service wrote it: parsing may have rounded the number.
    console.log('credited', decimal('crypto_amount_to_receive'), 'in', event.crypto_txn_hash);
  })
  // Before the handler of the name, for every event. One that cannot be read reaches neither, and is answered 500.
  .onAny((event) => console.log('event', event.event_name, event.partner_order_id));

const server = createServer((request, response) => void webhooks.node(request, response));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
// AddressInfo: it listens on a port, not on a pipe.
const { port } = server.address() as AddressInfo;
const callbackUrl = `http://127.0.0.1:${port}/orders`;
console.log('listening at', callbackUrl);

await new ExchangeClient({ deployment, credentials }).createOrder({
  partner_order_id: 'A-1002',
  fiat_amount: '20000',
  fiat_currency: 'NGN',
  chain: 'usdt-trc20',
  buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  partner_callback_url: callbackUrl,
});
await sandbox.idle();
for (const step of ['no_kyc', 'third_party_payment', 'fiat_received', 'credited'] as const) {
  await sandbox.advance('A-1002', step);
}

server.close();
await service.close();
