/** A program of its own, so that a test can read what the default `onError` prints. Started by secrecy.integration.test.ts. */
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import { buyInitBody } from '../support/bodies.ts';
import { credentials, delivery } from './deliveries.ts';

const webhooks = createWebhooks({ credentials })
  .on('event.buy.init', () => {
    throw new Error('the database is down');
  })
  .onUnrecognized(() => Promise.reject(new Error('nobody knows it')));

const outcomes = [
  await webhooks.receive(delivery(buyInitBody())),
  await webhooks.receive(delivery({ event_name: 'line\nbreak', partner_order_id: 'A-1001' })),
];
console.log(outcomes.map(({ kind }) => kind).join());
