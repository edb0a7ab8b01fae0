import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { SandboxClock } from '../clock.ts';
import { errorReply, Refusal } from '../requests.ts';
import type { Serve } from '../service.ts';
import { type WireReply, wireReply } from '../wire-reply.ts';

/** Where the sandbox answers about itself: the inspector and its API. */
export const controlPath = '/_sandbox/';

/** Answers what is under {@link controlPath}. Never rejects. */
export type ServeControl = (request: Request, connection: { ip: string }) => Promise<Response>;

export interface ControlAccess {
  /** What requests that change something have to carry. */
  readonly token: string;
  /** Whose requests are answered. */
  readonly from: 'loopback' | 'any';
}

const malformed = new Refusal(400, 'bad_request', 'The method or the path is none that can be answered.');

const foreignHost = new Refusal(
  403,
  'host_not_allowed',
  'The Host or Origin of the request is not that of the sandbox: name it in allowedHosts of listen(), or with --allow-host.',
);

interface ListenerOptions {
  serve: Serve;
  /** Answers under `/_sandbox/`; `undefined` if nobody does. */
  serveControl: ServeControl | undefined;
  clock: SandboxClock;
  originOf: HostCheck;
  maxBodyBytes: number;
}

/** Translates between `node:http` and a function that answers, and does nothing else. */
export function nodeListener(options: ListenerOptions): RequestListener {
  return (incoming, outgoing) => {
    // A caller that hangs up needs no answer.
    translate(incoming, outgoing, options).catch(() => outgoing.destroy());
  };
}

async function translate(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { serve, serveControl, clock, maxBodyBytes, originOf }: ListenerOptions,
): Promise<void> {
  // One byte more than allowed is enough to see that the body is too large.
  const body = await readUpTo(incoming, maxBodyBytes + 1);
  const origin = originOf(incoming.headers);
  const connection = { ip: incoming.socket.remoteAddress ?? '' };
  const request = origin === undefined ? undefined : toRequest(incoming, body, origin);
  if (request !== undefined && serveControl !== undefined && isAdmin(incoming)) {
    return streamResponse(await serveControl(request, connection), outgoing, incoming.method);
  }
  const reply =
    request === undefined
      ? await wireReply(errorReply(origin === undefined ? foreignHost : malformed))
      : await serve(request, connection);
  await socketReply(reply, outgoing, { method: incoming.method, clock });
}

function isAdmin({ url = '' }: IncomingMessage): boolean {
  return url.startsWith(controlPath) || url === controlPath.slice(0, -1);
}

/** The body's first bytes. The rest is read and dropped: closing the connection early would lose the answer. */
export function readUpTo(incoming: IncomingMessage, limit: number): Promise<Uint8Array> {
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

/** `undefined` for what a Request cannot express: the method TRACE, or an invalid path. */
export function toRequest(incoming: IncomingMessage, body: Uint8Array, origin: string): Request | undefined {
  const { method = 'GET', url = '' } = incoming;
  if (!url.startsWith('/')) return undefined;
  const bodyless = method === 'GET' || method === 'HEAD';
  try {
    // Sound: these bytes are never in shared memory, which the type would allow.
    const content = bodyless ? null : (body as Uint8Array<ArrayBuffer>);
    return new Request(origin + url, { method, headers: headersOf(incoming), body: content });
  } catch {
    return undefined;
  }
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  }
  return headers;
}

/** The origin that a request is meant for; `undefined` if it is not one of this server's. */
type HostCheck = (headers: IncomingHttpHeaders) => string | undefined;

/**
 * Accepts requests that address the server by one of these names, and those of web pages only from the same origin.
 * Otherwise any web page could reach a server on its visitor's machine (DNS rebinding).
 */
export function hostCheck(names: readonly string[]): HostCheck {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return ({ host = '', origin }) => {
    const called = `http://${host}`;
    // Only a name and a port: anything else would end up in the links of the mails.
    if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(called)) return undefined;
    if (!known.has(new URL(called).hostname)) return undefined;
    return origin === undefined || origin === called ? called : undefined;
  };
}

/** Writes a reply to a socket, with what a fault does to it. */
async function socketReply(
  reply: WireReply,
  outgoing: ServerResponse,
  { method, clock }: { method: string | undefined; clock: SandboxClock },
): Promise<void> {
  const { transport, body, status } = reply;
  const headers = Object.fromEntries(reply.headers);
  const content = method === 'HEAD' ? undefined : body;
  switch (transport.kind) {
    case 'reset':
      outgoing.socket?.resetAndDestroy();
      return;
    case 'close':
      outgoing.socket?.destroy();
      return;
    case 'stall':
      return;
    case 'whole':
      outgoing.writeHead(status, headers).end(content);
      return;
    case 'gzip': {
      const packed = gzipSync(body);
      outgoing.writeHead(status, { ...headers, 'content-encoding': 'gzip', 'content-length': packed.length });
      outgoing.end(content && packed);
      return;
    }
    case 'truncate':
      outgoing.writeHead(status, headers);
      // Destroyed only when the bytes have left: the caller is to see the beginning.
      outgoing.write(body.subarray(0, transport.bytes), () => outgoing.socket?.destroy());
      outgoing.flushHeaders();
      if (transport.bytes === 0) setImmediate(() => outgoing.socket?.destroy());
      return;
    case 'trickle':
      await trickle(reply.body, { ...transport, outgoing: outgoing.writeHead(status, headers), clock });
  }
}

async function trickle(
  body: Uint8Array,
  options: { bytes: number; delayMs: number; outgoing: ServerResponse; clock: SandboxClock },
): Promise<void> {
  const { bytes, delayMs, outgoing, clock } = options;
  const hungUp = new AbortController();
  outgoing.once('close', () => hungUp.abort());
  for (let at = 0; at < body.length && !outgoing.destroyed; at += bytes) {
    if (at > 0) await clock.sleep(delayMs, hungUp.signal);
    outgoing.write(body.subarray(at, at + bytes));
  }
  outgoing.end();
}

/** Writes a response as its body comes, and no faster than the caller reads it. */
export async function streamResponse(
  response: Response,
  outgoing: ServerResponse,
  method: string | undefined,
): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  const reader = response.body?.getReader();
  if (reader === undefined || method === 'HEAD') {
    await reader?.cancel();
    outgoing.end();
    return;
  }
  const gone = new AbortController();
  const leave = () => {
    gone.abort();
    reader.cancel().catch(() => {});
  };
  // It can have happened while the answer was made.
  if (outgoing.destroyed) return leave();
  outgoing.once('close', leave);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!outgoing.write(value)) await once(outgoing, 'drain', { signal: gone.signal });
  }
  outgoing.end();
}
