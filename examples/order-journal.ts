/** For the partner developer: no order twice and none forgotten, although replies are lost and processes die. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type BuyOrder, ExchangeClient } from 'partner-exchange-sdk';
import { createOrderJournal, isOrderError, isRequestError } from 'partner-exchange-sdk/orders';
import { createSandbox } from 'partner-exchange-sdk/sandbox';
import { sqliteStore } from 'partner-exchange-sdk/store';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';

// A service that would make a second order of a repeated request.
const sandbox = createSandbox({ whitelist: 'off', duplicateOrders: 'second' });
const service = await sandbox.listen();
const { deployment } = service;
await new ExchangeClient({ deployment }).onboard({ partner_code: 'acme', email: 'dev@acme.example' });
const credentials = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');

// What each process of yours sets up: those that create orders, and those that receive events.
const folder = mkdtempSync(join(tmpdir(), 'order-journal-'));
const store = sqliteStore({ path: join(folder, 'orders.sqlite') });
const exchange = new ExchangeClient({ deployment, credentials });
const journal = createOrderJournal({ exchange, store });
const webhooks = createWebhooks({ credentials, deployment })
  .onAny(journal.observe)
  // Records what such an event proves, and throws: it is not acknowledged, since it cannot be read here.
  .onUnrecognized(journal.observe);

const server = createServer((request, response) => void webhooks.node(request, response));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
// AddressInfo: it listens on a port, not on a pipe.
const { port } = server.address() as AddressInfo;

const orderOf = (partner_order_id: string): BuyOrder => ({
  partner_order_id,
  fiat_amount: '15000.50',
  fiat_currency: 'NGN',
  chain: 'usdt-trc20',
  buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  partner_callback_url: `http://127.0.0.1:${port}/orders`,
});

/** What your program does with an order: it may be called again at any time. */
async function place(order: BuyOrder): Promise<string> {
  const { state, order: known, error } = await journal.create(order);
  // After `unknown` or `sending` tell the buyer to wait: the service may have the order.
  return isOrderError(error) || isRequestError(error)
    ? `${state} (${error.code})`
    : `${state} by ${known.evidence}`;
}

console.log('A-1:', await place(orderOf('A-1')));
console.log('A-1 again:', await place(orderOf('A-1')));
// Only what is wrong with the call itself is thrown: its input, the configuration, another order under this id.
await place({ ...orderOf('A-1'), fiat_amount: '9' }).catch((error) =>
  console.log('A-1 with another amount:', error.code),
);

// The service acts and its reply is lost; the event of the order comes only later.
sandbox.faults.plan('createOrder', 'reply_lost');
sandbox.faults.plan('event.buy.init', 'drop');
console.log('A-2, reply lost:', await place(orderOf('A-2')));
console.log('A-2 again:', await place(orderOf('A-2')));

// Neither does anybody know of this one, and the service has never seen it.
sandbox.faults.plan('createOrder', { kind: 'reset', when: 'before' });
console.log('A-3, connection reset:', await place(orderOf('A-3')));

const unsettled = async () => (await journal.unsettled()).map((order) => order.partner_order_id);
console.log('unsettled:', await unsettled());

// An event settles the first of them.
await sandbox.advance('A-2', 'fiat_received');
console.log('A-2 after its event:', await place(orderOf('A-2')));

// Nothing will ever come for the other: somebody looks at the service, and says so.
await journal.settle('A-3', 'abandoned', 'Not in their dashboard after a day, ticket 4711.');
console.log('A-3 after the decision:', await place(orderOf('A-3')));
console.log('unsettled:', await unsettled());

// What `create` could not send, a loop sends. This one was written down with your row, and then its process died.
await journal.prepare(orderOf('A-4'));
const loop = journal.start({
  load: ({ partner_order_id }) => orderOf(partner_order_id),
  everyMs: 100,
  onUnknown: ({ partner_order_id }, reason) => console.error('a person is needed:', partner_order_id, reason),
});
sandbox.faults.plan('createOrder', 'too_many_requests');
console.log('A-5, too many requests:', await place(orderOf('A-5')));
while ((await unsettled()).length > 0) await pause(50);
await loop.stop();
console.log('A-4, sent by the loop:', await place(orderOf('A-4')));

const made = sandbox.orders.map((order) => order.partner_order_id);
console.log('orders of the service:', made);
if (made.sort().join() !== 'A-1,A-2,A-4,A-5' || (await unsettled()).length > 0) process.exitCode = 1;

server.close();
await service.close();
await store.close();
rmSync(folder, { recursive: true });
