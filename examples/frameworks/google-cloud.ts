/** Google Cloud Functions: the framework keeps the bytes in `rawBody`, where `webhooks.node` finds them. */
import { once } from 'node:events';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import { credentials } from '../support/signed-events.ts';
import { deliverTo } from './support/deliver.ts';
import { portOf } from './support/port-of.ts';

const webhooks = createWebhooks({ credentials }).on('event.buy.credited.crypto', (event) =>
  console.log('credited', event.partner_order_id, event.crypto_txn_hash),
);

http('orders', webhooks.node);

// What the framework does with it, so that this file runs by itself.
const server = getTestServer('orders').listen(0, '127.0.0.1');
await once(server, 'listening');
await deliverTo(`http://127.0.0.1:${portOf(server)}/`);
server.close();
