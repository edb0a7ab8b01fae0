/** node:http: `webhooks.node` is a request listener. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import { credentials } from '../support/signed-events.ts';
import { deliverTo } from './support/deliver.ts';
import { portOf } from './support/port-of.ts';

const webhooks = createWebhooks({ credentials }).on('event.buy.credited.crypto', (event) =>
  console.log('credited', event.partner_order_id, event.crypto_txn_hash),
);

const server = createServer((request, response) => {
  if (request.url === '/orders') void webhooks.node(request, response);
  else response.writeHead(404).end();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');

await deliverTo(`http://127.0.0.1:${portOf(server)}/orders`);
server.close();
