import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** A reply without the way in which it is sent. */
export interface ReplyParts {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Waits on the sandbox's clock, or until the signal is aborted. */
export type SandboxSleep = (ms: number, signal?: AbortSignal) => Promise<void>;

interface FetchCall {
  readonly signal: AbortSignal;
  readonly sleep: SandboxSleep;
  readonly seed: string;
}

/** How a reply reaches the caller, within one process and over a socket. */
export interface Transport {
  /** The part of the body that the caller gets; `undefined` without a reply. */
  readonly sent: (body: Uint8Array) => Uint8Array | undefined;
  /** The reply, or an error, as Node's fetch would give it. */
  readonly fetch: (reply: ReplyParts, call: FetchCall) => Response | Promise<Response>;
  /** Plays it on the socket. `undefined`: the HTTP server writes the reply as it is. */
  readonly write:
    | ((reply: ReplyParts, outgoing: ServerResponse, sleep: SandboxSleep) => void | Promise<void>)
    | undefined;
}

export const whole: Transport = {
  sent: (body) => body,
  fetch: ({ status, headers, body }) => response(status, headers, body),
  write: undefined,
};

/** Resets the connection (TCP RST), without a byte. */
export const reset = broken(connectionReset, (outgoing) => outgoing.socket?.resetAndDestroy());

/** Closes the connection, without a byte. */
export const close = broken(
  (seed) => connectionClosed('fetch failed', seed),
  (outgoing) => outgoing.socket?.destroy(),
);

function broken(
  error: (seed: string) => TypeError,
  breakOff: (outgoing: ServerResponse) => unknown,
): Transport {
  return {
    sent: () => undefined,
    fetch: (_, { seed }) => Promise.reject(error(seed)),
    write: (_, outgoing) => void breakOff(outgoing),
  };
}

/** Sends nothing, and leaves the connection open. */
export const stall: Transport = {
  sent: () => undefined,
  fetch: (_, { signal }) => rejectedOnAbort(signal),
  write: () => {},
};

export const gzip: Transport = {
  sent: (body) => body,
  fetch({ status, headers, body }) {
    // fetch decompresses the body and leaves the headers as they were.
    const packed = new Headers(headers);
    packed.set('content-encoding', 'gzip');
    packed.set('content-length', String(gzipSync(body).length));
    return response(status, packed, body);
  },
  write({ status, headers, body }, outgoing) {
    const packed = gzipSync(body);
    outgoing.writeHead(status, {
      ...Object.fromEntries(headers),
      'content-encoding': 'gzip',
      'content-length': packed.length,
    });
    outgoing.end(outgoing.req.method === 'HEAD' ? undefined : packed);
  },
};

/** Sends the head and these bytes of the body, and closes the connection. The head announces more. */
export function truncate(bytes: number): Transport {
  return {
    sent: (body) => body.subarray(0, bytes),
    fetch({ status, headers, body }, { seed }) {
      const error = connectionClosed('terminated', seed);
      return response(status, headers, endingIn(error, body.subarray(0, bytes)));
    },
    write({ status, headers, body }, outgoing) {
      outgoing.writeHead(status, Object.fromEntries(headers));
      // Destroyed when the bytes have left, so that the caller sees them.
      outgoing.write(body.subarray(0, bytes), () => outgoing.socket?.destroy());
      outgoing.flushHeaders();
      if (bytes === 0) setImmediate(() => outgoing.socket?.destroy());
    },
  };
}

/** Sends the body in pieces of these bytes, with pauses on the sandbox's clock. */
export function trickle(bytes: number, delayMs: number): Transport {
  return {
    sent: (body) => body,
    fetch: ({ status, headers, body }, { signal, sleep }) => {
      let position = 0;
      const pieces = new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (position >= body.length) return controller.close();
          if (position > 0) await sleep(delayMs, signal);
          if (signal.aborted) return controller.error(signal.reason);
          controller.enqueue(body.subarray(position, position + bytes));
          position += bytes;
        },
      });
      return response(status, headers, pieces);
    },
    async write({ status, headers, body }, outgoing, sleep) {
      outgoing.writeHead(status, Object.fromEntries(headers));
      const hungUp = new AbortController();
      outgoing.once('close', () => hungUp.abort());
      for (let position = 0; position < body.length && !outgoing.destroyed; position += bytes) {
        if (position > 0) await sleep(delayMs, hungUp.signal);
        outgoing.write(body.subarray(position, position + bytes));
      }
      outgoing.end();
    },
  };
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

function endingIn(error: Error, start: Uint8Array): ReadableStream<Uint8Array> {
  let isSent = start.length === 0;
  return new ReadableStream({
    pull(controller) {
      if (isSent) controller.error(error);
      else controller.enqueue(start);
      isSent = true;
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
