import { gzipSync } from 'node:zlib';
import type { SandboxClock } from '../clock/sandbox-clock.ts';
import { connectionClosed, connectionReset } from './connection-errors.ts';
import type { WireReply } from './wire-reply.ts';

/** A reply as Node's fetch would give it, or the error that it would reject with. */
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
      // fetch decompresses the body and leaves the headers as they came.
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
