import type { IncomingMessage } from 'node:http';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { isLoopbackHost } from './base-url.ts';
import { mayTakeProxy } from './environment-proxy.ts';

/**
 * The platform's fetch, looked up at each call, so that one that is replaced later is used. A request over `http:` to
 * this machine never goes through a proxy, whoever has set it and when: the proxy would read the keys.
 */
export const platformFetch: typeof fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  if (url.protocol !== 'http:' || !isLoopbackHost(url.hostname) || !mayTakeProxy())
    return globalThis.fetch(input, init);
  const request = new Request(input, init);
  // Not that of the request alone: Node follows the given signal only while the request is in use.
  const signal = init?.signal ?? request.signal;
  signal.throwIfAborted();
  try {
    return responseOf(await send(url, request, signal), request);
  } catch (error) {
    signal.throwIfAborted();
    throw new TypeError('fetch failed', { cause: error });
  }
};

/** Node's HTTP client takes no proxy with an agent of its own. */
function send(url: URL, request: Request, signal: AbortSignal): Promise<IncomingMessage> {
  const { request: open } = process.getBuiltinModule('node:http');
  const { method, headers } = request;
  return new Promise((resolve, reject) => {
    const outgoing = open(url, { method, headers: sentHeaders(headers), agent: false, signal });
    outgoing.once('error', reject);
    outgoing.once('response', resolve);
    // As with fetch, the body is read when the connection is there: until then it may be refused.
    outgoing.once('socket', (socket) => {
      const finish = () => {
        request.arrayBuffer().then(
          (body) => outgoing.end(body.byteLength === 0 ? undefined : new Uint8Array(body)),
          (error) => outgoing.destroy(error),
        );
      };
      if (socket.connecting) socket.once('connect', finish);
      else finish();
    });
  });
}

function sentHeaders(headers: Headers): Record<string, string> {
  // Encoded replies would have to be decoded.
  return { accept: '*/*', ...Object.fromEntries(headers), 'accept-encoding': 'identity' };
}

const withoutBody = new Set([204, 205, 304]);
const redirects = new Set([301, 302, 303, 307, 308]);

function responseOf(incoming: IncomingMessage, { method, redirect }: Request): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = incoming;
  if (redirects.has(status) && redirect !== 'manual') {
    incoming.destroy();
    throw new Error('a redirect is not followed');
  }
  const headers = new Headers();
  for (let place = 0; place + 1 < rawHeaders.length; place += 2)
    headers.append(rawHeaders[place] ?? '', rawHeaders[place + 1] ?? '');
  if (method === 'HEAD' || withoutBody.has(status)) {
    incoming.resume();
    return new Response(null, { status, statusText, headers });
  }
  const { Readable } = process.getBuiltinModule('node:stream');
  const body: NodeStream<Uint8Array> = Readable.toWeb(incoming);
  // Sound: the two declarations of a stream of bytes differ in nothing that is used.
  return new Response(body as ReadableStream<Uint8Array>, { status, statusText, headers });
}
