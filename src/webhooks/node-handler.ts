import { longestTimerMs, onNextTick } from '../internal/deadline.ts';
import { joinChunks } from '../internal/read-bounded.ts';
import {
  checkHead,
  nodeBodyAdvice,
  type RequestBody,
  type RequestRefusal,
  responseTo,
  type WebhookEndpoint,
  type WebhookResponse,
} from './webhook-endpoint.ts';

/** The parts of `http.ServerResponse` that we use; the one of `node:http2` has them too. */
export interface NodeResponse {
  readonly headersSent: boolean;
  /** Only in HTTP/2. */
  readonly stream?: { close(): unknown } | undefined;
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  write(body: string): unknown;
  end(body: string): unknown;
}

/** For `node:http` and everything built on it. Never rejects, whatever a caller sends. */
export async function handleNode(
  request: NodeRequest,
  response: NodeResponse,
  endpoint: WebhookEndpoint,
): Promise<void> {
  const startedAt = performance.now();
  const read = refuseHead(request, endpoint) ?? keptBody(request) ?? (await readBody(request, endpoint));
  if ('body' in read) {
    // A router of Express takes the path that it is mounted at out of `url`.
    const { originalUrl: url = request.url, headers } = request;
    send(responseTo(await endpoint.receive(read.body, { url, headers })), request, response);
    return;
  }
  const { refusal } = read;
  const refused = endpoint.refuse(read, startedAt);
  // The caller left before its body was complete: there is nobody to answer.
  if (refusal === 'body_unreadable') return;
  // The rest of the body stays unread, so an HTTP/1 connection cannot serve another request. HTTP/2 forbids the
  // header: there the stream is closed with its response.
  const hasUnreadBody = refusal !== 'raw_body_required';
  const isHttp1 = request.httpVersionMajor !== 2;
  const closing = hasUnreadBody && isHttp1 ? { ...refused.headers, connection: 'close' } : refused.headers;
  const answer = { ...refused, headers: closing };
  if (refusal === 'body_too_large') await sendAndDrain(answer, request, response, endpoint);
  else send(answer, request, response);
  if (hasUnreadBody && !isHttp1) response.stream?.close();
}

function refuseHead(
  { method, headers }: NodeRequest,
  { maxBodyBytes }: WebhookEndpoint,
): RequestRefusal | undefined {
  const refusal = checkHead({ method, contentLength: firstValue(headers['content-length']) }, maxBodyBytes);
  return refusal === undefined ? undefined : { refusal };
}

/**
 * Answers at once, and closes the connection later: many a sender reads the answer only after it has sent all, and a
 * connection that is closed before would take the answer with it. Until then the rest of the body is read and dropped.
 */
async function sendAndDrain(
  { status, headers, body }: WebhookResponse,
  request: NodeRequest,
  response: NodeResponse,
  { bodyTimeoutMs }: WebhookEndpoint,
): Promise<void> {
  if (response.headersSent) return;
  // With its length the answer is complete before the response has ended.
  response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) });
  response.write(body);
  await drainBody(request, bodyTimeoutMs);
  response.end('');
}

/** Reads and drops at most this much beyond the limit: the sender reads our answer only after it has sent its body. */
const drainBytes = 16 * 1024 * 1024;

function drainBody(request: NodeRequest, timeoutMs: number): Promise<void> {
  if (request.readableEnded || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(finish, Math.min(timeoutMs, longestTimerMs));
    let dropped = 0;
    request.on('data', ({ length }) => {
      dropped += length;
      if (dropped > drainBytes) finish();
    });
    request.on('end', finish);
    request.on('close', finish);
    request.on('error', finish);
  });
}

function send(
  { status, headers, body }: WebhookResponse,
  { method }: NodeRequest,
  response: NodeResponse,
): void {
  if (response.headersSent) return;
  response.writeHead(status, headers);
  response.end(method === 'HEAD' ? '' : body);
}

function firstValue(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/**
 * The parts of `http.IncomingMessage` that we use; those of Express, Fastify (`request.raw`) and HTTP/2 have them too.
 */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** The whole path of a request, if a router has changed `url`. */
  readonly originalUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly readableEnded: boolean;
  readonly readableDidRead?: boolean;
  readonly httpVersionMajor?: number | undefined;
  readonly destroyed?: boolean | undefined;
  on(event: 'data', listener: (chunk: Uint8Array | string) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** The result of a body parser: bytes and text are used as they are, an object cannot be verified. */
  readonly body?: unknown;
  /** The bytes as received, if a framework keeps them here. */
  readonly rawBody?: unknown;
}

/** The body that a framework has read; `undefined` if it is still in the stream. */
function keptBody(request: NodeRequest): RequestBody | undefined {
  const [rawBody, body] = (['rawBody', 'body'] as const).map((name) => keptAs(name, request));
  for (const kept of [rawBody, body]) {
    if (typeof kept === 'string') return { body: kept };
    // Not by instanceof: test runners have several realms.
    if (ArrayBuffer.isView(kept)) {
      return { body: new Uint8Array(kept.buffer, kept.byteOffset, kept.byteLength) };
    }
  }
  // Express 4 sets `body` to {} if no parser has read it: the bytes are still in the stream.
  if (request.readableDidRead === false) return undefined;
  return request.readableEnded || (typeof body === 'object' && body !== null)
    ? { refusal: 'raw_body_required', advice: nodeBodyAdvice(request) }
    : undefined;
}

/** Some platforms parse when the member is read, and throw for a body that is no JSON. */
function keptAs(name: 'rawBody' | 'body', request: NodeRequest): unknown {
  try {
    return request[name];
  } catch {
    return undefined;
  }
}

function readBody(
  request: NodeRequest,
  { maxBodyBytes, bodyTimeoutMs }: WebhookEndpoint,
): Promise<RequestBody> {
  // Its last event has been emitted.
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
      // The answer is on its way.
      if (isSettled) return;
      // A chunk is text if something called setEncoding before.
      const chunk = typeof data === 'string' ? Buffer.from(data) : data;
      size += chunk.byteLength;
      if (size > maxBodyBytes) settle({ refusal: 'body_too_large' });
      else chunks.push(chunk);
    });
    request.on('end', () => {
      if (!isSettled) settle({ body: joinChunks(chunks, size) });
    });
    const gone = () => settle({ refusal: 'body_unreadable' });
    // In HTTP/1 this many bytes are the whole body, although `end` comes only after this turn of the event loop. Not
    // beside transfer-encoding, which a lenient parser lets through.
    const isDeclared = request.httpVersionMajor === 1 && request.headers['transfer-encoding'] === undefined;
    const declared = isDeclared ? request.headers['content-length'] : undefined;
    onNextTick(() => {
      // Nearly every body arrives with its head. Then a timer, listeners, or `withDeadline` (2 of 20 microseconds)
      // would cost more than this comparison.
      if (isSettled || size === Number(declared ?? Number.NaN)) return;
      request.on('error', gone);
      request.on('close', gone);
      if (request.destroyed) return gone();
      timer = setTimeout(settle, Math.min(bodyTimeoutMs, longestTimerMs), { refusal: 'body_timeout' });
    });
  });
}
