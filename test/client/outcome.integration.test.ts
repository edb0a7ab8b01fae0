import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { type Answer, closedUrl, startServer } from '../support/local-server.ts';
import {
  cautious,
  createOrder,
  credentials,
  deploymentAt,
  harmless,
  order,
  requestError,
  sendMessage,
  told,
  whitelistIp,
} from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

const html = '<html><h1>Out of order</h1></html>';
const ok = { body: '{"ok":true}' };
const broken: Answer = (response) => response.destroy();

describe.each(cautious)('%s', (_, run) => {
  it.each([
    [503, 'unknown'],
    [400, 'refused'],
  ])('is sent once when the answer is %i, and its outcome is %s', async (status, outcome) => {
    const server = await startServer({ status, body: html });
    expect(await told(run(server.url))).toEqual({
      code: 'http_error',
      outcome,
      status,
      body: html,
      attempts: 1,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('is sent once when the connection breaks before the reply, and may have been acted on', async () => {
    const server = await startServer(broken);
    expect(await told(run(server.url))).toEqual({ code: 'network_error', outcome: 'unknown', attempts: 1 });
    expect(server.requests).toHaveLength(1);
  });

  it('is tried again when the connection is refused, and was not sent', async () => {
    const closed = await closedUrl();
    expect(await told(run(closed))).toEqual({ code: 'connection_failed', outcome: 'not-sent', attempts: 3 });
    const server = await startServer(ok);
    expect((await run(server.url, { fetch: refusedOnce(closed) })).body).toEqual({ ok: true });
    expect(server.requests).toHaveLength(1);
  });
});

describe.each(cautious.filter(([name]) => name !== 'createOrder'))('%s', (_, run) => {
  it('is sent again on 429 with the same bytes until the limit, and refused', async () => {
    const server = await startServer({ status: 429 });
    expect(await told(run(server.url))).toMatchObject({ outcome: 'refused', status: 429, attempts: 3 });
    expect(server.requests).toHaveLength(3);
    expect(server.requests[1]?.body).toEqual(server.requests[0]?.body);
    expect(server.requests[1]?.headers).toEqual(server.requests[0]?.headers);
  });
});

it.each([
  [408, 'unknown'],
  [500, 'unknown'],
  [401, 'refused'],
  [404, 'refused'],
  [409, 'refused'],
  [423, 'refused'],
  // Beyond HTTP.
  [999, 'unknown'],
])('a message answered %i is sent once, and its outcome is %s', async (status, outcome) => {
  const server = await startServer({ status });
  expect(await told(sendMessage(server.url))).toMatchObject({
    code: 'http_error',
    outcome,
    status,
    attempts: 1,
  });
  expect(server.requests).toHaveLength(1);
});

describe('createOrder', () => {
  it.each([409, 423])(
    'is sent once when the answer is %i, and unknown: the service may say that it has the order',
    async (status) => {
      const server = await startServer({ status, body: html });
      const error = await requestError(createOrder(server.url));
      expect(error).toMatchObject({ code: 'http_error', outcome: 'unknown', status, attempts: 1 });
      expect(error.assumptions).toEqual(['order-conflict', 'partner-order-id']);
      expect(server.requests).toHaveLength(1);
    },
  );

  it('is unknown when the head of a 409 comes, and its body never does', async () => {
    const server = await startServer((response) => {
      response.writeHead(409).write('{');
    });
    expect(await requestError(createOrder(server.url, { timeoutMs: 1_000 }))).toMatchObject({
      outcome: 'unknown',
      status: 409,
    });
  });

  it.each([
    [{ 409: 'refused' }, 409, 'refused'],
    [{ 409: 'refused' }, 423, 'unknown'],
    [{ 429: 'unknown' }, 429, 'unknown'],
    [{ 404: 'unknown' }, 404, 'unknown'],
  ] as const)('with orderStatuses %j is after %i %s', async (orderStatuses, status, outcome) => {
    const server = await startServer({ status });
    const deployment = deploymentAt(server.url, { orderStatuses });
    const exchange = new ExchangeClient({ deployment, credentials, retry: { firstDelayMs: 0 } });
    expect(await requestError(exchange.createOrder(order))).toMatchObject({ outcome, status, attempts: 1 });
    expect(await requestError(exchange.whitelistIp())).toMatchObject({ outcome: 'refused' });
  });

  it('is sent once when the answer is 429: that the service did not act is assumed, and a second order costs money', async () => {
    const server = await startServer({ status: 429, headers: { 'retry-after': '1' } });
    expect(await requestError(createOrder(server.url))).toMatchObject({
      outcome: 'refused',
      attempts: 1,
      retryAfterMs: 1000,
      assumptions: ['request-limits', 'order-rate-limit'],
    });
    expect(server.requests).toHaveLength(1);
  });
});

describe.each(harmless)('%s', (_, run) => {
  it.each<[string, Answer]>([
    ['the answer is 408', { status: 408 }],
    ['the answer is 429', { status: 429 }],
    ['the answer is 599', { status: 599 }],
    ['the connection breaks before the reply', broken],
    ['the connection breaks in the reply', cutShort],
  ])('is sent again when %s', async (_, answer) => {
    const server = await startServer(answer, answer, ok);
    expect((await run(server.url)).body).toEqual({ ok: true });
    expect(server.requests).toHaveLength(3);
  });

  it('is sent as often as the limit allows, and may have been acted on', async () => {
    const server = await startServer({ status: 503 });
    expect(await told(run(server.url))).toMatchObject({ outcome: 'unknown', status: 503, attempts: 3 });
    expect((await requestError(run(server.url, { maxAttempts: 1 }))).attempts).toBe(1);
    expect(server.requests).toHaveLength(4);
  });

  it('is sent once when the answer is 400', async () => {
    const server = await startServer({ status: 400 });
    expect(await told(run(server.url))).toMatchObject({ outcome: 'refused', status: 400, attempts: 1 });
    expect(server.requests).toHaveLength(1);
  });
});

describe.each([
  ['createOrder', createOrder],
  ['whitelistIp', whitelistIp],
])('%s', (_, run) => {
  it.each([
    [302, 'unknown'],
    [303, 'unknown'],
    [307, 'refused'],
    [308, 'refused'],
  ])('does not follow a redirect with %i, whose address is in the headers', async (status, outcome) => {
    const elsewhere = await startServer({});
    const location = `${elsewhere.url}/there`;
    const server = await startServer({ status, headers: { location } });
    const error = await requestError(run(server.url));
    expect(error).toMatchObject({ code: 'redirected', outcome, status, attempts: 1 });
    expect(error.headers?.get('location')).toBe(location);
    expect(server.requests).toHaveLength(1);
    expect(elsewhere.requests).toHaveLength(0);
  });
});

describe('the outcome of several attempts is the least certain one', () => {
  it('is unknown when the connection breaks after a 429', async () => {
    const server = await startServer({ status: 429 }, broken);
    expect(await told(sendMessage(server.url))).toMatchObject({ outcome: 'unknown', attempts: 2 });
  });

  it('is refused when the connection is refused after a 429', async () => {
    const server = await startServer((response) => {
      server.stopListening();
      response.writeHead(429, { connection: 'close' }).end();
    });
    expect(await told(sendMessage(server.url))).toEqual({
      code: 'connection_failed',
      outcome: 'refused',
      attempts: 3,
    });
  });

  it('is unknown when a 400 comes after a 503', async () => {
    const server = await startServer({ status: 503 }, { status: 400 });
    expect(await told(whitelistIp(server.url))).toMatchObject({
      outcome: 'unknown',
      status: 400,
      attempts: 2,
    });
  });
});

/** Announces more than it sends. */
function cutShort(response: Parameters<Extract<Answer, (...args: never[]) => void>>[0]): void {
  response.writeHead(200, { 'content-length': '100' });
  response.write('{"ok":', () => response.destroy());
}

/** The first request goes where nothing listens. */
function refusedOnce(closed: string): (request: Request) => Promise<Response> {
  let sent = 0;
  return (request) => fetch(sent++ === 0 ? new Request(closed, request) : request);
}
