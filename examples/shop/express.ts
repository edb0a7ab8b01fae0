/** The shop on Express 5. Express 4 catches nothing that an async handler throws: pass it to `next` there. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import { openShop } from './shop.ts';
import { answerOf } from './shop-error.ts';

const shop = openShop();
const app = express();
// Before the body parsers: the signature covers the bytes.
app.all('/partner/events', shop.webhooks.node);
app.use(express.json({ limit: '10kb' }));

app.post('/codes', async ({ body, ip }, response) => {
  response.json(await shop.sendCode(body, ip));
});
app.post('/sessions', async ({ body }, response) => {
  response.json(await shop.openSession(body));
});
app.post('/purchases', async ({ headers, body }, response) => {
  response.json(await shop.buy(await shop.phoneOf(headers.authorization), body));
});
app.get('/purchases/:id', async ({ headers, params }, response) => {
  response.json(await shop.purchase(await shop.phoneOf(headers.authorization), params.id));
});
app.post('/purchases/:id/settle', async ({ headers, params, body }, response) => {
  await shop.settle(headers.authorization, params.id, body);
  response.status(204).end();
});

// Liveness: the process answers. An outage of the database must not restart it.
app.get('/health/live', (_request, response) => void response.send('ok'));
app.get('/health/ready', async (_request, response) => {
  response.json(await shop.health());
});
app.get('/metrics', async (_request, response) => {
  response.type('text/plain; version=0.0.4').send(await shop.metrics());
});

// Express knows it by its four parameters.
app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
  const { status, body, headers } = answerOf(error);
  response.status(status).set(headers).json(body);
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
await once(server, 'listening');
shop.start();
process.once('SIGTERM', async () => {
  await shop.stop(server);
  await shop.end();
  console.log('stopped');
});
// AddressInfo: it listens on a port, not on a pipe.
console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
