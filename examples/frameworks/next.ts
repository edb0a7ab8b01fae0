/**
 * Next.js: this is app/orders/route.ts. Next.js itself answers other methods with 405.
 *
 * Leave the runtime at `nodejs`, its default: the signature needs node:crypto.
 */
import { deliver, signedDelivery } from 'partner-exchange-sdk/testing';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import { credentials, credited } from '../support/signed-events.ts';

const webhooks = createWebhooks({ credentials }).on('event.buy.credited.crypto', (event) =>
  console.log('credited', event.partner_order_id, event.crypto_txn_hash),
);

export async function POST(request: Request): Promise<Response> {
  return await webhooks.fetch(request);
}

// What Next.js does with it, so that this file runs by itself.
const response = await deliver(POST, signedDelivery(credited, { credentials }));
console.log('answered', response.status, await response.text());
if (response.status !== 200) process.exitCode = 1;
