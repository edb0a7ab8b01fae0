import { once } from 'node:events';
import { createServer, Server, type ServerOptions } from 'node:http';
import { connect, createServer as createHttp2Server } from 'node:http2';
import { createAdaptorServer } from '@hono/node-server';
import { describe, expect, it } from 'vitest';
import { buyInitBody } from '../../support/bodies.ts';
import { listening, listeningPort } from '../../support/listening.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { delivery, quietWebhooks, recordingWebhooks } from '../deliveries.ts';
import { rawConnection } from './server.ts';

const sent = delivery(buyInitBody());
const bytes = new TextEncoder().encode(sent);
const declared = { 'content-length': String(bytes.length) };

/** A request as adapters make them: a `Request` by inheritance, whose body they read from the connection. */
function adapterRequest(headers: Record<string, string>, arrayBuffer: () => Promise<ArrayBuffer>): Request {
  const touched: string[] = [];
  const prototype = Object.create(Request.prototype, {
    method: { value: 'POST' },
    headers: { value: new Headers(headers) },
    bodyUsed: { value: false },
    body: {
      get() {
        touched.push('body');
        return new Response(bytes).body;
      },
    },
    arrayBuffer: { value: arrayBuffer },
    touched: { value: touched },
  });
  return Object.create(prototype);
}

async function whole(): Promise<ArrayBuffer> {
  return new Uint8Array(bytes).buffer;
}

describe('a body that an adapter reads from the connection', () => {
  it('is read in one piece, without making a stream of it', async () => {
    const { events, webhooks } = recordingWebhooks();
    const request = adapterRequest(declared, whole);
    expect((await webhooks.fetch(request)).status).toBe(200);
    expect(events).toHaveLength(1);
    expect(request).toHaveProperty('touched', []);
  });

  it.each<Record<string, string>>([
    {},
    { 'content-length': '' },
    { 'content-length': '5, 5' },
    { ...declared, 'transfer-encoding': 'chunked' },
  ])('is read piece by piece where its length is not certain: %j', async (headers) => {
    const { events, webhooks } = recordingWebhooks();
    const request = adapterRequest(headers, () => Promise.reject(new Error('not this way')));
    expect((await webhooks.fetch(request)).status).toBe(200);
    expect(events).toHaveLength(1);
    expect(request).not.toHaveProperty('touched', []);
  });

  it('is read piece by piece where a class extends Request: its stream may be longer than its header says', async () => {
    class OwnRequest extends Request {
      override arrayBuffer(): Promise<ArrayBuffer> {
        return super.arrayBuffer();
      }
    }
    let pulled = 0;
    const endless = new ReadableStream({
      async pull(controller) {
        await nextTurn();
        pulled += 1_000;
        controller.enqueue(new Uint8Array(1_000));
      },
    });
    const init = { method: 'POST', headers: { 'content-length': '5' }, body: endless, duplex: 'half' };
    const webhooks = quietWebhooks({ maxBodyBytes: 10_000, bodyTimeoutMs: 60_000 });
    expect((await webhooks.fetch(new OwnRequest('http://x.example/', init))).status).toBe(413);
    expect(pulled).toBeLessThan(20_000);
  });

  it('has the same deadline', async () => {
    const request = adapterRequest(declared, () => new Promise(() => {}));
    // real time: nothing ends before it: a busy machine only makes it later.
    expect((await quietWebhooks({ bodyTimeoutMs: 20 }).fetch(request)).status).toBe(408);
  });

  it('is 400 when it breaks off', async () => {
    const request = adapterRequest(declared, () => Promise.reject(new Error('aborted')));
    expect((await quietWebhooks().fetch(request)).status).toBe(400);
  });

  it('and that something has read before is not guessed at', async () => {
    const request = Object.create(adapterRequest(declared, whole), { bodyUsed: { value: true } });
    expect((await quietWebhooks().fetch(request)).status).toBe(500);
  });

  it('is measured all the same', async () => {
    const request = adapterRequest({ 'content-length': '5' }, whole);
    const response = await quietWebhooks({ maxBodyBytes: bytes.length - 1 }).fetch(request);
    expect([response.status, await response.json()]).toEqual([413, { error: 'body_too_large' }]);
    const fits = quietWebhooks({ maxBodyBytes: bytes.length }).onAny(() => {});
    expect((await fits.fetch(adapterRequest(declared, whole))).status).toBe(200);
  });
});

describe('behind the adapter of Hono on Node', () => {
  async function serving(
    webhooks: ReturnType<typeof quietWebhooks>,
    serverOptions: ServerOptions,
    use: (connection: ReturnType<typeof rawConnection>) => Promise<void>,
  ): Promise<void> {
    const server = createAdaptorServer({ fetch: webhooks.fetch, createServer, serverOptions });
    if (!(server instanceof Server)) throw new Error('The adaptor made a server of HTTP/2.');
    try {
      await use(rawConnection(await listeningPort(server)));
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  it('a body that never ends is given up: 408', async () => {
    // real time: nothing ends before it: a busy machine only makes it later.
    const webhooks = quietWebhooks({ bodyTimeoutMs: 50 });
    await serving(webhooks, {}, async (connection) => {
      await connection.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{');
      expect(await connection.received()).toMatch(/^HTTP\/1\.1 408 /);
    });
  });

  it('what comes after the declared length is not part of the body', async () => {
    const { events, webhooks } = recordingWebhooks();
    await serving(webhooks, {}, async (connection) => {
      const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes.length}\r\n\r\n`;
      await connection.write(`${head}${sent}${'x'.repeat(1_000_000)}`).catch(() => {});
      expect(await connection.received().catch(() => 'HTTP/1.1 200 ')).toMatch(/^HTTP\/1\.1 200 /);
    });
    expect(events).toHaveLength(1);
  });

  it('a parser told to accept both lengths does not get past the limit', async () => {
    const webhooks = quietWebhooks({ maxBodyBytes: 10_000 });
    await serving(webhooks, { insecureHTTPParser: true }, async (connection) => {
      const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n';
      await connection.write(`${head}4e20\r\n${' '.repeat(20_000)}\r\n`);
      expect(await connection.received().catch(String)).toMatch(/^HTTP\/1\.1 413 /);
    });
  });

  it('HTTP/2 breaks off what sends more than it declared', async () => {
    const { events, webhooks } = recordingWebhooks();
    const server = createAdaptorServer({ fetch: webhooks.fetch, createServer: createHttp2Server });
    const session = connect(await listening(server));
    session.on('error', () => {});
    try {
      const stream = session.request({ ':method': 'POST', ':path': '/', 'content-length': '5' });
      stream.end(sent);
      await expect(once(stream, 'close')).rejects.toThrow('error code');
      expect(events).toEqual([]);
    } finally {
      session.destroy();
      server.close();
    }
  });
});
