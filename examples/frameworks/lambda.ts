/** AWS Lambda, behind API Gateway, a function URL or a load balancer: this is the module of the function. */
import { createWebhooks, lambdaHandler } from 'partner-exchange-sdk/webhooks';
import { credentials, signedEvent } from '../support/signed-events.ts';

const webhooks = createWebhooks({ credentials }).on('event.buy.credited.crypto', (event) =>
  console.log('credited', event.partner_order_id, event.crypto_txn_hash),
);

export const handler = lambdaHandler(webhooks);

// What Lambda does with it, so that this file runs by itself: the gateway encodes what it does not take for text.
const answer = await handler({
  requestContext: { http: { method: 'POST' } },
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(signedEvent()).toString('base64'),
  isBase64Encoded: true,
});
console.log('answered', answer.statusCode, answer.body);
if (answer.statusCode !== 200) process.exitCode = 1;
