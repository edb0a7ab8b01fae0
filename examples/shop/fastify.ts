/** The shop on Fastify 5. */
import fastify from 'fastify';
import { fastifyPlugin } from 'partner-exchange-sdk/webhooks';
import { openShop } from './shop.ts';
import { answerOf } from './shop-error.ts';

const shop = openShop();
const app = fastify({ bodyLimit: 10_240 });
// A scope of its own, without the body parsers: the signature covers the bytes.
await app.register(fastifyPlugin(shop.webhooks, { path: '/partner/events' }));

app.post('/codes', ({ body, ip }) => shop.sendCode(body, ip));
app.post('/sessions', ({ body }) => shop.openSession(body));
app.post('/purchases', async ({ headers, body }) =>
  shop.buy(await shop.phoneOf(headers.authorization), body),
);
app.get<{ Params: { id: string } }>('/purchases/:id', async ({ headers, params }) =>
  shop.purchase(await shop.phoneOf(headers.authorization), params.id),
);
app.post<{ Params: { id: string } }>('/purchases/:id/settle', async ({ headers, params, body }, reply) => {
  await shop.settle(headers.authorization, params.id, body);
  return reply.code(204).send();
});

// Liveness: the process answers. An outage of the database must not restart it.
app.get('/health/live', async () => 'ok');
app.get('/health/ready', () => shop.health());
app.get('/metrics', async (_request, reply) => {
  reply.type('text/plain; version=0.0.4');
  return shop.metrics();
});

app.setErrorHandler((error, _request, reply) => {
  const { status, body, headers } = answerOf(error);
  return reply.code(status).headers(headers).send(body);
});

const url = await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' });
shop.start();
process.once('SIGTERM', async () => {
  // Before `app.close()`, which refuses what keep-alive connections still bring.
  await shop.stop(app.server);
  await app.close();
  await shop.end();
  console.log('stopped');
});
console.log(url);
