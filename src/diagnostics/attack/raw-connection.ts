import type { Socket } from 'node:net';
import { bareHost } from '../../deployment/base-url.ts';
import { settledWithin } from '../../internal/deadline.ts';
import type { PostAnswer } from '../../internal/post-request.ts';

export type RawConnect = () => Promise<RawConnection>;

/** A connection that can break the rules of HTTP. */
export type RawConnection = ReturnType<typeof connection>;

interface RawRoute {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The limit for connecting, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Requests go through the caller's function, so the address may lead nowhere. */
  readonly hasOwnFetch: boolean;
}

/** How to connect without an HTTP client, or why that is impossible. */
export function rawConnector(route: RawRoute): RawConnect | { readonly missing: string } {
  const { url, headers, signal, timeoutMs, hasOwnFetch } = route;
  if (hasOwnFetch) return { missing: 'needs a connection of its own, which the given fetch does not make' };
  // Not imported, since the entry also loads on runtimes without it.
  const net = process.getBuiltinModule?.('node:net');
  const tls = process.getBuiltinModule?.('node:tls');
  if (net === undefined || tls === undefined) {
    return { missing: 'needs node:net and node:tls, which this runtime does not have' };
  }
  return () =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const isTls = url.protocol === 'https:';
      const host = bareHost(url);
      const target = { host, port: Number(url.port) || (isTls ? 443 : 80) };
      const servername = net.isIP(host) === 0 ? { servername: host } : {};
      const socket = isTls ? tls.connect({ ...target, ...servername }) : net.connect(target);
      const destroy = () => void socket.destroy();
      const timer = setTimeout(destroy, timeoutMs);
      signal?.addEventListener('abort', destroy);
      socket.once('error', reject);
      socket.once('close', () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', destroy);
        reject(new Error('closed'));
      });
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        clearTimeout(timer);
        resolve(connection(socket, (own) => requestHead(url, { ...headers, ...own })));
      });
    });
}

function requestHead(url: URL, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ host: url.host, ...headers }).map(([name, value]) => `${name}: ${value}`);
  return `POST ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

function connection(socket: Socket, head: (headers: Readonly<Record<string, string>>) => string) {
  let received = '';
  let closed: string | undefined;
  const settled = Promise.withResolvers<void>();
  const close = (reason: string) => {
    closed ??= reason;
    settled.resolve();
  };
  // A broken connection is a possible answer.
  socket.on('error', (error) => close('code' in error ? String(error.code) : error.name));
  socket.on('close', () => close('closed'));
  socket.on('end', () => close('closed'));
  socket.on('data', (chunk) => {
    // The status line comes first, and the rest is not needed.
    if (received.length < 4096) received += chunk.toString('latin1');
    if (statusOf(received) !== undefined) settled.resolve();
  });
  return {
    /** Writes the head of a delivery with further headers, and a body as it is. */
    request: (headers: Readonly<Record<string, string>>, body: string) =>
      void socket.write(head(headers) + body),
    /** Writes more of the body. */
    write: (text: string) => void socket.write(text),
    /** Ends the sending side, as a closed browser does. */
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
    /** The status of the first answer, or whether the connection was closed in this time. */
    async answer(withinMs: number): Promise<PostAnswer> {
      await settledWithin([settled.promise], withinMs);
      const status = statusOf(received);
      if (status !== undefined) return { kind: 'answered', status, headers: new Headers(), text: '' };
      return closed === undefined ? { kind: 'late', afterMs: withinMs } : { kind: 'closed', reason: closed };
    },
  };
}

/** The first final status: skips `100 Continue`. */
function statusOf(received: string): number | undefined {
  for (const [, status] of received.matchAll(/(?:^|\r\n\r\n)HTTP\/1\.[01] (\d{3})/g)) {
    if (Number(status) >= 200) return Number(status);
  }
  return undefined;
}
