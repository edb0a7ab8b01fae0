/** For the author of a platform: receive the events of 10,000 partners, each at a callback path of its own. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventBody, signedDelivery } from 'partner-exchange-sdk/testing';
import { createWebhooks, type PartnerCredentials } from 'partner-exchange-sdk/webhooks';

/** In a real platform a table, read with a cache in front of it. */
const partners = new Map<string, PartnerCredentials>(
  Array.from({ length: 10_000 }, (_, index) => [`P-${index}`, credentialsOf(`P-${index}`)]),
);

const webhooks = createWebhooks({
  // The path is not verified. It only says whose keys are tried, so a forged delivery costs one HMAC like any other.
  credentials: ({ url = '' }) => partners.get(/\/orders\/([\w-]+)(?:\?|$)/.exec(url)?.[1] ?? ''),
}).onAny((event, { key }) =>
  console.log(event.event_name, event.partner_order_id, 'signed by', key.partnerId),
);

const server = createServer(webhooks.node);
server.listen(0, '127.0.0.1');
await once(server, 'listening');
// AddressInfo: it listens on a port, not on a pipe.
const { port } = server.address() as AddressInfo;

const event = eventBody('event.buy.credited.crypto', { partner_order_id: 'A-1001' });
const statuses = [await post('P-7', signedBy('P-7'))];
// The same order number of another partner is another delivery.
statuses.push(await post('P-9999', signedBy('P-9999')));
// Signed by one partner, posted to the address of another: 401.
statuses.push(await post('P-7', signedBy('P-8')));
// An address without a partner: 401.
statuses.push(await post('P-10000', signedBy('P-7')));
// Forged: 401.
statuses.push(await post('P-7', signedBy('P-7').replace('A-1001', 'A-1002')));
assert.deepEqual(statuses, [200, 200, 401, 401, 401]);
server.close();

async function post(partner: string, body: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/orders/${partner}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  console.log(`/orders/${partner}:`, response.status, await response.text());
  return response.status;
}

function signedBy(partner: string): string {
  return signedDelivery(event, { credentials: credentialsOf(partner) }).body;
}

function credentialsOf(partner: string): PartnerCredentials {
  return {
    partnerPublicKey: `pk_partner_${partner}`,
    partnerSecretKey: `sk_partner_${partner}`,
    merchantSecretKey: `sk_merchant_${partner}`,
    // Names the partner to the handler, and keeps the deliveries of partners apart.
    partnerId: partner,
  };
}
