import { describe, expect, it } from 'vitest';
import { buyInitBody } from '../../support/bodies.ts';
import { delivery, recordingWebhooks } from '../deliveries.ts';
import { warningsDuring } from '../warnings.ts';
import { fetchRequest } from './transports.ts';

const sent = delivery(buyInitBody({ note: 'é😀' }));
const bytes = Buffer.from(sent);

function streamed(source: UnderlyingDefaultSource<unknown>): Request {
  // Sound: what a stream of the wrong kind of chunks does is what some tests are about.
  const body = new ReadableStream(source) as ReadableStream<Uint8Array>;
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' };
  return new Request('https://partner.example/callback', init);
}

describe('a body in pieces', () => {
  it('is put together from single bytes and empty pieces', async () => {
    const { events, webhooks } = recordingWebhooks();
    const body = Array.from(bytes, (byte) => [Uint8Array.of(byte), new Uint8Array()]).flat();
    expect((await webhooks.fetch(fetchRequest({ body }))).status).toBe(200);
    expect(events).toMatchObject([{ note: 'é😀' }]);
  });
});

describe('a body that breaks off', () => {
  it('is answered 400, and no handler is called', async () => {
    const { events, webhooks } = recordingWebhooks();
    const pieces = [bytes.subarray(0, 100)].values();
    const request = streamed({
      pull(controller) {
        const { value } = pieces.next();
        if (value) controller.enqueue(value);
        else controller.error(new Error('connection reset'));
      },
    });
    const response = await webhooks.fetch(request);
    expect([response.status, await response.json()]).toEqual([400, { error: 'body_unreadable' }]);
    expect(events).toEqual([]);
  });

  it('because its stream gives text in place of bytes is answered 400', async () => {
    const pieces = [sent.slice(0, 9), sent.slice(9)];
    const { events, webhooks } = recordingWebhooks();
    const request = streamed({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    const response = await webhooks.fetch(request);
    expect([response.status, await response.json()]).toEqual([400, { error: 'body_unreadable' }]);
    expect(events).toEqual([]);
  });
});

describe('a body that something has read before', () => {
  it.each<[string, (request: Request) => unknown]>([
    ['was parsed', (request) => request.json()],
    ['was read as text', (request) => request.text()],
    ['is being read', (request) => request.body?.getReader()],
  ])('is not guessed at when it %s: 500, and how to do it right', async (_, read) => {
    const { events, webhooks } = recordingWebhooks();
    const request = fetchRequest({ body: sent });
    await read(request);
    let response = new Response();
    const warnings = await warningsDuring(async () => {
      response = await webhooks.fetch(request);
    });
    expect([response.status, await response.json()]).toEqual([500, { error: 'raw_body_required' }]);
    expect(String(warnings)).toContain('docs/details/webhooks.md#the-body-was-parsed-first');
    expect(events).toEqual([]);
  });

  it.each(['PUT', 'POST'])('does no harm when the %s is refused by its head', async (method) => {
    const request = fetchRequest({ method, body: sent, headers: { 'content-type': 'text/plain' } });
    const reader = request.body?.getReader();
    expect((await recordingWebhooks().webhooks.fetch(request)).ok).toBe(false);
    await reader?.cancel();
  });
});

it('a HEAD is refused without a body', async () => {
  const response = await recordingWebhooks().webhooks.fetch(
    new Request('https://x.example', { method: 'HEAD' }),
  );
  expect([response.status, response.body]).toEqual([405, null]);
});
