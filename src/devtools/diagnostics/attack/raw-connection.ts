import type { Socket } from 'node:net';
import { bareHost } from '../../../deployment/base-url.ts';
import { settledWithin } from '../../../internal/deadline.ts';
import type { PostAnswer } from '../post-request.ts';

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
  let awaited = 1;
  let settled = Promise.withResolvers<void>();
  const close = (reason: string) => {
    closed ??= reason;
    settled.resolve();
  };
  // A broken connection is a possible answer.
  socket.on('error', (error) => close('code' in error ? String(error.code) : error.name));
  socket.on('close', () => close('closed'));
  socket.on('end', () => close('closed'));
  socket.on('data', (chunk) => {
    // Status lines come first, and the rest is not needed.
    if (received.length < 65_536) received += chunk.toString('latin1');
    if (statusesOf(received).length >= awaited) settled.resolve();
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
    /** The statuses of so many answers, or fewer if the connection is closed or the time is over. */
    async statuses(most: number, withinMs: number): Promise<readonly number[]> {
      awaited = most;
      if (closed === undefined && statusesOf(received).length < most) {
        settled = Promise.withResolvers<void>();
        await settledWithin([settled.promise], withinMs);
      }
      return statusesOf(received);
    },
    /** The status of the first answer, or whether the connection was closed in this time. */
    async answer(withinMs: number): Promise<PostAnswer> {
      const [status] = await this.statuses(1, withinMs);
      if (status !== undefined) return { kind: 'answered', status, headers: new Headers(), text: '' };
      return closed === undefined ? { kind: 'late', afterMs: withinMs } : { kind: 'closed', reason: closed };
    },
  };
}

/** The statuses of whole answers and of the last one that has begun, without `100 Continue`. */
export function statusesOf(received: string): readonly number[] {
  const found: number[] = [];
  for (let rest = received; ; ) {
    const [head, status] = /^(?:\r?\n)*HTTP\/1\.[01] (\d{3})[^\n]*\n(?:[^\r\n][^\n]*\n)*/.exec(rest) ?? [];
    if (head === undefined) return found;
    const code = Number(status);
    if (code >= 200) found.push(code);
    const end = /^\r?\n/.exec(rest.slice(head.length));
    if (end === null) return found;
    const body = rest.slice(head.length + end[0].length);
    const length = bodyLength(head, { status: code, body });
    if (length === undefined || length > body.length) return found;
    rest = body.slice(length);
  }
}

/** `undefined` if the body ends with the connection, or is not whole yet. */
function bodyLength(head: string, { status, body }: { status: number; body: string }): number | undefined {
  if (status < 200 || status === 204 || status === 304) return 0;
  const length = /^content-length:[ \t]*(\d+)/im.exec(head)?.[1];
  if (length !== undefined) return Number(length);
  if (!/^transfer-encoding:.*chunked/im.test(head)) return undefined;
  return /^(?:[1-9a-f][\s\S]*?\n)?0\r?\n\r?\n/i.exec(body)?.[0].length;
}
