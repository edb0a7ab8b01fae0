import { describe, expect, it } from 'vitest';
import { classifyFetchError } from '../../src/client/request-outcome.ts';
import { startTcpServer } from '../support/local-server.ts';
import { createOrder, told } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

const maybeActed = { code: 'network_error', outcome: 'unknown', attempts: 1 };

describe('a reply that breaks off', () => {
  it.each([
    ['before its first byte', ''],
    ['in its head', 'HTTP/1.1 200 OK\r\ncontent-le'],
  ])('%s leaves the outcome unknown', async (_, reply) => {
    const server = await startTcpServer((socket) => socket.end(reply));
    expect(await told(createOrder(server.url))).toEqual(maybeActed);
    expect(server.connections()).toBe(1);
  });

  it.each([
    ['before the length it announced', 'content-length: 100\r\n\r\n{"order":'],
    ['between two chunks', 'transfer-encoding: chunked\r\n\r\n9\r\n{"order":\r\n'],
  ])('%s leaves the outcome unknown, and its status known', async (_, rest) => {
    const server = await startTcpServer((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`));
    expect(await told(createOrder(server.url))).toEqual({ ...maybeActed, status: 200 });
    expect(server.connections()).toBe(1);
  });

  it('after the status of an error is that error, without a body', async () => {
    const server = await startTcpServer((socket) =>
      socket.end('HTTP/1.1 422 Unprocessable\r\ncontent-length: 100\r\n\r\n{"message":'),
    );
    expect(await told(createOrder(server.url))).toEqual({
      code: 'http_error',
      outcome: 'refused',
      status: 422,
      attempts: 1,
    });
  });
});

describe('a transport of the caller', () => {
  const nowhere = 'http://127.0.0.1:9';

  it.each<[string, () => Promise<Response>]>([
    ['that throws an error of its own', () => Promise.reject(new Error('proxy says no'))],
    ['that throws nothing at all', () => Promise.reject(undefined)],
    [
      'that throws at once',
      () => {
        throw new TypeError('broken');
      },
    ],
    ['whose error has no text', () => Promise.reject(Object.assign(new Error(), { message: 42, stack: 7 }))],
    ['that loses the host in mid-request', () => Promise.reject(systemError('EHOSTUNREACH', 'read'))],
    // A JavaScript caller's fetch may return anything.
    ['that returns no response', () => Promise.resolve(undefined as unknown as Response)],
  ])('%s leaves the outcome unknown, and the request is sent once', async (_, fetch) => {
    expect(await told(createOrder(nowhere, { fetch }))).toEqual(maybeActed);
  });
});

describe('an error before the request was sent', () => {
  it.each([
    ['undici', new TypeError('fetch failed', { cause: systemError('ECONNREFUSED', 'connect') })],
    ['undici, by name', new TypeError('fetch failed', { cause: systemError('ENOTFOUND', 'getaddrinfo') })],
    ['a slow connect', systemError('ETIMEDOUT', 'connect')],
    ['a certificate', Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' })],
    ['a certificate that is incomplete', systemError('UNABLE_TO_GET_ISSUER_CERT', 'x')],
    ['Bun', Object.assign(new Error('Unable to connect'), { code: 'ConnectionRefused' })],
    ["Bun's proxy", Object.assign(new Error('Proxy refused to open a tunnel'), { code: 'ERR_PROXY_TUNNEL' })],
    ['Deno', new TypeError('error sending request: client error (Connect): tcp connect error: refused')],
    [
      'Deno of TLS',
      new Error('error sending request for url (x): client error (Connect): tls handshake eof'),
    ],
    ['Deno of a port', new TypeError('Fetch failed: Requests to port 6000 are blocked')],
    [
      'several addresses',
      new AggregateError([systemError('ECONNREFUSED', 'connect'), systemError('ENETUNREACH', 'connect')]),
    ],
  ])('is known by what %s says', (_, error) => {
    expect(classifyFetchError(error)).toMatchObject({ code: 'connection_failed', outcome: 'not-sent' });
  });

  it.each([
    ['a connection that was reset', systemError('ECONNRESET', 'read')],
    ['a time-out of an open connection', systemError('ETIMEDOUT', 'read')],
    // Bun says so of a connection that broke after the request was sent, too.
    ['TLS that broke', Object.assign(new Error('The TLS handshake failed.'), { code: 'EPROTO' })],
    ['a TLS record that is none', systemError('ERR_SSL_WRONG_VERSION_NUMBER', 'x')],
    [
      'one address of several that may have been reached',
      new AggregateError([systemError('ECONNREFUSED', 'connect'), systemError('ECONNRESET', 'read')]),
    ],
    ['a circle of causes', circle()],
    ['no error', 'ECONNREFUSED'],
  ])('is not taken from %s', (_, error) => {
    expect(classifyFetchError(error)).toMatchObject({ code: 'network_error', outcome: 'unknown' });
  });
});

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
}

function circle(): Error {
  const error = new Error('round');
  error.cause = error;
  return error;
}
