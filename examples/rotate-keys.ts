/** For the partner developer: replace the keys without a restart, a lost event or a lost order. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyRing, ExchangeClient } from 'partner-exchange-sdk';
import { aesGcm, createKeyRotation, type KeyRotation, storedKeys } from 'partner-exchange-sdk/keys';
import { createSandbox } from 'partner-exchange-sdk/sandbox';
import { sqliteStore } from 'partner-exchange-sdk/store';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';

// In production: defineDeployment({ … }).
const sandbox = createSandbox();
const { deployment, close } = await sandbox.listen();
const folder = mkdtempSync(join(tmpdir(), 'rotate-keys-'));
const identity = { partner_code: 'acme', email: 'dev@acme.example' };

// For several machines take postgresStore or redisStore. Others who can read the store cannot read the keys.
const store = sqliteStore({ path: join(folder, 'shop.db') });
const cipher = aesGcm({ keys: [{ id: '2026-11', key: randomBytes(32) }] });

const ring = createKeyRing({ load: () => rotation.credentials() });
const exchange = new ExchangeClient({ deployment, credentials: ring });
// Its type is written out, since ring, client and rotation refer to each other.
const rotation: KeyRotation = createKeyRotation({ exchange, storage: storedKeys({ store, ...cipher }) });

const received: string[] = [];
const webhooks = createWebhooks({ deployment, credentials: ring }).onAny((event, { key }) => {
  received.push(event.event_name);
  console.log('received', event.event_name, event.partner_order_id, 'with keys', key.index);
});
const server = createServer(webhooks.node).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
// AddressInfo: it listens on a port, not on a pipe.
const callback = `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`;

// Once: the first keys, stored as soon as the link is opened.
await exchange.onboard(identity);
await rotation.receive(sandbox.openLink(sandbox.emails.at(-1)?.link ?? ''));
await exchange.whitelistIp();
await place('A-1');

// Each time. After a crash, rotation.status() says which step comes next.
await rotation.request(identity);
console.log('asked for new keys:', (await rotation.status()).step);
await rotation.receive(sandbox.openLink(sandbox.emails.at(-1)?.link ?? ''));
// At once in this process; others read them again when they need to.
await ring.reload();

// The old keys are dead now. The order is refused, and repeated with the received ones.
await place('A-2');

await rotation.promote();
await ring.reload();
await place('A-3');
console.log('done:', await rotation.status());

assert.equal(sandbox.orders.length, 3);
assert.equal(received.length, 3);
server.close();
await close();
await store.close();
rmSync(folder, { recursive: true });

async function place(partner_order_id: string): Promise<void> {
  const { status } = await exchange.createOrder({
    partner_order_id,
    fiat_amount: '15000.50',
    fiat_currency: 'NGN',
    chain: 'usdt-trc20',
    buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
    partner_callback_url: callback,
  });
  console.log('created', partner_order_id, status);
  await sandbox.idle();
}
