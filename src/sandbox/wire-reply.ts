import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { isJsonObject, type JsonObject } from '../internal/json.ts';
import type { SandboxClock } from './clock.ts';
import type { RequestFaultName, TimedRequestFault } from './faults/faults.ts';
import {
  type DenialForm,
  denialOf,
  isDenial,
  type ReplyForm,
  replyFormNames,
  replyForms,
} from './reply-forms.ts';
import { jsonReply } from './requests.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { ServerReply } from './server/http-server.ts';

/** How a reply reaches the caller. */
type Transport =
  | { readonly kind: 'whole' }
  /** Reset (TCP RST), without a byte. */
  | { readonly kind: 'reset' }
  /** Closed, without a byte. */
  | { readonly kind: 'close' }
  /** Nothing comes, and the connection stays open. */
  | { readonly kind: 'stall' }
  /** A head with a greater length, some bytes of the body, and the end of the connection. */
  | { readonly kind: 'truncate'; readonly bytes: number }
  | { readonly kind: 'trickle'; readonly bytes: number; readonly delayMs: number }
  | { readonly kind: 'gzip' };

export interface WireReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly transport: Transport;
}

const whole: Transport = { kind: 'whole' };

export async function wireReply(response: Response): Promise<WireReply> {
  const { status, headers } = response;
  return { status, headers, body: new Uint8Array(await response.arrayBuffer()), transport: whole };
}

const unavailable = { error: 'unavailable', message: 'The sandbox plays a service that is not available.' };

/** The service's own reply, or a 503 before the effect; the fault has the details that `checkFault` fills in. */
interface FaultPlay {
  readonly reply: WireReply;
  readonly fault: TimedRequestFault;
  readonly random: SeededRandom;
}

/** The reply under a fault. Before the effect, faults that change a reply change a 503. */
export async function faultyReply(
  fault: TimedRequestFault,
  { own, random }: { own: WireReply | undefined; random: SeededRandom },
): Promise<WireReply> {
  const reply = own ?? (await wireReply(jsonReply(503, unavailable)));
  const played = await plays[fault.kind]({ reply, fault, random });
  return played instanceof Response ? wireReply(played) : played;
}

/** Every fault of a request. */
const plays: Record<RequestFaultName, (play: FaultPlay) => WireReply | Response> = {
  reset: ({ reply }) => ({ ...reply, transport: { kind: 'reset' } }),
  reply_lost: ({ reply }) => ({ ...reply, transport: { kind: 'close' } }),
  stall: ({ reply }) => ({ ...reply, transport: { kind: 'stall' } }),
  trickle: ({ reply, fault: { bytes = 1, delayMs = 0 } }) => ({
    ...reply,
    transport: { kind: 'trickle', bytes, delayMs },
  }),
  truncate: ({ reply, fault }) => {
    const { length } = reply.body;
    const headers = new Headers(reply.headers);
    // At least one byte more than is sent.
    headers.set('content-length', String(Math.max(length, 1)));
    const bytes = Math.min(fault.bytes ?? Math.floor(length / 2), Math.max(length - 1, 0));
    return { ...reply, headers, transport: { kind: 'truncate', bytes } };
  },
  too_many_requests: ({ fault }) =>
    jsonReply(
      429,
      { error: 'too_many_requests', message: 'The sandbox plays a service with a rate limit.' },
      { 'retry-after': String(fault.retryAfterSeconds) },
    ),
  server_error: ({ fault }) => jsonReply(fault.status ?? 500, unavailable),
  redirect: ({ fault }) =>
    new Response(null, { status: fault.status ?? 307, headers: { location: fault.location ?? '' } }),
  html: ({ fault }) => html(fault.status ?? 502),
  misdirected: () =>
    jsonReply(421, {
      error: 'misdirected_request',
      message: 'The sandbox plays a connection that is not meant for this host.',
    }),
  ok_with_error: ({ fault: { form = '' } }) =>
    jsonReply(200, isDenial(form) ? denialOf(form, unavailable) : {}),
  wrong_content_type: ({ reply }) => withType(reply, 'text/html; charset=utf-8'),
  gzip: ({ reply }) => ({ ...reply, transport: { kind: 'gzip' } }),
  other_reply: ({ reply, fault, random }) => {
    const drawn = replyFormNames[Math.floor(random.fraction() * replyFormNames.length)] ?? 'text';
    return inForm(reply, replyFormNames.find((form) => form === fault.form) ?? drawn);
  },
  other_status: ({ reply, fault }) => withStatus(reply, fault.status ?? 202),
  conflict: ({ fault }) =>
    jsonReply(fault.status ?? 409, {
      error: 'conflict',
      message: 'The sandbox plays a service that has it already.',
    }),
};

/** A successful reply with another body. Every other reply stays as it is. */
export function inForm(reply: WireReply, form: ReplyForm): WireReply {
  const own = objectOf(reply.body);
  if (reply.status < 200 || reply.status > 299 || own === undefined) return reply;
  const { type, text } = replyForms[form](own);
  return withType({ ...reply, body: new TextEncoder().encode(text) }, type);
}

/** A refusal as a 200 whose body denies. Only a JSON object can be written so. */
export function asDenial(reply: WireReply, form: 'ok' | DenialForm): WireReply {
  const own = objectOf(reply.body);
  if (own === undefined) return reply;
  const denial = form === 'ok' ? { success: false, ...own } : denialOf(form, own);
  const body = new TextEncoder().encode(JSON.stringify(denial));
  return { ...reply, status: 200, body };
}

/** A reply with another status, without its body where the status has none. */
export function withStatus(reply: WireReply, status: number): WireReply {
  const isBare = [204, 205, 304].includes(status);
  const headers = new Headers(reply.headers);
  if (isBare) headers.delete('content-type');
  return { ...reply, status, headers, body: isBare ? new Uint8Array() : reply.body };
}

function withType(reply: WireReply, type: string): WireReply {
  const headers = new Headers(reply.headers);
  headers.set('content-type', type);
  return { ...reply, headers };
}

function objectOf(body: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function html(status: number): Response {
  const page = `<!doctype html>
<html><head><title>${status} Bad Gateway</title></head>
<body><center><h1>${status} Bad Gateway</h1></center><hr><center>gateway</center></body></html>
`;
  // A status without a body cannot have the page.
  const body = [204, 205, 304].includes(status) ? null : page;
  return new Response(body, { status, headers: { 'content-type': 'text/html' } });
}

/** A reply for the HTTP server, which plays its fault on the socket. */
export function socketReply(reply: WireReply, clock: SandboxClock): ServerReply {
  if (reply.transport.kind === 'whole') return reply;
  return { ...reply, write: (outgoing) => writeBroken(reply, outgoing, clock) };
}

async function writeBroken(reply: WireReply, outgoing: ServerResponse, clock: SandboxClock): Promise<void> {
  const { transport, body, status } = reply;
  const headers = Object.fromEntries(reply.headers);
  switch (transport.kind) {
    case 'reset':
      outgoing.socket?.resetAndDestroy();
      return;
    case 'close':
      outgoing.socket?.destroy();
      return;
    case 'gzip': {
      const packed = gzipSync(body);
      outgoing.writeHead(status, { ...headers, 'content-encoding': 'gzip', 'content-length': packed.length });
      outgoing.end(outgoing.req.method === 'HEAD' ? undefined : packed);
      return;
    }
    case 'truncate':
      outgoing.writeHead(status, headers);
      // Destroyed when the bytes have left, so that the caller sees them.
      outgoing.write(body.subarray(0, transport.bytes), () => outgoing.socket?.destroy());
      outgoing.flushHeaders();
      if (transport.bytes === 0) setImmediate(() => outgoing.socket?.destroy());
      return;
    case 'trickle': {
      const { bytes, delayMs } = transport;
      outgoing.writeHead(status, headers);
      const hungUp = new AbortController();
      outgoing.once('close', () => hungUp.abort());
      for (let at = 0; at < body.length && !outgoing.destroyed; at += bytes) {
        if (at > 0) await clock.sleep(delayMs, hungUp.signal);
        outgoing.write(body.subarray(at, at + bytes));
      }
      outgoing.end();
    }
  }
}

/** A reply, or an error, as Node's fetch would give it. */
export async function fetchReply(
  reply: WireReply,
  { signal, clock, seed }: { signal: AbortSignal; clock: SandboxClock; seed: string },
): Promise<Response> {
  const { transport, body, status } = reply;
  const headers = new Headers(reply.headers);
  switch (transport.kind) {
    case 'whole':
      return response(status, headers, body);
    case 'reset':
      throw connectionReset(seed);
    case 'close':
      throw connectionClosed('fetch failed', seed);
    case 'stall':
      return rejectedOnAbort(signal);
    case 'gzip':
      // fetch decompresses the body and leaves the headers as they were.
      headers.set('content-encoding', 'gzip');
      headers.set('content-length', String(gzipSync(body).length));
      return response(status, headers, body);
    case 'truncate': {
      const error = connectionClosed('terminated', seed);
      return response(status, headers, truncated(body.subarray(0, transport.bytes), error));
    }
    case 'trickle':
      return response(status, headers, trickled(body, { ...transport, signal, clock }));
  }
}

function response(status: number, headers: Headers, body: Uint8Array | ReadableStream<Uint8Array>): Response {
  const isEmpty = body instanceof Uint8Array && body.length === 0;
  // Sound: these bytes are never in shared memory, which the type would allow.
  return new Response(isEmpty ? null : (body as Uint8Array<ArrayBuffer>), { status, headers });
}

function rejectedOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function truncated(start: Uint8Array, error: Error): ReadableStream<Uint8Array> {
  let isSent = start.length === 0;
  return new ReadableStream({
    pull(controller) {
      if (isSent) controller.error(error);
      else controller.enqueue(start);
      isSent = true;
    },
  });
}

function trickled(
  body: Uint8Array,
  options: { bytes: number; delayMs: number; signal: AbortSignal; clock: SandboxClock },
): ReadableStream<Uint8Array> {
  const { bytes, delayMs, signal, clock } = options;
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      if (at >= body.length) return controller.close();
      if (at > 0) await clock.sleep(delayMs, signal);
      if (signal.aborted) return controller.error(signal.reason);
      controller.enqueue(body.subarray(at, at + bytes));
      at += bytes;
    },
  });
}

/**
 * The errors of Node's fetch (undici), so that a client sees the same in one process as over a socket. The seed in
 * the cause's message appears in the output of a failed test.
 */
function connectionReset(seed: string): TypeError {
  const cause = Object.assign(new Error(`read ECONNRESET (sandbox seed ${seed})`), {
    errno: -104,
    code: 'ECONNRESET',
    syscall: 'read',
  });
  return new TypeError('fetch failed', { cause });
}

/** The peer closed the connection before a reply (`fetch failed`) or within its body (`terminated`). */
function connectionClosed(message: 'fetch failed' | 'terminated', seed: string): TypeError {
  const cause = Object.assign(new Error(`other side closed (sandbox seed ${seed})`), {
    name: 'SocketError',
    code: 'UND_ERR_SOCKET',
  });
  return new TypeError(message, { cause });
}
