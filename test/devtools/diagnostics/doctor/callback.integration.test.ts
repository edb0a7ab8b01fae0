import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { verifyBody } from '../../../../src/signature/verify-body.ts';
import { createWebhooks } from '../../../../src/webhooks/create-webhooks.ts';
import { closedUrl, startServer } from '../../../support/local-server.ts';
import { credentials } from '../../../webhooks/deliveries.ts';
import { mountServer } from '../../../webhooks/http/frameworks/mount.ts';
import { startReceiver } from '../attack/broken-receivers.ts';
import { examined } from './examined.ts';

describe('the doctor says of the address of the callback', () => {
  it.each<[string, string[], string, RegExp]>([
    ['https://partner.example/orders', ['93.184.216.34', '2606:2800::1'], 'ok', /is public/],
    ['http://partner.example/orders', ['93.184.216.34'], 'warn', /http:/],
    ['https://8.8.8.8/orders', [], 'ok', /is public/],
    ['https://[2606:4700::1111]/', [], 'ok', /is public/],
    ['https://partner.example/', ['93.184.216.34', '10.1.2.3'], 'fail', /resolves to 10\.1\.2\.3/],
    ['https://partner.example/', ['127.0.0.1'], 'fail', /nobody outside/],
    ['https://partner.example/', ['172.31.255.255'], 'fail', /nobody outside/],
    ['https://partner.example/', ['172.32.0.0'], 'ok', /is public/],
    ['https://partner.example/', ['100.64.0.1'], 'fail', /nobody outside/],
    ['https://partner.example/', ['169.254.169.254'], 'fail', /nobody outside/],
    ['https://partner.example/', ['fd00::1'], 'fail', /nobody outside/],
    ['https://partner.example/', ['fe80::1'], 'fail', /nobody outside/],
    ['https://partner.example/', ['::ffff:192.168.0.1'], 'fail', /nobody outside/],
    ['https://192.168.0.7/', [], 'fail', /nobody outside/],
    ['https://0.0.0.0/', [], 'fail', /nobody outside/],
    ['https://[::1]/', [], 'fail', /this machine/],
    ['https://localhost:3000/', [], 'fail', /this machine/],
    ['https://receiver/', [], 'fail', /known only inside/],
    ['https://receiver.local./', [], 'fail', /known only inside/],
    ['https://receiver.corp.internal/', [], 'fail', /known only inside/],
  ])('%s at %j: %s', async (callbackUrl, addresses, status, found) => {
    const check = await examined('callback-address', { callbackUrl, lookup: async () => addresses });
    expect(check).toMatchObject({ status, found: expect.stringMatching(found) });
  });

  it('that it is not given, or does not resolve', async () => {
    expect(await examined('callback-address')).toMatchObject({ status: 'skip' });
    const callbackUrl = 'https://partner.example/';
    expect(await examined('callback-address', { callbackUrl })).toMatchObject({ status: 'skip' });
    expect(await examined('callback-address', { callbackUrl, strict: true })).toMatchObject({
      status: 'fail',
    });
  });
});

describe('the doctor says of the receiver at the callback', () => {
  it('that it refuses what it must, and sends nothing authentic', async () => {
    const seen: string[] = [];
    const webhooks = createWebhooks({
      credentials,
      onDelivery: ({ outcome }) => void seen.push(outcome),
    }).onAny(() => {});
    const { port, close } = await mountServer(createServer(webhooks.node));
    const callbackUrl = `http://127.0.0.1:${port}/orders`;
    const check = await examined('callback-receiver', { callbackUrl, credentials, fetch });
    expect(check).toMatchObject({
      status: 'ok',
      found: 'unsigned 401; forged 401; method-get 405; method-head 405',
    });
    expect(seen).toEqual(['refused', 'refused', 'refused', 'refused']);

    const authentic = { callbackUrl, credentials, fetch, sendAuthentic: true };
    expect(await examined('callback-receiver', authentic)).toMatchObject({ status: 'ok' });
    expect(seen.at(-1)).toBe('handled');
    await close();
  });

  it('the same without any keys', async () => {
    await using receiver = await startReceiver();
    const options = { callbackUrl: receiver.url, fetch };
    expect(await examined('callback-receiver', options)).toMatchObject({ status: 'ok' });
    expect(await examined('callback-receiver', { ...options, sendAuthentic: true })).toMatchObject({
      status: 'skip',
      found: expect.stringMatching(/without keys/),
    });
  });

  it('that it accepts unsigned events', async () => {
    await using receiver = await startReceiver({ verify: (text) => JSON.parse(text) });
    const check = await examined('callback-receiver', { callbackUrl: receiver.url, fetch });
    expect(check).toMatchObject({
      status: 'fail',
      found: expect.stringMatching(/without a signature: 200;/),
      fix: expect.stringMatching(/Verify the signature/),
    });
  });

  it('that it loses an authentic one', async () => {
    await using receiver = await startReceiver({
      verify() {
        throw new Error('refused');
      },
    });
    const options = { callbackUrl: receiver.url, credentials, fetch, sendAuthentic: true };
    const check = await examined('callback-receiver', options);
    expect(check).toMatchObject({ status: 'fail', found: expect.stringMatching(/authentic delivery.*401/) });
  });

  it('that it verifies authentic ones with another key', async () => {
    await using receiver = await startReceiver({
      verify: (text) => verifyBody(text, { key: credentials.partnerSecretKey }).value,
    });
    const options = { callbackUrl: receiver.url, credentials, fetch, sendAuthentic: true };
    const { found } = await examined('callback-receiver', options);
    expect(found).toMatch(/401, since it verifies with the partner secret alone/);
  });

  it('that it answers GET', async () => {
    const server = await startServer((response, { method }) => {
      response.writeHead(method === 'POST' ? 401 : 200).end();
    });
    const check = await examined('callback-receiver', { callbackUrl: server.url, fetch });
    expect(check).toMatchObject({ status: 'warn', found: expect.stringMatching(/^GET.*: 200/) });
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET', 'HEAD']);
  });

  it('that nothing is at its path', async () => {
    const server = await startServer({ status: 404 });
    const check = await examined('callback-receiver', { callbackUrl: server.url, fetch });
    expect(check).toMatchObject({ status: 'fail', found: expect.stringMatching(/404/) });
  });

  it('that nothing listens at its port: failed', async () => {
    const callbackUrl = await closedUrl();
    expect(await examined('callback-receiver', { callbackUrl, fetch })).toMatchObject({ status: 'fail' });
  });

  it('that it cannot be reached: skipped, or failed if strict', async () => {
    const callbackUrl = 'https://partner.example/';
    expect(await examined('callback-receiver', { callbackUrl })).toMatchObject({ status: 'skip' });
    expect(await examined('callback-receiver', { callbackUrl, strict: true })).toMatchObject({
      status: 'fail',
    });
  });
});
