import { longestTimerMs, onNextTick } from '../internal/deadline.ts';
import { joinChunks } from '../internal/read-bounded.ts';
import {
  checkHead,
  closingResponse,
  type RequestBody,
  responseTo,
  type WebhookEndpoint,
  type WebhookResponse,
} from './webhook-endpoint.ts';

/** The parts of `http.ServerResponse` that we use. */
export interface NodeResponse {
  readonly headersSent: boolean;
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  end(body: string): unknown;
}

/** The handler for `node:http` and everything built on it. Never rejects, whatever a caller sends. */
export async function handleNode(
  request: NodeRequest,
  response: NodeResponse,
  endpoint: WebhookEndpoint,
): Promise<void> {
  const { method, headers } = request;
  const refusal = checkHead(method, headers['content-length'], endpoint.maxBodyBytes);
  const read =
    refusal === undefined ? (keptBody(request) ?? (await readBody(request, endpoint))) : { refusal };
  if (read.refusal === undefined) {
    // A router of Express takes the path that it is mounted at out of `url`.
    const { originalUrl: url = request.url } = request;
    return send(responseTo(await endpoint.receive(read.body, { url, headers })), response);
  }
  const refused = endpoint.refuse(read.refusal);
  // The caller left before its body was complete: there is nobody to answer.
  if (read.refusal === 'body_unreadable' || response.headersSent) return;
  send(read.refusal === 'body_timeout' ? closingResponse(refused) : refused, response);
  if (request.readableEnded) return;
  // Node reads and drops the rest of a body, so that its sender gets to read the answer, but for minutes.
  const timer = setTimeout(() => request.destroy?.(), Math.min(endpoint.bodyTimeoutMs, longestTimerMs));
  request.on('close', () => clearTimeout(timer));
}

function send({ status, headers, body }: WebhookResponse, response: NodeResponse): void {
  if (response.headersSent) return;
  response.writeHead(status, headers);
  response.end(body);
}

/**
 * The parts of `http.IncomingMessage` that we use; those of Express and Fastify (`request.raw`) have them too.
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
  destroy?(): unknown;
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
  const body = keptAs('body', request);
  for (const kept of [keptAs('rawBody', request), body]) {
    if (typeof kept === 'string') return { body: kept };
    // Not by instanceof: test runners have several realms.
    if (ArrayBuffer.isView(kept)) {
      return { body: new Uint8Array(kept.buffer, kept.byteOffset, kept.byteLength) };
    }
  }
  // Express 4 sets `body` to {} if no parser has read it: the bytes are still in the stream.
  if (request.readableDidRead === false) return undefined;
  const isRead = request.readableEnded || (typeof body === 'object' && body !== null);
  return isRead ? { refusal: 'raw_body_required' } : undefined;
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
    // In HTTP/1 this many bytes are the whole body, although `end` comes only after this turn of the event loop. Not
    // beside transfer-encoding, which a lenient parser lets through.
    const isDeclared = request.httpVersionMajor === 1 && request.headers['transfer-encoding'] === undefined;
    const declared = isDeclared ? request.headers['content-length'] : undefined;
    onNextTick(() => {
      // Nearly every body arrives with its head. Then a timer or listeners would cost more than this comparison.
      if (isSettled || size === Number(declared ?? Number.NaN)) return;
      const gone = () => settle({ refusal: 'body_unreadable' });
      if (request.destroyed) return gone();
      request.on('error', gone);
      request.on('close', gone);
      timer = setTimeout(settle, Math.min(bodyTimeoutMs, longestTimerMs), { refusal: 'body_timeout' });
    });
  });
}
