/** Azure Functions v4: `webhooks.fetch` takes its request, with HTTP streams or without. */
import { app, HttpRequest } from '@azure/functions';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import { credentials, signedEvent } from '../support/signed-events.ts';

const webhooks = createWebhooks({ credentials }).on('event.buy.credited.crypto', (event) =>
  console.log('credited', event.partner_order_id, event.crypto_txn_hash),
);

// Anonymous: the service has no key of your function, and the signature is checked.
app.http('orders', { methods: ['POST'], authLevel: 'anonymous', handler: webhooks.fetch });

// What Azure does with it, so that this file runs by itself.
const request = new HttpRequest({
  method: 'POST',
  url: 'https://partner.azurewebsites.net/api/orders',
  headers: { 'content-type': 'application/json' },
  body: { string: signedEvent() },
});
const response = await webhooks.fetch(request);
console.log('answered', response.status, await response.text());
if (response.status !== 200) process.exitCode = 1;
