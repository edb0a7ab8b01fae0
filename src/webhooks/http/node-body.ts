import { longestTimerMs } from '../../runtime/longest-timer.ts';
import { onNextTick } from '../../runtime/next-tick.ts';
import { joinChunks } from '../../runtime/read-bounded.ts';
import type { Endpoint } from './endpoint.ts';
import { nodeBodyAdvice } from './parsed-body-advice.ts';
import type { RequestBody } from './request-body.ts';

/**
 * The parts of `http.IncomingMessage` that we use; those of Express, Fastify (`request.raw`) and HTTP/2 have them too.
 */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly readableEnded: boolean;
  readonly readableDidRead?: boolean;
  readonly httpVersionMajor?: number | undefined;
  readonly destroyed?: boolean | undefined;
  on(event: 'data', listener: (chunk: Uint8Array | string) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** What a body parser has left: bytes and text are used as they are, an object cannot be verified. */
  readonly body?: unknown;
  /** The bytes as received, if a framework keeps them here. */
  readonly rawBody?: unknown;
}

/** How much of a body beyond the limit is read and dropped, so that its sender can read the response. */
const drainBytes = 16 * 1024 * 1024;

/** The body of a request: bytes kept by a framework, otherwise the stream, within the limits. */
export async function readNodeBody(request: NodeRequest, endpoint: Endpoint): Promise<RequestBody> {
  return keptBody(request) ?? (await readBody(request, endpoint));
}

/** What a framework has kept of the body; `undefined` if the stream has not been read. */
function keptBody(request: NodeRequest): RequestBody | undefined {
  for (const kept of [request.rawBody, request.body]) {
    if (typeof kept === 'string') return { body: kept };
    // Not by instanceof: test runners have several realms.
    if (ArrayBuffer.isView(kept)) {
      return { body: new Uint8Array(kept.buffer, kept.byteOffset, kept.byteLength) };
    }
  }
  // Express 4 sets `body` to {} if no parser has read it: the bytes are still in the stream.
  if (request.readableDidRead === false) return undefined;
  return request.readableEnded || (typeof request.body === 'object' && request.body !== null)
    ? { refusal: 'raw_body_required', advice: nodeBodyAdvice(request) }
    : undefined;
}

function readBody(request: NodeRequest, { maxBodyBytes, bodyTimeoutMs }: Endpoint): Promise<RequestBody> {
  // Its last event has been emitted, so waiting for another would never end.
  if (request.destroyed) return Promise.resolve({ refusal: 'body_unreadable' });
  return new Promise((resolve) => {
    let chunks: Uint8Array[] = [];
    let size = 0;
    let isSettled = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const settle = (read: RequestBody) => {
      isSettled = true;
      clearTimeout(timer);
      chunks = [];
      resolve(read);
    };
    request.on('data', (data) => {
      // The connection is about to be closed. Drop what still arrives.
      if (isSettled) return;
      // A chunk is text if something called setEncoding before.
      const chunk = typeof data === 'string' ? Buffer.from(data) : data;
      size += chunk.byteLength;
      if (size <= maxBodyBytes) {
        chunks.push(chunk);
        return;
      }
      chunks = [];
      if (size > drainBytes + maxBodyBytes) settle({ refusal: 'body_too_large' });
    });
    request.on('end', () =>
      settle(size > maxBodyBytes ? { refusal: 'body_too_large' } : { body: joinChunks(chunks, size) }),
    );
    const gone = () => settle({ refusal: 'body_unreadable' });
    // In HTTP/1 this many bytes are the whole body, although `end` comes only after this turn of the event loop. Not
    // beside transfer-encoding, which a lenient parser lets through.
    const isDeclared = request.httpVersionMajor === 1 && request.headers['transfer-encoding'] === undefined;
    const declared = isDeclared ? request.headers['content-length'] : undefined;
    onNextTick(() => {
      // Nearly every body arrives with its head. Then there is nothing to wait for, and a timer and listeners would
      // cost more than this comparison.
      if (isSettled || size === Number(declared ?? Number.NaN)) return;
      request.on('error', gone);
      request.on('close', gone);
      if (request.destroyed) return gone();
      timer = setTimeout(settle, Math.min(bodyTimeoutMs, longestTimerMs), { refusal: 'body_timeout' });
    });
  });
}
