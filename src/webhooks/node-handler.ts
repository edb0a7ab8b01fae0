import { afterTurn } from './after-turn.ts';
import { type Answer, answerTo } from './answer.ts';
import { checkHead } from './check-head.ts';
import { joinChunks } from './fetch-handler.ts';
import type { RequestRefusalCode } from './outcome.ts';
import type { Receiver } from './receiver.ts';
import { longestTimerMs } from './time-limit.ts';

/** The parts of `http.IncomingMessage` that are used; Express and Fastify (`request.raw`) have them too. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly readableEnded: boolean;
  readonly readableDidRead?: boolean;
  readonly destroyed?: boolean | undefined;
  on(event: 'data', listener: (chunk: Uint8Array | string) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** What a body parser left: bytes and text are used as they are, an object cannot be verified. */
  readonly body?: unknown;
  /** The bytes as received, where a framework keeps them under this name. */
  readonly rawBody?: unknown;
}

/** The parts of `http.ServerResponse` that are used. */
export interface NodeResponse {
  readonly headersSent: boolean;
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  end(body?: string): unknown;
}

/** How far a body over the limit is read and thrown away, so that its sender gets to see the answer. */
const drainBytes = 16 * 1024 * 1024;

/** A body as received, or why there is none. */
type Taken = { readonly body: string | Uint8Array } | { readonly refusal: RequestRefusalCode };

/** For `node:http` and what is built on it. Never rejects for anything a caller sends. */
export async function handleNode(
  request: NodeRequest,
  response: NodeResponse,
  receiver: Receiver,
): Promise<void> {
  const begun = performance.now();
  const taken = refuseHead(request, receiver) ?? keptBody(request) ?? (await readBody(request, receiver));
  if ('body' in taken) {
    send(answerTo(await receiver.receive(taken.body)), request, response);
    return;
  }
  const { refusal } = taken;
  const answer = receiver.refuse(refusal, begun);
  // Gone before its body was whole: there is nobody to answer.
  if (refusal === 'body_unreadable') return;
  // Unless something else has read it, the rest of the request is not read: the connection cannot serve another.
  const closing = refusal === 'raw_body_required' ? {} : { connection: 'close' };
  send({ ...answer, headers: { ...answer.headers, ...closing } }, request, response);
}

function refuseHead({ method, headers }: NodeRequest, { maxBodyBytes }: Receiver): Taken | undefined {
  const refusal = checkHead({ method, header: (name) => firstValue(headers[name]) }, maxBodyBytes);
  // By its length alone a body is not refused: its sender would not get to see the answer.
  return refusal === undefined || refusal === 'body_too_large' ? undefined : { refusal };
}

/** What a framework has kept of the body; `undefined` when the stream has not been read yet. */
function keptBody(request: NodeRequest): Taken | undefined {
  for (const kept of [request.rawBody, request.body]) {
    if (typeof kept === 'string') return { body: kept };
    // Not by its class: tests run in a realm of their own.
    if (ArrayBuffer.isView(kept)) {
      return { body: new Uint8Array(kept.buffer, kept.byteOffset, kept.byteLength) };
    }
  }
  // Express 4 sets `body` to {} where no parser took an interest: the bytes are still to be read then.
  if (request.readableDidRead === false) return undefined;
  return request.readableEnded || (typeof request.body === 'object' && request.body !== null)
    ? { refusal: 'raw_body_required' }
    : undefined;
}

function readBody(request: NodeRequest, { maxBodyBytes, bodyTimeoutMs }: Receiver): Promise<Taken> {
  // Then its last event is over, and waiting for one would never end.
  if (request.destroyed) return Promise.resolve({ refusal: 'body_unreadable' });
  return new Promise((resolve) => {
    let chunks: Uint8Array[] = [];
    let size = 0;
    let isSettled = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const settle = (taken: Taken) => {
      isSettled = true;
      clearTimeout(timer);
      chunks = [];
      resolve(taken);
    };
    request.on('data', (data) => {
      // What still comes is thrown away: the connection is about to be closed.
      if (isSettled) return;
      // Text when something called setEncoding before us.
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
    request.on('error', gone);
    request.on('close', gone);
    // The parser says when the request has ended, but not before the turn has.
    const declared = Number(request.headers['content-length'] ?? Number.NaN);
    afterTurn(() => {
      // Nearly every body comes with its head.
      if (isSettled || size === declared) return;
      timer = setTimeout(settle, Math.min(bodyTimeoutMs, longestTimerMs), { refusal: 'body_timeout' });
    });
  });
}

function send({ status, headers, body }: Answer, { method }: NodeRequest, response: NodeResponse): void {
  if (response.headersSent) return;
  response.writeHead(status, headers);
  response.end(method === 'HEAD' ? undefined : body);
}

function firstValue(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
