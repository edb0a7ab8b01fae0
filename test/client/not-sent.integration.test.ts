import { execFile } from 'node:child_process';
import { createServer as createHttpServer } from 'node:http';
import { connect, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listening } from '../support/listening.ts';
import { closedUrl, startTcpServer } from '../support/local-server.ts';
import { selfSigned } from '../support/self-signed.ts';
import { createOrder, requestError } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

/** What a failed call says of its outcome, and why. */
async function endOf(url: string): Promise<Record<string, unknown>> {
  const { code, outcome, message } = await requestError(createOrder(url));
  const [, reason] = /could be made \((.*)\); it is safe/.exec(message) ?? [];
  return { code, outcome, ...(reason !== undefined && { reason }) };
}

const notSent = { code: 'connection_failed', outcome: 'not-sent' };

describe('an order was not sent, and its error says why', () => {
  it('when the connection is refused', async () => {
    const url = await closedUrl();
    expect(await endOf(url)).toEqual({ ...notSent, reason: `connect ECONNREFUSED ${new URL(url).host}` });
  });

  it('when fetch refuses the port', async () => {
    expect(await endOf('http://127.0.0.1:6000')).toEqual({ ...notSent, reason: 'bad port' });
  });

  it('when the certificate is not trusted', async () => {
    const url = await startTlsServer(selfSigned());
    expect(await endOf(url)).toEqual({
      ...notSent,
      reason: expect.stringMatching(/^DEPTH_ZERO_SELF_SIGNED_CERT: self-signed certificate/),
    });
  });

  it('when the server does not speak TLS', async () => {
    const server = await startTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), {
      reads: false,
    });
    expect(await endOf(server.url.replace('http:', 'https:'))).toEqual({
      ...notSent,
      reason: 'ERR_SSL_WRONG_VERSION_NUMBER: wrong version number',
    });
    // Provably not sent is provably safe to be sent again.
    expect(server.connections()).toBe(3);
  });

  it.each<[string, (socket: Socket) => void]>([
    ['closes the connection', (socket) => socket.end()],
    ['resets the connection', (socket) => socket.resetAndDestroy()],
  ])('when the server %s in the TLS handshake', async (_, answer) => {
    const server = await startTcpServer((socket) => socket.once('data', () => answer(socket)).resume(), {
      reads: false,
    });
    expect(await endOf(server.url.replace('http:', 'https:'))).toMatchObject(notSent);
  });

  it('when a proxy answers CONNECT with 407', async () => {
    const seen: string[] = [];
    const proxy = createHttpServer();
    proxy.on('connect', (request, socket) => {
      seen.push(`CONNECT ${request.url}`);
      socket.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n');
    });
    const ended = await endBehindProxy(await listen(proxy));
    expect(ended).toMatchObject({ code: 'connection_failed', outcome: 'not-sent', attempts: 2 });
    expect(ended.message).toContain(`Proxy response (407) !== 200 when HTTP Tunneling`);
    expect(seen).toEqual(['CONNECT service.example:443', 'CONNECT service.example:443']);
  });
});

describe('an order may have been acted on, although the error looks like one of the handshake', () => {
  it.each([
    // In the middle of a connection: an alert for a failed handshake, and a record that cannot be.
    ['TLSv1.2', '\x15\x03\x03\x00\x02\x02\x28'],
    ['TLSv1.3', '\x16\x03\x03\x00\x05junk!'],
  ] as const)('when the connection breaks after it was sent over %s', async (version, junk) => {
    const ended = await endInChild(await startBreakingServer(version, junk));
    expect(ended.outcome).toBe('unknown');
  });
});

/** A TLS server behind a relay that sends junk to the client once the server has read a request. */
async function startBreakingServer(version: 'TLSv1.2' | 'TLSv1.3', junk: string): Promise<string> {
  let interrupt = () => {};
  const server = createTlsServer({ ...selfSigned(), maxVersion: version }, (socket) => {
    socket.on('error', () => {}).once('data', () => interrupt());
  });
  const inner = new URL(await listen(server));
  const relay = createHttpServer();
  relay.removeAllListeners('connection').on('connection', (client: Socket) => {
    const upstream = connect(Number(inner.port), inner.hostname).on('error', () => {});
    client.on('error', () => {}).pipe(upstream);
    upstream.pipe(client);
    interrupt = () => {
      upstream.unpipe(client);
      client.end(junk, 'latin1');
    };
  });
  return (await listen(relay)).replace('http:', 'https:');
}

async function startTlsServer(options: TlsOptions): Promise<string> {
  const server = createTlsServer(options).on('tlsClientError', () => {});
  return (await listen(server)).replace('http:', 'https:');
}

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return await listening(server);
}

/** How an order ends in a process that trusts every certificate. */
function endInChild(url: string): Promise<Record<string, unknown>> {
  return runInChild(url, { NODE_TLS_REJECT_UNAUTHORIZED: '0' });
}

function endBehindProxy(proxy: string): Promise<Record<string, unknown>> {
  return runInChild('https://service.example', { NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: proxy, NO_PROXY: '' });
}

/** Proxy and trust are read from the environment once, when Node starts. */
async function runInChild(url: string, env: Record<string, string>): Promise<Record<string, unknown>> {
  const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);
  const script = `
    const { defineDeployment } = await import(${source('deployment/define-deployment.ts')});
    const { ExchangeClient } = await import(${source('client/exchange-client.ts')});
    const deployment = defineDeployment({ onboardingBaseUrl: ${JSON.stringify(url)} });
    const exchange = new ExchangeClient({ deployment, maxAttempts: 2, retry: { firstDelayMs: 0 } });
    const error = await exchange.onboard({ partner_code: 'a', email: 'a@b.example' }).catch((thrown) => thrown);
    process.stdout.write(JSON.stringify({ ...error, message: error.message }));
    process.exit();
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--no-warnings', '--experimental-strip-types', '--input-type=module', '--eval', script],
    { cwd: fileURLToPath(new URL('../..', import.meta.url)), env: { ...process.env, ...env } },
  );
  return JSON.parse(stdout);
}
