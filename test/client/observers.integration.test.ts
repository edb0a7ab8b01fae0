import { describe, expect, it, vi } from 'vitest';
import type {
  ObservedAttempt,
  ObservedResponse,
  UnansweredAttempt,
} from '../../src/client/client-options.ts';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { MessengerClient } from '../../src/client/messenger-client.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { orderIdDigest } from '../../src/deployment/reply-shape.ts';
import { startServer } from '../support/local-server.ts';
import { checkNumber, createOrder, deploymentAt, order, requestError, told, whitelistIp } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

it('onRequest sees each attempt, and of its address the names of query parameters alone', async () => {
  const seen: ObservedAttempt[] = [];
  const server = await startServer({ status: 503 });
  await told(checkNumber(server.url, { onRequest: (attempt) => seen.push(attempt) }));
  const url = `${server.url}/numbers/check?api_key=[redacted]&to_phone=[redacted]`;
  const attempts = [1, 2, 3].map((attempt) => ({ operation: 'checkNumber', method: 'GET', url, attempt }));
  expect(seen).toEqual(attempts);
});

describe('onResponse', () => {
  it("sees no value of the deployment's own headers that a reply repeats", async () => {
    const seen: ObservedResponse[] = [];
    const server = await startServer((response, { headers }) => {
      response.writeHead(200, { 'x-echo': `x-gateway was ${headers['x-gateway']}` }).end();
    });
    const deployment = deploymentAt(server.url, { headers: { 'x-gateway': 'own-value-7712' } });
    await new ExchangeClient({ deployment, onResponse: (reply) => seen.push(reply) }).whitelistIp();
    expect(seen[0]?.headers['x-echo']).toBe('[redacted]');
    expect(server.requests[0]?.headers['x-gateway']).toBe('own-value-7712');
  });

  it.each(['set-cookie', 'x-refresh-token'])('does not see the value of %s', async (name) => {
    const seen: ObservedResponse[] = [];
    const server = await startServer({ headers: { [name]: 'v4lue', 'x-request-id': 'r-17' } });
    await whitelistIp(server.url, { onResponse: (response) => seen.push(response) });
    expect(seen[0]?.headers).toMatchObject({ [name]: '[redacted]', 'x-request-id': 'r-17' });
  });

  it('sees no digest of a master key, which could be guessed', async () => {
    const seen: ObservedResponse[] = [];
    const server = await startServer({});
    const deployment = defineDeployment({ messengerBaseUrl: server.url });
    const onResponse = (reply: ObservedResponse) => seen.push(reply);
    const messenger = new MessengerClient({ deployment, masterKey: 'hunter2-hunter2', onResponse });
    await messenger.generateApiKey({ messenger_device_no: '1001' });
    expect(seen).toHaveLength(1);
    expect(seen[0]).not.toHaveProperty('key');
  });

  it('sees the shape of the body, which order it was and which key signed, and none of their values', async () => {
    const seen: ObservedResponse[] = [];
    const body = JSON.stringify({ status: 'accepted', link: 'https://pay.example/x1' });
    const server = await startServer({ body }, { body: 'OK' });
    const onResponse = (reply: ObservedResponse) => seen.push(reply);
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
    const seen: ObservedResponse[] = [];
    const server = await startServer({ body: 'x'.repeat(1_048_577) });
    const onResponse = (reply: ObservedResponse) => seen.push(reply);
    await told(createOrder(server.url, { onResponse }));
    expect(seen[0]).toMatchObject({ status: 200, failure: 'too_large', shape: undefined });
  });
});

describe('onNoResponse', () => {
  it('sees each attempt that ends without a reply, and whether the service can have acted', async () => {
    const seen: UnansweredAttempt[] = [];
    const server = await startServer((response) => response.destroy());
    let clock = 1_000;
    const options = {
      now: () => (clock += 25),
      onNoResponse: (one: UnansweredAttempt) => seen.push(one),
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
    const seen: UnansweredAttempt[] = [];
    const server = await startServer(() => {});
    await told(createOrder(server.url, { ...options, onNoResponse: (one) => seen.push(one) }, callOptions()));
    await vi.waitFor(() => expect(seen).toMatchObject([{ code, outcome: 'unknown' }]));
  });
});

it.each(['onRequest', 'onResponse'] as const)(
  '%s that fails does not break the call, and is reported as a warning',
  async (name) => {
    const server = await startServer({ body: '{"ok":true}' });
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    const fails = async () => Promise.reject(new RangeError('boom'));
    expect((await createOrder(server.url, { [name]: fails })).body).toEqual({ ok: true });
    expect(await warned).toMatchObject({
      name: 'PartnerExchangeWarning',
      message: `${name} of createOrder failed; nothing else is affected.`,
    });
  },
);

it('an attempt that was not made is not seen', async () => {
  const seen: ObservedAttempt[] = [];
  const signal = AbortSignal.abort();
  const onRequest = (request: ObservedAttempt) => seen.push(request);
  await requestError(createOrder('http://127.0.0.1:9', { onRequest }, { signal }));
  expect(seen).toEqual([]);
});
