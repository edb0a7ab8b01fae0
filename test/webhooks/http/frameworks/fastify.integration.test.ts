import fastify from 'fastify';
import { expect, it } from 'vitest';
import { fastifyPlugin } from '../../../../src/webhooks/fastify-plugin.ts';
import { buyInitBody } from '../../../support/bodies.ts';
import { thrownBy } from '../../../support/refusal.ts';
import { delivery, recordingWebhooks } from '../../deliveries.ts';
import { warningsDuring } from '../../warnings.ts';
import { describeFramework } from './contract.ts';
import { mountServer } from './mount.ts';

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

it('the plugin reads no body with a parser that the application has for bytes', async () => {
  const { events, webhooks } = recordingWebhooks();
  await using app = fastify();
  app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_request, _body, done) =>
    done(new Error('not for webhooks')),
  );
  await app.register(fastifyPlugin(webhooks, { path: '/orders' }));
  const payload = delivery(buyInitBody());
  expect((await app.inject({ method: 'POST', url: '/orders', payload })).statusCode).toBe(200);
  expect(events).toHaveLength(1);
});

it("a route of the application's own, whose body Fastify has parsed, is told where the remedy is", async () => {
  const { webhooks } = recordingWebhooks();
  await using app = fastify();
  // As somebody would who takes Fastify's request for that of Node.
  app.post('/orders', async (request, reply) => webhooks.node(Object(request), Object(reply)));
  const warnings = await warningsDuring(async () => {
    const payload = JSON.parse(delivery(buyInitBody()));
    expect((await app.inject({ method: 'POST', url: '/orders', payload })).statusCode).toBe(500);
  });
  expect(String(warnings)).toContain('docs/details/webhooks.md#the-body-was-parsed-first');
});

it.each<[string, object, RegExp]>([
  [
    'a misspelt option',
    { pth: '/orders' },
    /"pth" is not an option of fastifyPlugin\. Did you mean "path"\?/,
  ],
  ['no path', {}, /path must be text/],
  ['a path without its slash', { path: 'orders' }, /begins with "\/"/],
])('the plugin refuses %s', (_, options, message) => {
  const error = thrownBy(() => fastifyPlugin(recordingWebhooks().webhooks, Object(options)));
  expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringMatching(message) });
});

it.each([Object({ keys: ['one'] }), undefined])('the plugin refuses %o, before the first event', (none) => {
  const error = thrownBy(() => fastifyPlugin(none, { path: '/' }));
  expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringContaining('createWebhooks') });
});
