/** Fastify 5: the plugin has a scope of its own, without body parsers. */
import fastify from 'fastify';
import { createWebhooks, fastifyPlugin } from 'partner-exchange-sdk/webhooks';
import { credentials } from '../support/signed-events.ts';
import { deliverTo } from './support/deliver.ts';

const webhooks = createWebhooks({ credentials }).on('event.buy.credited.crypto', (event) =>
  console.log('credited', event.partner_order_id, event.crypto_txn_hash),
);

const app = fastify();
await app.register(fastifyPlugin(webhooks, { path: '/orders' }));
const address = await app.listen({ port: 0, host: '127.0.0.1' });

await deliverTo(`${address}/orders`);
await app.close();
