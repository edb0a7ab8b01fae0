/**
 * Next.js: this is app/orders/route.ts. Next.js itself answers other methods with 405.
 *
 * Leave the runtime at `nodejs`, its default: the signature needs node:crypto.
 */
import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import { credentials, signedEvent } from '../support/signed-events.ts';

const webhooks = createWebhooks({ credentials }).on('event.buy.credited.crypto', (event) =>
  console.log('credited', event.partner_order_id, event.crypto_txn_hash),
);

export async function POST(request: Request): Promise<Response> {
  return await webhooks.fetch(request);
}

// What Next.js does with it, so that this file runs by itself.
const headers = { 'content-type': 'application/json' };
const url = 'https://partner.example/orders';
const response = await POST(new Request(url, { method: 'POST', headers, body: signedEvent() }));
console.log('answered', response.status, await response.text());
if (response.status !== 200) process.exitCode = 1;
