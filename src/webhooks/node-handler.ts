import { type Answer, answerTo, refuse } from './answer.ts';
import { checkHead } from './check-head.ts';
import { joinChunks, longestDelay, type Receiver } from './fetch-handler.ts';

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
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body?: string): unknown;
}

/** How far a body over the limit is read and thrown away, so that its sender gets to see the answer. */
const drainBytes = 16 * 1024 * 1024;

/** For `node:http` and what is built on it. Never rejects for anything a caller sends. */
export async function handleNode(
  request: NodeRequest,
  response: NodeResponse,
  receiver: Receiver,
): Promise<void> {
  const answer = await answerRequest(request, receiver);
  // Gone before its body was whole: there is nobody to answer.
  if (answer === undefined || response.headersSent) return;
  // Said here, since Node would send a body of unknown length in chunks.
  const length = String(Buffer.byteLength(answer.body));
  response.writeHead(answer.status, { ...answer.headers, 'content-length': length });
  response.end(request.method === 'HEAD' ? undefined : answer.body);
}

async function answerRequest(request: NodeRequest, receiver: Receiver): Promise<Answer | undefined> {
  const head = { method: request.method, header: (name: string) => firstValue(request.headers[name]) };
  const refusal = checkHead(head, receiver.maxBodyBytes);
  if (refusal !== undefined && refusal !== 'body_too_large') return close(refuse(refusal));
  const kept = keptBody(request);
  if (kept === 'parsed') {
    receiver.reportParsedBody();
    return refuse('raw_body_required');
  }
  const body = kept ?? (await readBody(request, receiver));
  if (body === 'gone') return undefined;
  if (body === 'body_too_large' || body === 'body_timeout') return close(refuse(body));
  return answerTo(await receiver.receive(body));
}

/** What a framework has kept of the body; `undefined` when the stream has not been read yet. */
function keptBody(request: NodeRequest): string | Uint8Array | 'parsed' | undefined {
  for (const kept of [request.rawBody, request.body]) {
    if (typeof kept === 'string') return kept;
    // Not by its class: tests run in a realm of their own.
    if (ArrayBuffer.isView(kept)) return new Uint8Array(kept.buffer, kept.byteOffset, kept.byteLength);
  }
  // Express 4 sets `body` to {} where no parser took an interest: the bytes are still to be read then.
  if (request.readableDidRead === false) return undefined;
  return request.readableEnded || (typeof request.body === 'object' && request.body !== null)
    ? 'parsed'
    : undefined;
}

function readBody(
  request: NodeRequest,
  { maxBodyBytes, bodyTimeoutMs }: Receiver,
): Promise<Uint8Array | 'body_too_large' | 'body_timeout' | 'gone'> {
  // Then its last event is over, and waiting for one would never end.
  if (request.destroyed) return Promise.resolve('gone');
  return new Promise((resolve) => {
    let chunks: Uint8Array[] = [];
    let size = 0;
    let settled = false;
    const settle = (body: Uint8Array | 'body_too_large' | 'body_timeout' | 'gone') => {
      settled = true;
      clearTimeout(timer);
      chunks = [];
      resolve(body);
    };
    const timer = setTimeout(settle, Math.min(bodyTimeoutMs, longestDelay), 'body_timeout');
    request.on('data', (data) => {
      // What still comes is thrown away: the connection is about to be closed.
      if (settled) return;
      // Text when something called setEncoding before us.
      const chunk = typeof data === 'string' ? Buffer.from(data) : data;
      size += chunk.byteLength;
      if (size <= maxBodyBytes) {
        chunks.push(chunk);
        return;
      }
      chunks = [];
      if (size > drainBytes + maxBodyBytes) settle('body_too_large');
    });
    request.on('end', () => settle(size > maxBodyBytes ? 'body_too_large' : joinChunks(chunks, size)));
    request.on('error', () => settle('gone'));
    request.on('close', () => settle('gone'));
  });
}

/** The rest of the request is not read: the connection cannot serve another. */
function close(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, connection: 'close' } };
}

function firstValue(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
