import { describe, expect, it, vi } from 'vitest';
import type {
  NoResponseObservation,
  RequestObservation,
  ResponseObservation,
} from '../../src/client/client-options.ts';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { MessengerClient } from '../../src/client/messenger-client.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { orderIdDigest } from '../../src/deployment/reply-shape.ts';
import { startServer } from '../support/local-server.ts';
import { checkNumber, createOrder, deploymentAt, order, requestError, told, whitelistIp } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

describe('onRequest', () => {
  it('sees each attempt with its number', async () => {
    const seen: RequestObservation[] = [];
    const server = await startServer({ status: 503 });
    await told(whitelistIp(server.url, { onRequest: (request) => seen.push(request) }));
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  it('sees operation, method, address and size of the body', async () => {
    const seen: RequestObservation[] = [];
    const server = await startServer({});
    await createOrder(server.url, { onRequest: (request) => seen.push(request) });
    expect(seen).toMatchObject([
      {
        operation: 'createOrder',
        method: 'POST',
        url: `${server.url}/api/v1/no-auth/PartnerP2P/CreateOrder/`,
        bodyBytes: server.requests[0]?.body.byteLength,
      },
    ]);
  });

  it.each(['x-gateway-key', 'forwarded'])(
    "sees that the deployment's own header %s is sent, and not its value",
    async (name) => {
      const seen: (RequestObservation | ResponseObservation)[] = [];
      const server = await startServer((response, { headers }) => {
        response.writeHead(200, { 'x-echo': `${name} was ${headers[name]}` }).end();
      });
      const deployment = deploymentAt(server.url, { headers: { [name]: 'own-value-7712', 'x-hop': '1' } });
      const observe = (one: RequestObservation | ResponseObservation) => seen.push(one);
      await new ExchangeClient({ deployment, onRequest: observe, onResponse: observe }).whitelistIp();
      expect(seen[0]?.headers).toMatchObject({ [name]: '[redacted]', 'x-hop': '[redacted]' });
      expect(seen[1]?.headers['x-echo']).toBe('[redacted]');
      expect(server.requests[0]?.headers[name]).toBe('own-value-7712');
    },
  );

  it('sees the names of query parameters, and not their values', async () => {
    const seen: RequestObservation[] = [];
    const server = await startServer({});
    await checkNumber(server.url, { onRequest: (request) => seen.push(request) });
    expect(seen[0]?.url).toBe(`${server.url}/numbers/check?api_key=[redacted]&to_phone=[redacted]`);
    expect(seen[0]?.bodyBytes).toBe(0);
  });
});

describe('onResponse', () => {
  it.each(['set-cookie', 'x-refresh-token'])('does not see the value of %s', async (name) => {
    const seen: ResponseObservation[] = [];
    const server = await startServer({ headers: { [name]: 'v4lue', 'x-request-id': 'r-17' } });
    await whitelistIp(server.url, { onResponse: (response) => seen.push(response) });
    expect(seen[0]?.headers).toMatchObject({ [name]: '[redacted]', 'x-request-id': 'r-17' });
  });

  it('sees no digest of a master key, which could be guessed', async () => {
    const seen: ResponseObservation[] = [];
    const server = await startServer({});
    const deployment = defineDeployment({ messengerBaseUrl: server.url });
    const onResponse = (reply: ResponseObservation) => seen.push(reply);
    const messenger = new MessengerClient({ deployment, masterKey: 'hunter2-hunter2', onResponse });
    await messenger.generateApiKey({ messenger_device_no: '1001' });
    expect(seen).toHaveLength(1);
    expect(seen[0]).not.toHaveProperty('key');
  });

  it('sees the shape of the body, which order it was and which key signed, and none of their values', async () => {
    const seen: ResponseObservation[] = [];
    const body = JSON.stringify({ status: 'accepted', link: 'https://pay.example/x1' });
    const server = await startServer({ body }, { body: 'OK' });
    const onResponse = (reply: ResponseObservation) => seen.push(reply);
    await createOrder(server.url, { now: () => 1_700_000_000_000, onResponse });
    await whitelistIp(server.url, { onResponse });
    expect(seen[0]).toMatchObject({
      at: '2023-11-14T22:13:20.000Z',
      order: orderIdDigest(order.partner_order_id),
      key: expect.stringMatching(/^[0-9a-f]{16}$/),
      shape: { status: 'accepted', link: 'text' },
    });
    expect(seen[1]?.shape).toMatch(/^text:/);
    expect(seen[1]).not.toHaveProperty('order');
    for (const value of [order.partner_order_id, 'pay.example', 'pk_partner_4f1d20'])
      expect(JSON.stringify(seen)).not.toContain(value);
  });

  it('says of a body that is too large that it has no shape', async () => {
    const seen: ResponseObservation[] = [];
    const server = await startServer({ body: '{"a":"0123456789"}' });
    const onResponse = (reply: ResponseObservation) => seen.push(reply);
    await told(createOrder(server.url, { maxReplyBytes: 4, onResponse }));
    expect(seen[0]).toMatchObject({ status: 200, failure: 'too_large', shape: undefined });
  });
});

describe('onNoResponse', () => {
  it('sees each attempt that ends without a reply, and whether the service can have acted', async () => {
    const seen: NoResponseObservation[] = [];
    const server = await startServer((response) => response.destroy());
    let clock = 1_000;
    const options = {
      now: () => (clock += 25),
      onNoResponse: (one: NoResponseObservation) => seen.push(one),
    };
    await told(checkNumber(server.url, options));
    expect(seen).toHaveLength(3);
    expect(seen[0]).toMatchObject({
      operation: 'checkNumber',
      method: 'GET',
      url: `${server.url}/numbers/check?api_key=[redacted]&to_phone=[redacted]`,
      code: 'network_error',
      outcome: 'unknown',
      attempt: 1,
    });
    expect(seen[0]?.durationMs).toBeGreaterThan(0);
  });

  it.each([
    ['timeout', { timeoutMs: 1_000, maxAttempts: 1 }, () => ({})],
    ['aborted', {}, () => ({ signal: AbortSignal.timeout(1_000) })],
  ])('sees that one was cut off: %s', async (code, options, callOptions) => {
    const seen: NoResponseObservation[] = [];
    const server = await startServer(() => {});
    await told(createOrder(server.url, { ...options, onNoResponse: (one) => seen.push(one) }, callOptions()));
    await vi.waitFor(() => expect(seen).toMatchObject([{ code, outcome: 'unknown' }]));
  });

  it('sees a connection that could not be made', async () => {
    const seen: NoResponseObservation[] = [];
    await told(createOrder('http://127.0.0.1:1', { maxAttempts: 1, onNoResponse: (one) => seen.push(one) }));
    expect(seen).toMatchObject([{ code: 'connection_failed', outcome: 'not-sent' }]);
  });
});

describe.each(['onRequest', 'onResponse'] as const)('%s that fails', (name) => {
  // Each operation warns once in a process.
  it.each([
    [
      'by throwing',
      'createOrder',
      createOrder,
      () => {
        throw new RangeError('boom');
      },
    ],
    ['by rejecting', 'whitelistIp', whitelistIp, async () => Promise.reject(new RangeError('boom'))],
  ] as const)(
    '%s does not break the call, and is reported as a warning',
    async (_, operation, run, observer) => {
      const server = await startServer({ body: '{"ok":true}' });
      const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
      expect((await run(server.url, { [name]: observer })).body).toEqual({ ok: true });
      expect(await warned).toMatchObject({
        name: 'PartnerExchangeWarning',
        message: `${name} of ${operation} failed; nothing else is affected.`,
      });
    },
  );
});

it('an attempt that was not made is not seen', async () => {
  const seen: RequestObservation[] = [];
  const signal = AbortSignal.abort();
  const onRequest = (request: RequestObservation) => seen.push(request);
  await requestError(createOrder('http://127.0.0.1:9', { onRequest }, { signal }));
  expect(seen).toEqual([]);
});
