import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorReply, Refusal } from './requests.ts';

/** A request to one of the names of the server. */
export interface HttpCall {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  /** Alternating names and values, in the order and spelling of the sender. */
  readonly rawHeaders: readonly string[];
  /** At most `maxBodyBytes` + 1 bytes: one too many shows that the body is too long. */
  readonly body: Uint8Array;
  /** The address of this server that the caller used. */
  readonly origin: string;
  readonly ip: string;
}

/** A reply, with its headers in order. */
export interface ServerReply {
  readonly status: number;
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly body: Uint8Array;
  /** Writes the reply instead of the server, to break it on purpose. */
  readonly write?: (outgoing: ServerResponse) => Promise<void> | void;
}

export interface HttpServer {
  /** Origin, e.g. `http://127.0.0.1:40123`, without a slash at the end. */
  readonly url: string;
  /** Stops listening, and closes each connection, at once or when its request is answered. */
  close(connections: 'at once' | 'when answered'): Promise<void>;
}

interface ServerOptions {
  readonly port: number;
  readonly host: string;
  /** Further names of the server. */
  readonly allowedHosts: readonly string[];
  readonly maxBodyBytes: number;
  /** The limit for a request to arrive. @default 300_000 */
  readonly requestTimeoutMs?: number;
  readonly answer: (call: HttpCall) => ServerReply | Response | Promise<ServerReply | Response>;
}

/** The HTTP server of `sandbox` and `listen`. Rejects with the system's error, e.g. `EADDRINUSE`. */
export async function startHttpServer(options: ServerOptions): Promise<HttpServer> {
  const { host, allowedHosts, maxBodyBytes, requestTimeoutMs = 300_000, answer } = options;
  const server = createServer({
    requestTimeout: requestTimeoutMs,
    // How often Node looks for late requests.
    connectionsCheckingInterval: requestTimeoutMs / 10,
  });
  const { address, port } = await listening(server, options.port, host);
  const url = `http://${reachable(address)}:${port}`;
  const originOf = hostCheck([new URL(url).hostname, host, ...loopbackNames, ...allowedHosts]);
  let isClosing = false;

  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const origin = originOf(incoming);
    const reply =
      origin === undefined
        ? errorReply(foreignHost)
        : await answer(await readCall(incoming, { origin, maxBodyBytes }));
    if (isClosing) outgoing.shouldKeepAlive = false;
    await writeReply(reply, outgoing);
  }

  server.on('request', (incoming, outgoing) => {
    // A caller that hangs up needs no answer.
    respond(incoming, outgoing).catch(() => outgoing.destroy());
  });
  return {
    url,
    close: (connections) =>
      new Promise((resolve) => {
        isClosing = true;
        server.close(() => resolve());
        if (connections === 'at once') server.closeAllConnections();
        else server.closeIdleConnections();
      }),
  };
}

/** Adapts a function of {@link Request}. */
export function answerRequests(
  serve: (request: Request, connection: { ip: string }) => Promise<ServerReply | Response>,
): ServerOptions['answer'] {
  return (call) => {
    const request = toRequest(call);
    return request === undefined ? errorReply(malformed) : serve(request, { ip: call.ip });
  };
}

const malformed = new Refusal(400, 'bad_request', 'A request cannot have this method or this path.');

const foreignHost = new Refusal(
  403,
  'host_not_allowed',
  'The Host or Origin of the request is not that of this server: name it in allowedHosts of listen(), or with --allow-host.',
);

function listening(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host }, () => {
      server.off('error', reject);
      // Sound: a server that listens on TCP has such an address.
      resolve(server.address() as AddressInfo);
    });
  });
}

/** An address that clients can connect to, as a URL writes it. */
function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  if (address === '::') return '[::1]';
  return address.includes(':') ? `[${address}]` : address;
}

const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Finds the address that a request is for; `undefined` for a foreign name, or a web page of another origin.
 * Otherwise any web page could reach a server on its visitor's machine (DNS rebinding).
 */
function hostCheck(names: readonly string[]): (incoming: IncomingMessage) => string | undefined {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return ({ headers: { host = '', origin } }) => {
    const called = `http://${host}`;
    // Only a name and a port, since the mails' links contain it.
    if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(called)) return undefined;
    if (!known.has(new URL(called).hostname)) return undefined;
    return origin === undefined || origin === called ? called : undefined;
  };
}

async function readCall(
  incoming: IncomingMessage,
  { origin, maxBodyBytes }: { origin: string; maxBodyBytes: number },
): Promise<HttpCall> {
  const { method = 'GET', url: target = '', rawHeaders, socket } = incoming;
  const body = await readUpTo(incoming, maxBodyBytes + 1);
  return { method, target, rawHeaders, body, origin, ip: socket.remoteAddress ?? '' };
}

/** Reads the first bytes of a body and drops the rest. Closing the connection early would lose the answer. */
function readUpTo(incoming: IncomingMessage, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    incoming.on('data', (chunk: Uint8Array) => {
      if (length >= limit) return;
      chunks.push(chunk.subarray(0, limit - length));
      length += chunk.length;
      if (length >= limit) resolve(Buffer.concat(chunks));
    });
    incoming.on('end', () => resolve(Buffer.concat(chunks)));
    incoming.on('error', reject);
    incoming.on('close', () => reject(new Error('The caller hung up.')));
  });
}

/** `undefined` for a method or path that a Request cannot have, such as TRACE. */
function toRequest({ method, target, rawHeaders, body, origin }: HttpCall): Request | undefined {
  if (!target.startsWith('/')) return undefined;
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  }
  const isBodyless = method === 'GET' || method === 'HEAD';
  try {
    // Sound: these bytes are never in shared memory, which the type would allow.
    const content = isBodyless ? null : (body as Uint8Array<ArrayBuffer>);
    return new Request(origin + target, { method, headers, body: content });
  } catch {
    return undefined;
  }
}

async function writeReply(reply: ServerReply | Response, outgoing: ServerResponse): Promise<void> {
  if ('write' in reply && reply.write !== undefined) return reply.write(outgoing);
  const body = reply instanceof Response ? new Uint8Array(await reply.arrayBuffer()) : reply.body;
  outgoing.writeHead(reply.status, [...reply.headers].flat());
  outgoing.end(outgoing.req.method === 'HEAD' ? undefined : body);
}
