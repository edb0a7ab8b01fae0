import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect as connectTcp, type Server } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import fastify from 'fastify';
import { Hono } from 'hono';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ClosableServer, closeServer } from '../../../src/webhooks/close-server.ts';
import type { Webhooks } from '../../../src/webhooks/create-webhooks.ts';
import { fastifyPlugin } from '../../../src/webhooks/fastify-plugin.ts';
import { buyInitBody } from '../../support/bodies.ts';
import { keepConnectionsBusy } from '../../support/busy-connections.ts';
import { listeningPort } from '../../support/listening.ts';
import { delivery, quietWebhooks, recordingWebhooks } from '../deliveries.ts';
import { rawConnection } from './server.ts';

const sent = delivery(buyInitBody());

type Listening = ClosableServer & Pick<Server, 'listen' | 'listening' | 'address'>;

/** Every server that can be closed, with the webhooks at its root. */
const servers: Readonly<Record<string, (webhooks: Webhooks) => Promise<Listening>>> = {
  'node:http': async ({ node }) => createServer(node).listen(0, '127.0.0.1'),
  async 'Fastify 5'(webhooks) {
    const app = fastify();
    await app.register(fastifyPlugin(webhooks, { path: '/' }));
    await app.listen({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => app.close());
    return app.server;
  },
  async 'Hono on Node'(webhooks) {
    const app = new Hono().all('/', (context) => webhooks.fetch(context.req.raw));
    return createAdaptorServer({ fetch: app.fetch }).listen(0, '127.0.0.1');
  },
};

describe.each(Object.entries(servers))('closeServer, with %s,', (_, start) => {
  it('ends behind busy connections, and answers 200 to all that they bring', async () => {
    const { webhooks } = recordingWebhooks();
    const server = await start(webhooks);
    let made = 0;
    const next = () => delivery(buyInitBody({ partner_order_id: `A-${++made}` }));
    const load = keepConnectionsBusy(await listeningPort(server), { connections: 5, next });
    await vi.waitFor(() => expect(load.taken()).toBe(5));
    expect(await closeServer(server)).toBe('drained');
    await load.ended;
    expect([...load.statuses.keys()]).toEqual([200]);
    expect(load.broken()).toBe(0);
  });
});

describe('closeServer', () => {
  it('answers a delivery that arrives on an open connection, says that it closes it, then stops the inbox', async () => {
    const { events, webhooks } = recordingWebhooks();
    const server = await servers['node:http']?.(webhooks);
    if (server === undefined) return expect.unreachable();
    const connection = rawConnection(await listeningPort(server));
    await connection.write(head(sent.length));
    await vi.waitFor(() => expect(connectionsOf(server)).resolves.toBe(1));
    const stopped = vi.fn(async () => 'drained');
    const closing = closeServer(server, { inbox: { stop: stopped } });
    expect(stopped).not.toHaveBeenCalled();
    await connection.write(sent);
    expect(await connection.received()).toMatch(/^HTTP\/1\.1 200 .*connection: close.*"received":true/is);
    expect(await closing).toBe('drained');
    expect(events).toHaveLength(1);
    expect(stopped).toHaveBeenCalledOnce();
  });

  it('closes idle connections, and takes no new ones', async () => {
    const server = createServer(quietWebhooks().node).listen(0, '127.0.0.1');
    const port = await listeningPort(server);
    const idle = rawConnection(port);
    await idle.write(head(sent.length) + sent);
    await once(server, 'request');
    const closing = closeServer(server);
    const refused = connectTcp(port, '127.0.0.1');
    expect(await once(refused, 'error')).toMatchObject([{ code: 'ECONNREFUSED' }]);
    expect(await closing).toBe('drained');
    expect(await idle.received()).toMatch(/^HTTP\/1\.1 200 /);
  });
});

function connectionsOf(server: object): Promise<number> {
  return new Promise((resolve, reject) =>
    Object(server).getConnections((error: Error | null, count: number) =>
      error ? reject(error) : resolve(count),
    ),
  );
}

function head(length: number): string {
  return `POST / HTTP/1.1\r\nHost: partner.example\r\nContent-Length: ${length}\r\n\r\n`;
}
