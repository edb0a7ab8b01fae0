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
  type Run,
  requestError,
  sendMessage,
  told,
  whitelistIp,
} from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

const html = '<html><h1>Out of order</h1></html>';

describe.each(cautious)('%s', (_, run) => {
  it.each([408, 500, 502, 503, 504])(
    'is sent once when the answer is %i, and may have been acted on',
    async (status) => {
      const server = await startServer({ status, body: html });
      expect(await told(run(server.url))).toEqual({
        code: 'http_error',
        outcome: 'unknown',
        status,
        body: html,
        attempts: 1,
      });
      expect(server.requests).toHaveLength(1);
    },
  );

  it.each([400, 401, 403, 404, 422])('is sent once when the answer is %i, and refused', async (status) => {
    const server = await startServer({ status, body: html });
    expect(await told(run(server.url))).toEqual({
      code: 'http_error',
      outcome: 'refused',
      status,
      body: html,
      attempts: 1,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('is sent once when the connection breaks before the reply, and may have been acted on', async () => {
    const server = await startServer((response) => response.destroy());
    expect(await told(run(server.url))).toEqual({ code: 'network_error', outcome: 'unknown', attempts: 1 });
    expect(server.requests).toHaveLength(1);
  });

  it('is tried again when the connection is refused, and was not sent', async () => {
    expect(await told(run(await closedUrl()))).toEqual({
      code: 'connection_failed',
      outcome: 'not-sent',
      attempts: 3,
    });
  });

  it('succeeds when the service is reached at the second try', async () => {
    const server = await startServer({ body: '{"ok":true}' });
    expect((await run(server.url, { fetch: refusedOnce(await closedUrl()) })).body).toEqual({ ok: true });
    expect(server.requests).toHaveLength(1);
  });
});

describe.each(cautious.filter(([name]) => name !== 'createOrder'))('%s', (_, run) => {
  it.each([409, 423])('is sent once when the answer is %i, and refused', async (status) => {
    const server = await startServer({ status });
    expect(await told(run(server.url))).toMatchObject({ outcome: 'refused', status, attempts: 1 });
    expect(server.requests).toHaveLength(1);
  });

  it('is sent again on 429 until the limit, and refused', async () => {
    const server = await startServer({ status: 429 });
    expect(await told(run(server.url))).toEqual({
      code: 'http_error',
      outcome: 'refused',
      status: 429,
      attempts: 3,
    });
    expect(server.requests).toHaveLength(3);
  });

  it('sends the same bytes again after 429', async () => {
    const server = await startServer({ status: 429 }, {});
    await run(server.url);
    expect(server.requests[1]?.body).toEqual(server.requests[0]?.body);
    expect(server.requests[1]?.headers).toEqual(server.requests[0]?.headers);
  });
});

describe('createOrder', () => {
  it.each([409, 423])(
    'is sent once when the answer is %i, and unknown: the service may say that it has the order',
    async (status) => {
      const server = await startServer({ status, body: html });
      const error = await requestError(createOrder(server.url));
      expect(error).toMatchObject({ code: 'http_error', outcome: 'unknown', status, attempts: 1 });
      expect(error.assumptions).toEqual(['order-conflict', 'partner-order-id']);
      expect(error.message).toContain('(orderStatuses)');
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

  it('says after a 429 which assumptions may be wrong', async () => {
    const server = await startServer({ status: 429 });
    const { assumptions } = await requestError(createOrder(server.url));
    expect(assumptions).toEqual(['request-limits', 'order-rate-limit']);
  });

  it('is sent once when the answer is 429: that the service did not act is assumed, and a second order costs money', async () => {
    const server = await startServer({ status: 429, headers: { 'retry-after': '1' } });
    expect(await requestError(createOrder(server.url))).toMatchObject({
      outcome: 'refused',
      status: 429,
      attempts: 1,
      retryAfterMs: 1000,
    });
    expect(server.requests).toHaveLength(1);
  });
});

describe.each(harmless)('%s', (_, run) => {
  it.each([408, 429, 500, 502, 503, 504, 599])('is sent again when the answer is %i', async (status) => {
    const server = await startServer({ status }, { status }, { body: '{"ok":true}' });
    expect((await run(server.url)).body).toEqual({ ok: true });
    expect(server.requests).toHaveLength(3);
  });

  it('is sent again when the connection breaks before the reply', async () => {
    const server = await startServer((response) => response.destroy(), { body: '{"ok":true}' });
    expect((await run(server.url)).body).toEqual({ ok: true });
    expect(server.requests).toHaveLength(2);
  });

  it('is sent again when the connection breaks in the reply', async () => {
    const server = await startServer(cutShort, { body: '{"ok":true}' });
    expect((await run(server.url)).body).toEqual({ ok: true });
    expect(server.requests).toHaveLength(2);
  });

  it('is sent again when the connection is refused', async () => {
    const server = await startServer({ body: '{"ok":true}' });
    expect((await run(server.url, { fetch: refusedOnce(await closedUrl()) })).body).toEqual({ ok: true });
  });

  it('is sent as often as the limit allows, and may have been acted on', async () => {
    const server = await startServer({ status: 503, body: html });
    expect(await told(run(server.url))).toEqual({
      code: 'http_error',
      outcome: 'unknown',
      status: 503,
      body: html,
      attempts: 3,
    });
    expect(server.requests).toHaveLength(3);
  });

  it.each([400, 401, 403, 404, 422])('is sent once when the answer is %i', async (status) => {
    const server = await startServer({ status });
    expect(await told(run(server.url))).toEqual({
      code: 'http_error',
      outcome: 'refused',
      status,
      attempts: 1,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('is sent once with a retry limit of 0', async () => {
    const server = await startServer({ status: 503 });
    expect((await requestError(run(server.url, { maxAttempts: 1 }))).attempts).toBe(1);
    expect(server.requests).toHaveLength(1);
  });
});

describe.each([
  ['createOrder', createOrder],
  ['whitelistIp', whitelistIp],
] as [string, Run][])('%s', (_, run) => {
  it('takes a status beyond HTTP for an error that tells nothing', async () => {
    const server = await startServer({ status: 999, body: 'blocked' });
    expect(await told(run(server.url))).toEqual({
      code: 'http_error',
      outcome: 'unknown',
      status: 999,
      body: 'blocked',
      attempts: 1,
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [301, 'unknown'],
    [302, 'unknown'],
    [303, 'unknown'],
    [307, 'refused'],
    [308, 'refused'],
  ])('does not follow a redirect with %i', async (status, outcome) => {
    const elsewhere = await startServer({});
    const server = await startServer({ status, headers: { location: `${elsewhere.url}/there` } });
    expect(await told(run(server.url))).toEqual({ code: 'redirected', outcome, status, attempts: 1 });
    expect(server.requests).toHaveLength(1);
    expect(elsewhere.requests).toHaveLength(0);
  });

  it('shows the address of a redirect in the headers', async () => {
    const server = await startServer({ status: 307, headers: { location: 'https://moved.example/' } });
    expect((await requestError(run(server.url))).headers?.get('location')).toBe('https://moved.example/');
  });
});

describe('the outcome of several attempts is the least certain one', () => {
  const broken: Answer = (response) => response.destroy();

  it('is unknown when the connection breaks after a 429', async () => {
    const server = await startServer({ status: 429 }, broken);
    expect(await told(sendMessage(server.url))).toEqual({
      code: 'network_error',
      outcome: 'unknown',
      attempts: 2,
    });
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

  it('is refused when a 400 comes after a connection was refused', async () => {
    const server = await startServer({ status: 400 });
    expect(await told(createOrder(server.url, { fetch: refusedOnce(await closedUrl()) }))).toEqual({
      code: 'http_error',
      outcome: 'refused',
      status: 400,
      attempts: 2,
    });
  });

  it('is unknown when a 400 comes after a 503', async () => {
    const server = await startServer({ status: 503 }, { status: 400 });
    expect(await told(whitelistIp(server.url))).toEqual({
      code: 'http_error',
      outcome: 'unknown',
      status: 400,
      attempts: 2,
    });
  });

  it('is unknown when a 429 comes after the connection broke', async () => {
    const server = await startServer(broken, { status: 429 });
    expect(await told(whitelistIp(server.url, { maxAttempts: 2, retry: { firstDelayMs: 0 } }))).toEqual({
      code: 'http_error',
      outcome: 'unknown',
      status: 429,
      attempts: 2,
    });
  });
});

describe('the message', () => {
  it.each([
    [503, 'it may have acted: look first'],
    [400, 'did not act'],
  ])('says after %i what to do next', async (status, advice) => {
    const server = await startServer({ status });
    const error = await requestError(createOrder(server.url));
    expect(error.message).toContain(`createOrder: the service answered (status ${status})`);
    expect(error.message).toContain(advice);
  });

  it('says that a request which was not sent can be repeated', async () => {
    expect((await requestError(createOrder(await closedUrl()))).message).toContain('safe to repeat');
  });

  it('cites the assumptions that may be wrong', async () => {
    const server = await startServer({ status: 404 });
    const error = await requestError(createOrder(server.url));
    expect(error.assumptions).toEqual(['order-path']);
    expect(error.message).toContain('paths.createOrder');
  });

  it('names the operation, the method and the address', async () => {
    const server = await startServer({ status: 400 });
    const { operation, method, url } = await requestError(createOrder(server.url));
    expect({ operation, method, url }).toEqual({
      operation: 'createOrder',
      method: 'POST',
      url: `${server.url}/api/v1/no-auth/PartnerP2P/CreateOrder/`,
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
