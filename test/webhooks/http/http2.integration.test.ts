import { once } from 'node:events';
import { type ClientHttp2Stream, connect, createServer } from 'node:http2';
import { expect, it } from 'vitest';
import type { DeliveryReport } from '../../../src/webhooks/receive-outcome.ts';
import { buyInitBody } from '../../support/bodies.ts';
import { listening } from '../../support/listening.ts';
import { delivery, quietWebhooks, recordingWebhooks } from '../deliveries.ts';

const sent = delivery(buyInitBody());

/** One request to an HTTP/2 server of `node:http2`, and what it answers until it closes the stream. */
async function post(
  listener: ReturnType<typeof quietWebhooks>['node'],
  write: (stream: ClientHttp2Stream) => void,
): Promise<[status: unknown, body: string]> {
  const server = createServer(listener);
  const session = connect(await listening(server));
  try {
    const length = String(Buffer.byteLength(sent));
    const stream = session.request({ ':method': 'POST', ':path': '/', 'content-length': length });
    write(stream);
    let answered = '';
    stream.setEncoding('utf8').on('data', (piece: string) => {
      answered += piece;
    });
    const [[headers]] = await Promise.all([once(stream, 'response'), once(stream, 'close')]);
    return [headers[':status'], answered];
  } finally {
    session.destroy();
    server.close();
  }
}

it('an event over HTTP/2 is handled like any other', async () => {
  const { events, webhooks } = recordingWebhooks();
  expect(await post(webhooks.node, (stream) => stream.end(sent))).toEqual([200, '{"received":true}']);
  expect(events).toHaveLength(1);
});

it('a body whose bytes are all there, but that never ends, is given up: 408, and its stream is closed', async () => {
  const reports: DeliveryReport[] = [];
  // real time: nothing ends before it: a busy machine only makes it later.
  const webhooks = quietWebhooks({ bodyTimeoutMs: 100, onDelivery: (report) => reports.push(report) });
  expect(await post(webhooks.node, (stream) => stream.write(sent))).toEqual([
    408,
    '{"error":"body_timeout"}',
  ]);
  expect(reports).toMatchObject([{ code: 'body_timeout' }]);
});
