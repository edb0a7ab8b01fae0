import { execFile } from 'node:child_process';
import { createServer as createHttpServer, setGlobalProxyFromEnv } from 'node:http';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { startChild } from '../devtools/cli/child.ts';
import { start } from '../devtools/cli/support.ts';
import { listening } from '../support/listening.ts';
import { startServer } from '../support/local-server.ts';

const run = promisify(execFile);
const patient = { timeout: 60_000 };
const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);

/** A proxy that notes each connection, and what it was asked for. */
async function startProxy() {
  const taken: string[] = [];
  const server = createServer((socket) => {
    socket.once('data', (bytes) => {
      taken.push(bytes.toString().split('\r\n')[0] ?? '');
      socket.end('HTTP/1.1 502 Proxy\r\nconnection: close\r\n\r\n');
    });
    socket.on('error', () => {});
  });
  onTestFinished(() => void server.close());
  return { url: await listening(server), taken };
}

/** Runs a module that has a client of a service at `url`, and prints what it returns. */
async function script(setUp: string, url: string, env: Record<string, string> = {}) {
  const module = `
    import http from 'node:http';
    const { defineDeployment } = await import(${source('deployment/define-deployment.ts')});
    const { ExchangeClient } = await import(${source('client/exchange-client.ts')});
    const url = ${JSON.stringify(url)};
    const deployment = defineDeployment({ onboardingBaseUrl: url, stagingUrl: url });
    const credentials = { partnerPublicKey: 'pk_partner_a', partnerSecretKey: 'sk_partner_b', merchantSecretKey: 'sk_merchant_c' };
    const exchange = new ExchangeClient({ deployment, credentials, maxAttempts: 1 });
    ${setUp}
    const order = { partner_order_id: 'A-1', fiat_amount: '1', fiat_currency: 'NGN', chain: 'usdt-trc20',
      buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP', partner_callback_url: url + '/events' };
    const told = (call) => call.then(({ status, body }) => ({ status, body }), ({ code, outcome, status }) => ({ code, outcome, status }));
    console.log(JSON.stringify(await told(exchange.createOrder(order))));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', module], {
    env: { PATH: process.env.PATH, ...env },
    timeout: 20_000,
  });
  return JSON.parse(stdout) as object;
}

const dispatcher = `
  class MyProxyAgent { dispatch() { throw new Error('the proxy has the request'); } }
  for (const version of [1, 2]) globalThis[Symbol.for('undici.globalDispatcher.' + version)] = new MyProxyAgent();`;

it(
  'an order to this machine passes a proxy by that was set after the deployment was defined',
  patient,
  async () => {
    const { url, requests } = await startServer({
      body: '{"accepted":true}',
      headers: { 'content-type': 'application/json' },
    });
    expect(await script(dispatcher, url)).toEqual({ status: 200, body: { accepted: true } });
    expect(requests).toHaveLength(1);
    expect(requests[0]?.headers).toMatchObject({
      authorization: 'Bearer pk_partner_a',
      'content-type': 'application/json',
      'content-length': String(requests[0]?.body.length),
    });
  },
);

it.runIf(typeof setGlobalProxyFromEnv === 'function')(
  'an order to this machine passes the proxy of http.setGlobalProxyFromEnv by',
  patient,
  async () => {
    const proxy = await startProxy();
    const { url, requests } = await startServer({
      body: '{"accepted":true}',
      headers: { 'content-type': 'application/json' },
    });
    const setUp = `http.setGlobalProxyFromEnv({ http_proxy: ${JSON.stringify(proxy.url)} });`;
    expect(await script(setUp, url)).toEqual({ status: 200, body: { accepted: true } });
    expect(requests).toHaveLength(1);
    expect(proxy.taken).toEqual([]);
  },
);

it.each<[string, (response: import('node:http').ServerResponse) => void, object]>([
  [
    'a refusal',
    (reply) => reply.writeHead(422).end('{}'),
    { code: 'http_error', outcome: 'refused', status: 422 },
  ],
  [
    'a redirect',
    (reply) => reply.writeHead(307, { location: '/x' }).end(),
    { code: 'redirected', status: 307 },
  ],
  ['a lost reply', (reply) => reply.destroy(), { code: 'network_error', outcome: 'unknown' }],
  [
    'a reply that breaks off',
    (reply) => {
      reply.writeHead(200, { 'content-length': '100' });
      reply.write('{', () => reply.destroy());
    },
    { code: 'network_error', outcome: 'unknown', status: 200 },
  ],
])('on the way around the proxy, %s is told as ever', patient, async (_, answer, told) => {
  const server = createHttpServer((_, reply) => answer(reply));
  onTestFinished(() => void server.close());
  expect(await script(dispatcher, await listening(server))).toMatchObject(told);
});

it('on the way around the proxy, a port where nobody listens is told as not-sent', patient, async () => {
  expect(await script(dispatcher, 'http://127.0.0.1:1')).toMatchObject({ outcome: 'not-sent' });
});

it.each(['sandbox orders', 'sandbox advance A-1 credited', 'trigger event.buy.init --to URL'])(
  'under NODE_USE_ENV_PROXY, %s reaches this machine and not the proxy',
  patient,
  async (command) => {
    const proxy = await startProxy();
    const running = start(['sandbox', '--port', '0', '--format', 'json'], { now: Date.now });
    const [first = ''] = (await running.printed('stdout', /\n/)).split('\n');
    const { url } = JSON.parse(first) as { url: string };
    const receiver = await startServer({});
    const env = {
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: proxy.url,
      http_proxy: proxy.url,
      PARTNER_EXCHANGE_SANDBOX_URL: url,
      PARTNER_PUBLIC_KEY: 'pk_partner_a',
      PARTNER_SECRET_KEY: 'sk_partner_b',
      MERCHANT_SECRET_KEY: 'sk_merchant_c',
    };
    const ended = await startChild(command.replace('URL', receiver.url).split(' '), { env }).ended;
    expect(proxy.taken).toEqual([]);
    expect(ended.stdout + ended.stderr).not.toMatch(/gave no answer|502/);
  },
);
