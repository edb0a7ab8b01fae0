/** Express 5: `webhooks.node` is a route handler. The signature covers the bytes, so they have to be there still. */
import { once } from 'node:events';
import express from 'express';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import { credentials } from '../support/signed-events.ts';
import { deliverTo } from './support/deliver.ts';
import { portOf } from './support/port-of.ts';

const webhooks = createWebhooks({ credentials }).on('event.buy.credited.crypto', (event) =>
  console.log('credited', event.partner_order_id, event.crypto_txn_hash),
);

const app = express();
// Before any body parser: nothing more is needed.
app.all('/orders', webhooks.node);

// Behind one that the rest of the application needs: have it keep the bytes.
app.use(
  express.json({
    verify: (request, _response, bytes) => {
      Object.assign(request, { rawBody: bytes });
    },
  }),
);
app.all('/orders-behind-json', webhooks.node);

const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
await deliverTo(`http://127.0.0.1:${portOf(server)}/orders`);
// The same event again: it is answered, and not handled twice.
await deliverTo(`http://127.0.0.1:${portOf(server)}/orders-behind-json`);
server.close();
