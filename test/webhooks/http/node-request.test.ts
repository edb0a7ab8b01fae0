import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { NodeRequest, NodeResponse } from '../../../src/webhooks/node-handler.ts';
import type { DeliveryReport } from '../../../src/webhooks/receive-outcome.ts';
import type { WebhooksOptions } from '../../../src/webhooks/webhooks-options.ts';
import { buyInitBody } from '../../support/bodies.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { credentials, delivery, recordingWebhooks } from '../deliveries.ts';

const sent = delivery(buyInitBody({ note: 'é😀' }));
const bytes = Buffer.from(sent);

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A request whose parts come when a test says so, the response to it, and what was reported. */
function open(given: Partial<NodeRequest> = {}, options: WebhooksOptions = {}) {
  const request = Object.assign(new EventEmitter(), {
    method: 'POST',
    headers: { 'content-length': String(bytes.length) },
    readableEnded: false,
    readableDidRead: false,
    httpVersionMajor: 1,
    destroyed: false,
    ...given,
  });
  const written: unknown[] = [];
  const response = {
    headersSent: false,
    writeHead: (status: number, headers: object) => written.push(status, headers),
    end: (body: string) => written.push(`${body} [end]`),
  } satisfies NodeResponse;
  const reports: DeliveryReport[] = [];
  const { events, webhooks } = recordingWebhooks({
    onDelivery: (report) => reports.push(report),
    ...options,
  });
  const start = (to: NodeResponse = response) => webhooks.node(request, to);
  return { request, response, written, events, reports, start };
}

const plain = { 'content-type': 'application/json', 'cache-control': 'no-store' };
const received = [200, expect.objectContaining(plain), '{"received":true} [end]'];

describe('a body over HTTP/1', () => {
  it('that came with its head is complete at its declared length, and no timer is set', async () => {
    const { request, written, events, start } = open({}, { maxBodyBytes: bytes.length });
    const answered = start();
    request.emit('data', bytes);
    await nextTurn();
    expect(vi.getTimerCount()).toBe(0);
    expect(['error', 'close'].map((name) => request.listenerCount(name))).toEqual([0, 0]);
    request.emit('end');
    await answered;
    expect(written).toEqual(received);
    expect(events).toHaveLength(1);
  });

  it.each<[string, Partial<NodeRequest>]>([
    [
      'beside transfer-encoding',
      { headers: { 'content-length': `${bytes.length}`, 'transfer-encoding': 'x' } },
    ],
    ['in HTTP/2', { httpVersionMajor: 2 }],
  ])('%s a length says nothing: the body must end in time', async (_, given) => {
    const { request, written, reports, start } = open(given, { bodyTimeoutMs: 5_000 });
    const answered = start();
    request.emit('data', bytes);
    await nextTurn();
    vi.advanceTimersByTime(4_999);
    await nextTurn();
    expect(written).toEqual([]);
    vi.advanceTimersByTime(1);
    await answered;
    expect(written.slice(0, 2)).toEqual([408, expect.objectContaining({ connection: 'close' })]);
    expect(reports).toMatchObject([{ code: 'body_timeout' }]);
  });

  it('that ends before its time leaves no timer behind', async () => {
    const { request, written, start } = open();
    const answered = start();
    await nextTurn();
    expect(vi.getTimerCount()).toBe(1);
    request.emit('data', bytes.subarray(0, 100));
    request.emit('data', bytes.subarray(100));
    request.emit('end');
    request.emit('close');
    await answered;
    expect(vi.getTimerCount()).toBe(0);
    expect(written).toEqual(received);
  });

  it('is the same when something has made it text, and is measured in bytes', async () => {
    const { request, events, start } = open();
    const answered = start();
    request.emit('data', sent.slice(0, 300));
    request.emit('data', sent.slice(300));
    request.emit('end');
    await answered;
    expect(events).toMatchObject([{ note: 'é😀' }]);

    const long = open({ headers: {} }, { maxBodyBytes: 5 });
    const refused = long.start();
    long.request.emit('data', 'ééé');
    await nextTurn();
    long.request.emit('end');
    await refused;
    expect(long.reports).toMatchObject([{ code: 'body_too_large' }]);
  });
});

it.each([
  ['/orders?a=1', { url: '/orders?a=1' }],
  ['/shop/orders?a=1', { url: '/orders?a=1', originalUrl: '/shop/orders?a=1' }],
])('keys can be looked for by the URL %s and the headers', async (expected, given) => {
  const asked: unknown[] = [];
  const { request, start } = open(
    { ...given, headers: { 'x-partner': 'one' } },
    {
      credentials: ({ url, headers }) => {
        asked.push(url, headers);
        return credentials;
      },
    },
  );
  const answered = start();
  request.emit('data', bytes);
  request.emit('end');
  await answered;
  expect(asked).toEqual([expected, expect.objectContaining({ 'x-partner': 'one' })]);
});

describe('a caller who has left', () => {
  it.each<[string, (request: EventEmitter) => void]>([
    ['closed the connection', (request) => request.emit('close')],
    ['broke the connection', (request) => request.emit('error', new Error('reset'))],
  ])('and %s before the body was complete gets no answer', async (_, leave) => {
    const { request, written, events, reports, start } = open();
    const answered = start();
    request.emit('data', bytes.subarray(0, 100));
    await nextTurn();
    leave(request);
    await answered;
    expect([written, events]).toEqual([[], []]);
    expect(reports).toMatchObject([{ outcome: 'refused', code: 'body_unreadable' }]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([String(bytes.length), '0'])(
    'before the webhooks were reached is not waited for (%s bytes)',
    async (length) => {
      const { written, reports, start } = open({ destroyed: true, headers: { 'content-length': length } });
      await start();
      expect(written).toEqual([]);
      expect(reports).toMatchObject([{ code: 'body_unreadable' }]);
    },
  );

  it('in the same turn is not waited for, though its last event is over', async () => {
    const { request, written, reports, start } = open();
    const answered = start();
    request.destroyed = true;
    await answered;
    expect(written).toEqual([]);
    expect(reports).toMatchObject([{ code: 'body_unreadable' }]);
  });
});

describe('a body that a framework keeps', () => {
  it.each<[string, Partial<NodeRequest>]>([
    ['as text', { body: sent }],
    ['as bytes', { body: Uint8Array.from(bytes) }],
    ['as a part of other bytes', { body: Buffer.concat([bytes, bytes]).subarray(bytes.length) }],
    ['beside what it has parsed', { body: {}, rawBody: bytes }],
  ])('%s is taken, whatever the stream says', async (_, given) => {
    const { written, events, start } = open({ ...given, readableEnded: true, readableDidRead: true });
    await start();
    expect(written).toEqual(received);
    expect(events).toMatchObject([{ note: 'é😀' }]);
  });

  const throwing = {
    get body() {
      throw new SyntaxError('Invalid JSON');
    },
    get rawBody() {
      throw new Error('no bytes are kept');
    },
  };

  it('in a member that throws when it is read is none: the stream is read', async () => {
    const { request, written, events, start } = open();
    Object.defineProperties(request, Object.getOwnPropertyDescriptors(throwing));
    const answered = start();
    request.emit('data', bytes);
    request.emit('end');
    await answered;
    expect(written).toEqual(received);
    expect(events).toHaveLength(1);
  });

  it.each<[string, Partial<NodeRequest>]>([
    ['an object', { body: {} }],
    ['nothing', { readableEnded: true }],
  ])('as %s is refused where the stream was read', async (_, given) => {
    const { reports, start } = open({ readableDidRead: true, ...given });
    await start();
    expect(reports).toMatchObject([{ code: 'raw_body_required' }]);
  });

  it.each<[string, Partial<NodeRequest>]>([
    ['an empty object that no parser has filled', { body: {}, readableDidRead: false }],
    ['null', { body: null, readableDidRead: true }],
    ['a number', { body: 5, readableDidRead: true }],
  ])('as %s is none: the stream is read', async (_, given) => {
    const { request, written, start } = open(given);
    const answered = start();
    request.emit('data', bytes);
    request.emit('end');
    await answered;
    expect(written).toEqual(received);
  });
});

describe('a refused request', () => {
  const refusal = [405, expect.objectContaining(plain), '{"error":"method_not_allowed"} [end]'];

  it('whose body does not end in time breaks its connection off', async () => {
    const { request, written, start } = open({ method: 'PUT' }, { bodyTimeoutMs: 5_000 });
    Object.assign(request, { destroy: () => written.push('destroyed') });
    await start();
    vi.advanceTimersByTime(4_999);
    expect(written).toEqual(refusal);
    vi.advanceTimersByTime(1);
    expect(written).toEqual([...refusal, 'destroyed']);
  });

  it('whose body ends in time leaves the connection as it is', async () => {
    const { request, written, start } = open({ method: 'PUT' });
    await start();
    request.emit('close');
    expect(vi.getTimerCount()).toBe(0);
    expect(written).toEqual(refusal);
  });

  it.each<[string, Partial<NodeRequest>]>([
    ['for its method', { method: 'GET' }],
    ['for its length', { headers: { 'content-length': '99999999' } }],
    ['for a body that is no longer there', { readableEnded: true, readableDidRead: true }],
  ])('%s is not answered again when something else has answered', async (_, given) => {
    const { response, written, start } = open(given);
    await start({ ...response, headersSent: true });
    expect([written, vi.getTimerCount()]).toEqual([[], 0]);
  });
});
