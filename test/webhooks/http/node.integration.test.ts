import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { buyInitBody } from '../../support/bodies.ts';
import { delivery, gate, quietWebhooks, recordingWebhooks } from '../deliveries.ts';
import { rawConnection, send, serve } from './server.ts';

const sent = delivery(buyInitBody({ note: 'é😀' }));
const bytes = Buffer.from(sent);

function head(length: number, more = ''): string {
  return `POST /hook HTTP/1.1\r\nHost: partner.example\r\nContent-Length: ${length}\r\n${more}\r\n`;
}

describe('a body in pieces', () => {
  it('is put together though a piece ends inside an emoji', async () => {
    const { events, webhooks } = recordingWebhooks();
    const first = gate();
    const sizes: number[] = [];
    await using server = await serve((request, response) => {
      request.on('data', (chunk: Buffer) => {
        sizes.push(chunk.length);
        first.open();
      });
      return webhooks.node(request, response);
    });
    const cut = bytes.indexOf('😀') + 2;
    const connection = rawConnection(server.port);
    await connection.write(head(bytes.length, 'Connection: close\r\n'));
    await connection.write(bytes.subarray(0, cut));
    await first.opened;
    await connection.write(bytes.subarray(cut));
    expect(await connection.received()).toMatch(/^HTTP\/1\.1 200 /);
    expect(sizes).toEqual([cut, bytes.length - cut]);
    expect(events).toMatchObject([{ note: 'é😀' }]);
  });
});

describe('a client that breaks off', () => {
  it('before the webhooks are reached does not leave them waiting', async () => {
    const { events, webhooks } = recordingWebhooks();
    const arrived = gate();
    const ended = gate();
    await using server = await serve(async (request, response) => {
      const closed = new Promise((resolve) => request.once('close', resolve));
      arrived.open();
      await closed;
      await webhooks.node(request, response);
      ended.open();
    });
    const connection = rawConnection(server.port);
    await connection.write(head(bytes.length));
    await arrived.opened;
    connection.abort();
    await ended.opened;
    expect(events).toEqual([]);
  });

  it('while the event is handled does not undo it', async () => {
    const begun = gate();
    const finish = gate();
    const ended = gate();
    let calls = 0;
    const webhooks = quietWebhooks().onAny(async () => {
      calls++;
      begun.open();
      await finish.opened;
    });
    await using server = await serve(async (request, response) => {
      const closed = new Promise((resolve) => response.once('close', resolve));
      const answered = webhooks.node(request, response);
      if (calls === 0) await begun.opened;
      await closed;
      finish.open();
      await answered;
      ended.open();
    });
    const connection = rawConnection(server.port);
    await connection.write(head(bytes.length));
    await connection.write(bytes);
    await begun.opened;
    connection.abort();
    await ended.opened;
    expect(await send(server.port, { body: sent })).toMatchObject({ status: 200 });
    expect(calls).toBe(1);
  });

  it('because the server gave up on its body does not leave the webhooks waiting', async () => {
    const { events, webhooks } = recordingWebhooks();
    const ended = gate();
    await using server = await serve(async (request, response) => {
      request.once('data', () => request.destroy());
      await webhooks.node(request, response);
      ended.open();
    });
    const connection = rawConnection(server.port);
    await connection.write(head(bytes.length));
    await connection.write(bytes.subarray(0, 100));
    await ended.opened;
    expect(events).toEqual([]);
  });

  it('after refused headers does no harm', async () => {
    const { webhooks } = recordingWebhooks({ bodyTimeoutMs: 1_000 });
    await using server = await serve(webhooks.node);
    const connection = rawConnection(server.port);
    await connection.write(head(1_000_000));
    expect(await connection.received()).toMatch(/^HTTP\/1\.1 413 /);
    expect(await send(server.port, { body: sent })).toMatchObject({ status: 200 });
  });
});

describe('an odd request', () => {
  it.each([
    ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', 405],
    ['BREW / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    ['POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    [head(0, 'Connection: close\r\n'), 400],
    [
      head(5, 'Connection: close\r\nContent-Type: application/json\r\nContent-Type: text/plain\r\n') +
        'hello',
      400,
    ],
    [
      head(5, 'Connection: close\r\nContent-Type: text/plain\r\nContent-Type: application/json\r\n') +
        'hello',
      400,
    ],
    [head(bytes.length, 'Connection: close\r\nExpect: 100-continue\r\n') + sent, 100],
  ])('%j is answered %i', async (request, status) => {
    await using server = await serve(recordingWebhooks().webhooks.node);
    const connection = rawConnection(server.port);
    await connection.write(request);
    expect(await connection.received()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it('followed by another on the same connection does not spoil it', async () => {
    const { events, webhooks } = recordingWebhooks();
    await using server = await serve(webhooks.node);
    const connection = rawConnection(server.port);
    await connection.write(`${head(2)}{}${head(bytes.length, 'Connection: close\r\n')}${sent}`);
    const statuses = (await connection.received()).match(/HTTP\/1\.1 \d+/g);
    expect(statuses).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
    expect(events).toHaveLength(1);
  });
});

it('an answer that something else has given is left alone', async () => {
  const { webhooks } = recordingWebhooks();
  await using server = await serve(async (request, response) => {
    response.writeHead(202).end('mine');
    await webhooks.node(request, response);
  });
  expect(await send(server.port, { body: sent })).toMatchObject({ status: 202, body: 'mine' });
});

it('webhooks.node can be passed to createServer as it is', () => {
  const { node } = quietWebhooks();
  createServer(node).close();
});
