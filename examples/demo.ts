/**
 * The SDK's main job, end to end, over real HTTP on loopback ports: a partner onboards with the embedded sandbox,
 * creates orders, receives signed events, rotates its keys, sends a one-time code, and learns a service with other
 * habits. `npm run demo` runs it.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type BuyOrder,
  defineDeployment,
  ExchangeClient,
  isRequestError,
  MessengerClient,
  type PartnerCredentials,
} from 'partner-exchange-sdk';
import { learn } from 'partner-exchange-sdk/diagnostics';
import { createSandbox, type SandboxCredentials } from 'partner-exchange-sdk/sandbox';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';

const identity = { partner_code: 'acme', email: 'dev@acme.example' };

const sandbox = createSandbox();
const service = await sandbox.listen();
const { deployment } = service;
say('The service (embedded sandbox)', service.url);

// 1. Onboard: the keys come by a one-time link in an e-mail.
await new ExchangeClient({ deployment }).onboard(identity);
const credentials = await openNewestLink();
say('Onboarded, keys read from the one-time link', `partner ID ${credentials.partnerId}`);
assert.equal((await fetch(newestLink())).status, 410, 'the link must work only once');
say('The link works only once', 'second use answered 410');

// 2. Whitelist: orders are refused from an address the service does not know.
const exchange = new ExchangeClient({ deployment, credentials });
assert.equal(await statusOf(exchange.createOrder(order('A-0', 'http://127.0.0.1:9/'))), 403);
say('Order before whitelisting', 'refused with 403');
await exchange.whitelistIp();
say('This IP whitelisted', sandbox.whitelistedIps.join(', '));

// 3. The partner's own server: verifies, narrows and handles order events.
let generations: PartnerCredentials[] = [credentials];
const received: string[] = [];
let webhooks = receiver();
const partner = createServer((request, response) => void webhooks.node(request, response)).listen(
  0,
  '127.0.0.1',
);
await once(partner, 'listening');
// AddressInfo: it listens on a port, not on a pipe.
const callback = `http://127.0.0.1:${(partner.address() as AddressInfo).port}/orders`;
say('The partner listens', callback);

// 4. An order that goes well: init, fiat, credited.
await exchange.createOrder(order('A-1', callback));
await sandbox.idle();
await sandbox.advance('A-1', 'fiat_received');
await sandbox.advance('A-1', 'credited');
assert.deepEqual(take(), [
  'event.buy.init A-1 to pay 15000.50 NGN',
  'event.buy.received.fiat A-1',
  'event.buy.credited.crypto A-1 hash set',
]);

// 5. An order whose buyer has not done KYC, refunded in the end.
await exchange.createOrder(order('A-2', callback));
await sandbox.idle();
await sandbox.advance('A-2', 'no_kyc');
await sandbox.advance('A-2', 'refunded');
assert.deepEqual(take(), [
  'event.buy.init A-2 to pay 15000.50 NGN',
  'event.buy.received.fiat_kyc_error A-2 NO_KYC',
  'buy.event.close A-2 refunded 15000.50',
]);

// 6. A repetition is acknowledged and not handled again; a forgery is refused.
const genuine = sandbox.deliveries.find(({ name }) => name === 'event.buy.credited.crypto');
assert.ok(genuine);
assert.equal((await sandbox.redeliver(genuine.id)).status, 200);
assert.deepEqual(take(), []);
say('The same event again', 'answered 200, not handled twice');
say('A forged event is sent next', 'its receiver warns the operator once, here:');
const forged = genuine.body.replace('"A-1"', '"A-9"');
const answer = await fetch(callback, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: forged,
});
assert.equal(answer.status, 401);
assert.deepEqual(take(), []);
say('A forged event', `answered 401: ${await answer.text()}`);

// 7. Rotate the keys: the old ones stop working, events are verified with either generation.
await exchange.regenerateKeys(identity);
const renewed = await openNewestLink();
assert.notEqual(renewed.partnerSecretKey, credentials.partnerSecretKey);
generations = [renewed, credentials];
webhooks = receiver();
say('Keys regenerated', 'new ones read from the reset link');
assert.equal(await statusOf(exchange.createOrder(order('A-3', callback))), 401);
say('An order with the old keys', 'refused with 401');
await new ExchangeClient({ deployment, credentials: renewed }).createOrder(order('A-3', callback));
await sandbox.idle();
assert.deepEqual(take(), ['event.buy.init A-3 to pay 15000.50 NGN']);

// 8. The messenger: a key for a device, the device scanned in a browser, a code sent.
const operator = new MessengerClient({ deployment, masterKey: sandbox.masterKey });
const { body } = await operator.generateApiKey({ messenger_device_no: '1001' });
// The sandbox's own choice of reply; a real one is checked with the `schema` option.
const { api_key } = body as { api_key: string };
const messenger = new MessengerClient({ deployment, apiKey: api_key });
say('Messenger key generated', 'for device 1001');
const code = String(randomInt(1_000_000)).padStart(6, '0');
const message = { to_phone: '+2348012345678', message: `Your code is ${code}` };
assert.equal(await statusOf(messenger.sendMessage(message)), 409);
say('A message before the device is scanned', 'refused with 409');
assert.equal((await fetch(messenger.scanDeviceUrl())).status, 200);
await messenger.sendMessage(message);
assert.equal(sandbox.messages.at(-1)?.message, message.message);
say('Device scanned, code sent', 'to +2348012345678');

// 9. A service with other habits: what it sends is captured and learnt, and configures client and receiver.
const captured: { body: string }[] = [];
const stranger = createSandbox({
  deployment: {
    signature: { construction: 'hash-suffix', serialization: 'as-sent', encoding: 'base64' },
    wireNames: { platform_order_ref: 'acme_order_ref' },
  },
  whitelist: 'off',
  partners: [{ credentials: renewed }],
  fetch: async (_, init) => {
    captured.push({ body: String(init?.body) });
    return new Response();
  },
});
const known = { credentials: renewed, fetch: stranger.fetch };
for (const id of ['L-1', 'L-2', 'L-3'])
  await new ExchangeClient({ ...known, deployment: stranger.deployment }).createOrder(order(id, callback));
await stranger.idle();
const { file } = await learn({ deliveries: captured, credentials: renewed });
say('Learnt from three captured events', file.overrides.map(({ row }) => row).join(', '));
const { onboardingBaseUrl } = stranger.deployment;
// As if the file had been written and read: npx partner-exchange-sdk learn --write deployment.json
const learnt = defineDeployment({ learnt: JSON.parse(JSON.stringify(file)), onboardingBaseUrl });
await new ExchangeClient({ ...known, deployment: learnt }).createOrder(order('L-4', callback));
await stranger.idle();
const seen: string[] = [];
const { receive } = createWebhooks({ credentials: renewed, deployment: learnt }).onAny(
  ({ event_name }) => void seen.push(event_name),
);
for (const { body } of captured) assert.equal((await receive(body)).status, 200);
assert.equal(seen.length, 4);
say('Client and receiver work with that file alone', `${seen.length} events verified`);
await stranger.close();

partner.close();
await service.close();
console.log('\nEverything worked.');

function receiver() {
  return createWebhooks({ credentials: generations, deployment })
    .on('event.buy.init', (event, { decimal }) =>
      note(event, `to pay ${decimal('fiat_amount_to_pay')} ${event.fiat_currency}`),
    )
    .on('event.buy.received.fiat', (event) => note(event))
    .on('event.buy.received.fiat_kyc_error', (event) => note(event, event.kyc_error_type))
    .on('event.buy.credited.crypto', (event) =>
      note(event, event.crypto_txn_hash.length > 0 ? 'hash set' : ''),
    )
    .on('buy.event.close', (event) => note(event, `refunded ${event.meta_data.amount_refunded}`));
}

function note(event: { event_name: string; partner_order_id: string }, detail = ''): void {
  const line = `${event.event_name} ${event.partner_order_id} ${detail}`.trim();
  received.push(line);
  say('Event received and verified', line);
}

function take(): string[] {
  return received.splice(0);
}

function order(id: string, callbackUrl: string): BuyOrder {
  return {
    partner_order_id: id,
    fiat_amount: '15000.50',
    fiat_currency: 'NGN',
    chain: 'usdt-trc20',
    buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
    partner_callback_url: callbackUrl,
    refund_account: '0123456789',
  };
}

function newestLink(): string {
  const email = sandbox.emails.at(-1);
  assert.ok(email);
  return email.link;
}

async function openNewestLink(): Promise<SandboxCredentials> {
  const response = await fetch(newestLink());
  assert.equal(response.status, 200);
  // The sandbox's own page; a real service shows the keys in a form of its own.
  return (await response.json()) as SandboxCredentials;
}

/** The status with which the service refuses. */
async function statusOf(call: Promise<unknown>): Promise<number | undefined> {
  try {
    await call;
  } catch (error) {
    if (isRequestError(error)) return error.status;
    throw error;
  }
  throw new Error('The call was expected to be refused.');
}

function say(what: string, detail: string): void {
  console.log(`${what.padEnd(46)} ${detail}`);
}
