import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { SandboxClock } from '../clock/sandbox-clock.ts';
import { adminPath, type ServeAdmin } from './admin-access.ts';
import type { HostCheck } from './host-check.ts';
import { Refusal } from './refusal.ts';
import { errorReply } from './replies.ts';
import type { Serve } from './serve.ts';
import { socketReply } from './socket-reply.ts';
import { streamResponse } from './stream-response.ts';
import { wireReply } from './wire-reply.ts';

const malformed = new Refusal(400, 'bad_request', 'The method or the path is none that can be answered.');

const foreignHost = new Refusal(
  403,
  'host_not_allowed',
  'The Host or Origin of the request is not that of the sandbox: name it in listen({ allowedHosts }).',
);

interface ListenerOptions {
  serve: Serve;
  /** Answers under `/_sandbox/`; `undefined` if nobody does. */
  serveAdmin: ServeAdmin | undefined;
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
  { serve, serveAdmin, clock, maxBodyBytes, originOf }: ListenerOptions,
): Promise<void> {
  // One byte more than allowed is enough to see that the body is too large.
  const body = await readUpTo(incoming, maxBodyBytes + 1);
  const origin = originOf(incoming.headers);
  const connection = { ip: incoming.socket.remoteAddress ?? '' };
  const request = origin === undefined ? undefined : toRequest(incoming, body, origin);
  if (request !== undefined && serveAdmin !== undefined && isAdmin(incoming)) {
    return streamResponse(await serveAdmin(request, connection), outgoing, incoming.method);
  }
  const reply =
    request === undefined
      ? await wireReply(errorReply(origin === undefined ? foreignHost : malformed))
      : await serve(request, connection);
  await socketReply(reply, outgoing, { method: incoming.method, clock });
}

function isAdmin({ url = '' }: IncomingMessage): boolean {
  return url.startsWith(adminPath) || url === adminPath.slice(0, -1);
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
