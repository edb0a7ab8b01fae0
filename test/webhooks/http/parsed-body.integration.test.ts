import { buffer } from 'node:stream/consumers';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { buyInitBody } from '../../support/bodies.ts';
import { delivery, recordingWebhooks } from '../deliveries.ts';
import { warningsDuring } from '../warnings.ts';
import { send, serve } from './server.ts';

const sent = delivery(buyInitBody({ note: 'é😀' }));

/** What is answered when a framework has read the body and left these members on the request. */
async function answeredAfter(leave: (body: Buffer) => object, body: string | Uint8Array = sent) {
  const { events, webhooks } = recordingWebhooks();
  await using server = await serve(async (request, response) => {
    await webhooks.node(Object.assign(request, leave(await buffer(request))), response);
  });
  let answer = { status: 0, body: '' };
  const warnings = await warningsDuring(async () => {
    answer = await send(server.port, { body });
  });
  return { events, answer, warnings };
}

describe('a body that a framework has read', () => {
  it.each<[string, (body: Buffer) => object]>([
    [
      'rawBody as bytes, as serverless platforms keep it',
      (body) => ({ rawBody: body, body: JSON.parse(`${body}`) }),
    ],
    ['rawBody as text', (body) => ({ rawBody: `${body}`, body: JSON.parse(`${body}`) })],
    ['body as bytes, as of express.raw', (body) => ({ body })],
    ['body as a plain Uint8Array', (body) => ({ body: Uint8Array.from(body) })],
    [
      'body as bytes of another realm, as under jest',
      (body) => ({ body: runInNewContext(`Uint8Array.of(${[...body]})`) }),
    ],
    ['body as text, as of express.text', (body) => ({ body: `${body}` })],
  ])('is taken from %s', async (_, leave) => {
    const { events, answer, warnings } = await answeredAfter(leave);
    expect(answer.status).toBe(200);
    expect(events).toEqual([JSON.parse(sent)]);
    expect(warnings).toEqual([]);
  });

  it.each<[string, (body: Buffer) => object]>([
    ['only an object of it is left, as of express.json', (body) => ({ body: JSON.parse(`${body}`) })],
    ['an empty object is left', () => ({ body: {} })],
    ['nothing of it is left', () => ({})],
    ['null is left', () => ({ body: null })],
    ['rawBody is left as an object', () => ({ rawBody: {} })],
  ])('is not guessed at when %s: 500, and how to do it right', async (_, leave) => {
    const { events, answer, warnings } = await answeredAfter(leave);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([500, { error: 'raw_body_required' }]);
    expect(String(warnings)).toContain('docs/details/webhooks.md#the-body-was-parsed-first');
    expect(events).toEqual([]);
  });

  it('is read from the stream where a framework has only set an object, as Express 4 does', async () => {
    const { events, webhooks } = recordingWebhooks();
    await using server = await serve(async (request, response) => {
      await webhooks.node(Object.assign(request, { body: {} }), response);
    });
    expect(await send(server.port, { body: sent })).toMatchObject({ status: 200 });
    expect(events).toHaveLength(1);
  });

  it('is complained of once, however many requests come', async () => {
    const { webhooks } = recordingWebhooks();
    await using server = await serve(async (request, response) => {
      for await (const _ of request);
      await webhooks.node(Object.assign(request, { body: JSON.parse(sent) }), response);
    });
    const warnings = await warningsDuring(async () => {
      await send(server.port, { body: sent });
      await send(server.port, { body: sent });
    });
    expect(warnings).toHaveLength(1);
  });

  it('is held to the limit', async () => {
    const big = delivery(buyInitBody({ filler: 'x'.repeat(300_000) }));
    const { answer } = await answeredAfter((body) => ({ rawBody: body }), big);
    expect(answer.status).toBe(413);
  });

  it('is refused when it is not authentic', async () => {
    const { events, answer } = await answeredAfter(() => ({ rawBody: '{"signature":"x"}' }));
    expect(answer.status).toBe(401);
    expect(events).toEqual([]);
  });

  it('is verified when the stream was told to give text', async () => {
    const { events, webhooks } = recordingWebhooks();
    await using server = await serve((request, response) => {
      request.setEncoding('utf8');
      return webhooks.node(request, response);
    });
    expect(await send(server.port, { body: sent })).toMatchObject({ status: 200 });
    const big = 'x'.repeat(300_000);
    expect(await send(server.port, { body: big })).toMatchObject({ status: 413 });
    expect(events).toHaveLength(1);
  });
});
