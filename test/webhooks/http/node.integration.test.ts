import { describe, expect, it } from 'vitest';
import { buyInitBody } from '../../support/bodies.ts';
import { delivery, gate, quietWebhooks, recordingWebhooks } from '../deliveries.ts';
import { rawConnection, send, serve } from './server.ts';

const sent = delivery(buyInitBody({ note: 'é😀' }));
const bytes = Buffer.from(sent);

function head(length: number, more = ''): string {
  return `POST /hook HTTP/1.1\r\nHost: partner.example\r\nContent-Length: ${length}\r\n${more}\r\n`;
}

describe('a client that breaks off', () => {
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
