import fastify from 'fastify';
import { expect, it } from 'vitest';
import { fastifyPlugin } from '../../../../src/webhooks/http/fastify-plugin.ts';
import { recordingWebhooks } from '../../deliveries.ts';
import { describeFramework } from './contract.ts';
import { mountServer } from './listen.ts';

describeFramework('Fastify 5', async (webhooks) => {
  const app = fastify();
  await app.register(fastifyPlugin(webhooks, { path: '/' }));
  await app.ready();
  const { port, close } = await mountServer(app.server);
  return { port, close: async () => void (await Promise.all([close(), app.close()])) };
});

it('the plugin leaves the parsers of the rest of the application alone', async () => {
  await using app = fastify();
  app.post('/echo', (request) => request.body);
  await app.register(fastifyPlugin(recordingWebhooks().webhooks, { path: '/orders' }));
  const answer = await app.inject({ method: 'POST', url: '/echo', payload: { a: 1 } });
  expect(answer.json()).toEqual({ a: 1 });
});
