import { describe, expect, it } from 'vitest';
import { buyInitBody } from '../../support/bodies.ts';
import { delivery, gate, recordingWebhooks } from '../deliveries.ts';
import { rawConnection, serve } from './server.ts';
import { fetchRequest } from './transports.ts';

const manyAtOnce = 10_000;

function bodyOf(index: number): Buffer {
  return Buffer.from(delivery(buyInitBody({ partner_order_id: `PO-${index}` })));
}

/** Takes a delivery by `webhooks.node`, with the bytes at hand, and resolves with the status. */
async function byNode(webhooks: ReturnType<typeof recordingWebhooks>['webhooks'], rawBody: Buffer) {
  let status = 0;
  const response = {
    headersSent: false,
    writeHead(sent: number) {
      status = sent;
    },
    end() {},
  };
  const request = { method: 'POST', headers: {}, readableEnded: false, on() {}, rawBody };
  await webhooks.node(request, response);
  return status;
}

async function byFetch(webhooks: ReturnType<typeof recordingWebhooks>['webhooks'], body: Buffer) {
  return (await webhooks.fetch(fetchRequest({ body }))).status;
}

describe.each([
  ['node', byNode],
  ['fetch', byFetch],
])('10,000 deliveries in one turn of the event loop (%s)', (_, post) => {
  it('are all handled, and timers have their turn between them', { timeout: 60_000 }, async () => {
    const bodies = Array.from({ length: manyAtOnce }, (_, index) => bodyOf(index));
    const { events, webhooks } = recordingWebhooks();
    let handledBeforeTimer = Number.NaN;
    const posted = bodies.map((body) => post(webhooks, body));
    setTimeout(() => {
      handledBeforeTimer = events.length;
    });
    const statuses = await Promise.all(posted);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(events).toHaveLength(manyAtOnce);
    expect(handledBeforeTimer).toBeLessThanOrEqual(manyAtOnce / 10);
  });
});

it('a delivery whose sender hangs up before the turn ends is handled, once', async () => {
  const { events, webhooks } = recordingWebhooks();
  const answered = gate();
  await using server = await serve(async (request, response) => {
    // Its last byte is here, and its connection is gone before the end of the turn.
    request.on('end', () => request.socket.destroy());
    await webhooks.node(request, response);
    answered.open();
  });
  const connection = rawConnection(server.port);
  const body = bodyOf(1);
  await connection.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  await answered.opened;
  expect(events).toHaveLength(1);
});
