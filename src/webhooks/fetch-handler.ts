import { endOfTurn, withDeadline } from '../internal/deadline.ts';
import { type ByteSource, readBounded } from '../internal/read-bounded.ts';
import {
  checkHead,
  fetchBodyAdvice,
  type RequestBody,
  responseTo,
  type WebhookEndpoint,
  type WebhookResponse,
} from './webhook-endpoint.ts';

/** The parts of a `Request` that we use; the `HttpRequest` of Azure Functions has them too. */
export interface FetchRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body:
    | (Pick<ReadableStream<Uint8Array>, 'locked' | 'cancel'> & {
        getReader(): ReadableStreamDefaultReader<Uint8Array>;
      })
    | null;
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** `Request -> Response`. Never rejects, whatever a caller sends. */
export async function handleFetch(request: FetchRequest, endpoint: WebhookEndpoint): Promise<Response> {
  const { status, headers, body } = await respond(request, endpoint);
  return new Response(request.method === 'HEAD' ? null : body, { status, headers });
}

async function respond(request: FetchRequest, endpoint: WebhookEndpoint): Promise<WebhookResponse> {
  const startedAt = performance.now();
  const head = { method: request.method, contentLength: request.headers.get('content-length') };
  const refusal = checkHead(head, endpoint.maxBodyBytes);
  if (refusal !== undefined) {
    void (async () => request.body?.cancel())().catch(() => {});
    return endpoint.refuse({ refusal }, startedAt);
  }
  const read = await readFetchBody(request, endpoint).catch(unreadable);
  if ('body' in read) return responseTo(await endpoint.receive(read.body, request));
  const refused = endpoint.refuse(read, startedAt);
  if (read.refusal !== 'body_timeout') return refused;
  // The rest of the body may never come, so the connection cannot serve another request.
  return { ...refused, headers: { ...refused.headers, connection: 'close' } };
}

/** A refused body is not read to its end. */
async function readFetchBody(
  request: FetchRequest,
  { maxBodyBytes, bodyTimeoutMs }: WebhookEndpoint,
): Promise<RequestBody> {
  const alreadyRead: RequestBody = { refusal: 'raw_body_required', advice: fetchBodyAdvice };
  if (request.bodyUsed) return alreadyRead;
  if (isHeldToItsLength(request)) {
    return await inTime(readWhole(request), bodyTimeoutMs);
  }
  if (request.body?.locked) return alreadyRead;
  if (request.body === null) return { body: new Uint8Array() };
  const reader = request.body.getReader();
  const read = await inTime(readPieces({ getReader: () => reader }, maxBodyBytes), bodyTimeoutMs);
  // A body that is late is still being read.
  if ('refusal' in read) reader.cancel().catch(() => {});
  return read;
}

/**
 * Whether the body cannot be longer than its declared length, which was checked: then it can be read whole. That is so
 * for adapters on Node such as Hono's: their requests inherit from `Request` without a constructor and have their own
 * `arrayBuffer`. Making their `body` would cost half as much as the delivery. In other requests a stream and its header
 * may disagree.
 */
function isHeldToItsLength(request: FetchRequest): boolean {
  const { headers } = request;
  if (!/^\d+$/.test(headers.get('content-length') ?? '') || headers.has('transfer-encoding')) return false;
  const prototype = Object.getPrototypeOf(request);
  return (
    request instanceof Request &&
    !Object.hasOwn(prototype, 'constructor') &&
    Object.hasOwn(prototype, 'arrayBuffer')
  );
}

/** Its size is checked where it is received. */
async function readWhole(request: FetchRequest): Promise<RequestBody> {
  return { body: new Uint8Array(await request.arrayBuffer()) };
}

async function readPieces(stream: ByteSource, maxBytes: number): Promise<RequestBody> {
  const body = await readBounded(stream, maxBytes);
  return body === undefined ? { refusal: 'body_too_large' } : { body };
}

/** Also where a platform's own `body` throws. */
function unreadable(): RequestBody {
  return { refusal: 'body_unreadable' };
}

async function inTime(reading: Promise<RequestBody>, ms: number): Promise<RequestBody> {
  let read: RequestBody | undefined;
  const settled = reading.catch(unreadable).then((settledWith) => {
    read = settledWith;
    return settledWith;
  });
  // Nearly every body arrives with its head. Then there is nothing to set a timer for.
  await endOfTurn();
  if (read !== undefined) return read;
  return await withDeadline({ ms }, () => settled).catch(() => ({ refusal: 'body_timeout' }));
}
