/** Hono, on Node here; the same on Bun, Deno and Workers: `webhooks.fetch` takes the raw request. */
import { once } from 'node:events';
import { Server } from 'node:http';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import { credentials } from '../support/signed-events.ts';
import { deliverTo } from './support/deliver.ts';
import { portOf } from './support/port-of.ts';

const webhooks = createWebhooks({ credentials }).on('event.buy.credited.crypto', (event) =>
  console.log('credited', event.partner_order_id, event.crypto_txn_hash),
);

const app = new Hono();
app.all('/orders', (context) => webhooks.fetch(context.req.raw));

const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
await once(server, 'listening');
// HTTP/1.1, since the client asked for no other version.
if (!(server instanceof Server)) throw new Error('It is no server of node:http.');
await deliverTo(`http://127.0.0.1:${portOf(server)}/orders`);
server.close();
