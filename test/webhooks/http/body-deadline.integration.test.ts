import { describe, expect, it } from 'vitest';
import { buyInitBody } from '../../support/bodies.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { delivery, gate, quietWebhooks, recordingWebhooks } from '../deliveries.ts';
import { rawConnection, send, serve } from './server.ts';
import { describeTransports } from './transports.ts';

const sent = delivery(buyInitBody());
const url = 'https://partner.example/callback';

/** A request whose body comes as the source gives it, and whether it was cancelled. */
function streamed(pull: (controller: ReadableStreamDefaultController<Uint8Array>) => Promise<void>) {
  const cancelled = gate();
  const body = new ReadableStream<Uint8Array>({ pull, cancel: cancelled.open });
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' };
  return { request: new Request(url, init), cancelled: cancelled.opened };
}

describe('fetch', () => {
  it('answers 408 for a body that never comes, and cancels it', async () => {
    const { request, cancelled } = streamed(() => new Promise(() => {}));
    // real time: nothing ends before it: a busy machine only makes it later.
    const response = await quietWebhooks({ bodyTimeoutMs: 20 }).fetch(request);
    expect([response.status, await response.json()]).toEqual([408, { error: 'body_timeout' }]);
    expect(response.headers.get('connection')).toBe('close');
    await cancelled;
  });

  it('answers 408 for one that comes drop by drop: the limit is for the whole of it', async () => {
    const { request, cancelled } = streamed(async (controller) => {
      await nextTurn();
      controller.enqueue(Uint8Array.of(0x20));
    });
    // real time: nothing ends before it: a busy machine only makes it later.
    const webhooks = quietWebhooks({ bodyTimeoutMs: 50, maxBodyBytes: 100_000_000 });
    expect((await webhooks.fetch(request)).status).toBe(408);
    await cancelled;
  });
});

describe('node', () => {
  it('answers 408 for a body that comes drop by drop, closes the connection and handles nothing', async () => {
    // real time: nothing ends before it: a busy machine only makes it later.
    const { events, webhooks } = recordingWebhooks({ bodyTimeoutMs: 100 });
    const statuses: number[] = [];
    let drop = () => {};
    await using server = await serve(async (request, response) => {
      request.on('data', () => drop());
      await webhooks.node(request, response);
      statuses.push(response.statusCode);
    });
    const connection = rawConnection(server.port);
    // Each byte when the one before it has arrived.
    drop = () => {
      if (statuses.length === 0) connection.write(' ').catch(() => {});
    };
    await connection.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n ');
    // Who still sends when the connection is closed may not get to read the answer.
    await connection.received().catch(() => {});
    expect(statuses).toEqual([408]);
    expect(events).toEqual([]);
    expect(await send(server.port, { body: sent })).toMatchObject({ status: 200 });
  });

  it.each([
    ['a declared length', 'Content-Length: 200000000\r\n\r\n'],
    ['the bytes that came', `Transfer-Encoding: chunked\r\n\r\n64\r\n${'x'.repeat(100)}\r\n`],
  ])('answers 413 at once to %s beyond the limit, and closes the connection in time', async (_, rest) => {
    // The answer comes before this time is over, the end of the connection with it.
    const bodyTimeoutMs = 2_000;
    await using server = await serve(quietWebhooks({ bodyTimeoutMs, maxBodyBytes: 10 }).node);
    const connection = rawConnection(server.port);
    const begun = performance.now();
    await connection.write(`POST / HTTP/1.1\r\nHost: x\r\n${rest}`);
    const head = await connection.firstPiece();
    expect(head).toMatch(/^HTTP\/1\.1 413 [\s\S]*[\s\S]*\{"error":"body_too_large"\}$/i);
    // real time: half of the time that a body may take, a second.
    expect(performance.now() - begun).toBeLessThan(bodyTimeoutMs / 2);
    expect(await connection.received()).toBe(head);
  });
});

describeTransports('the deadline', (post) => {
  it('is for the body, not for the handler', async () => {
    // real time: nothing ends before it: a busy machine only makes it later.
    const webhooks = quietWebhooks({ bodyTimeoutMs: 30 }).onAny(async () => {
      const begun = performance.now();
      while (performance.now() - begun < 60) await nextTurn();
    });
    expect(await post(webhooks, { body: sent })).toMatchObject({ status: 200 });
  });

  it.each([2 ** 31, Number.MAX_SAFE_INTEGER])('may be as long as %i ms', async (bodyTimeoutMs) => {
    expect(await post(quietWebhooks({ bodyTimeoutMs }), { body: sent })).toMatchObject({ status: 200 });
  });
});
