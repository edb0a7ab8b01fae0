import { endOfTurn, withDeadline } from '../internal/deadline.ts';
import { readBounded } from '../internal/read-bounded.ts';
import {
  checkHead,
  closingResponse,
  type RequestBody,
  responseTo,
  type WebhookEndpoint,
  type WebhookResponse,
} from './webhook-endpoint.ts';

/** The parts of a `Request` that we use; the `HttpRequest` of Azure Functions has them too. */
export type FetchRequest = Pick<Request, 'method' | 'url' | 'headers' | 'bodyUsed'> & {
  readonly body:
    | (Pick<ReadableStream<Uint8Array>, 'locked' | 'cancel'> & {
        getReader(): ReadableStreamDefaultReader<Uint8Array>;
      })
    | null;
};

/** `Request -> Response`. Never rejects, whatever a caller sends. */
export async function handleFetch(request: FetchRequest, endpoint: WebhookEndpoint): Promise<Response> {
  const { status, headers, body } = await respond(request, endpoint);
  return new Response(request.method === 'HEAD' ? null : body, { status, headers });
}

async function respond(request: FetchRequest, endpoint: WebhookEndpoint): Promise<WebhookResponse> {
  const refusal = checkHead(request.method, request.headers.get('content-length'), endpoint.maxBodyBytes);
  if (refusal !== undefined) {
    void (async () => request.body?.cancel())().catch(() => {});
    return endpoint.refuse(refusal);
  }
  const read = await readFetchBody(request, endpoint).catch(unreadable);
  if (read.refusal === undefined) return responseTo(await endpoint.receive(read.body, request));
  const refused = endpoint.refuse(read.refusal);
  // The rest of a late body may never come, so the connection cannot serve another request.
  return read.refusal === 'body_timeout' ? closingResponse(refused) : refused;
}

/** A refused body is not read to its end. */
async function readFetchBody(
  request: FetchRequest,
  { maxBodyBytes, bodyTimeoutMs }: WebhookEndpoint,
): Promise<RequestBody> {
  if (request.bodyUsed || request.body?.locked) return { refusal: 'raw_body_required' };
  if (request.body === null) return { body: new Uint8Array() };
  const reader = request.body.getReader();
  let read: RequestBody | undefined;
  const reading: Promise<RequestBody> = readBounded({ getReader: () => reader }, maxBodyBytes)
    .then((body): RequestBody => (body === undefined ? { refusal: 'body_too_large' } : { body }))
    .catch(unreadable)
    .then((result) => (read = result));
  // Nearly every body arrives with its head. Then there is nothing to set a timer for.
  await endOfTurn();
  read ??= await withDeadline({ ms: bodyTimeoutMs }, () => reading).catch(
    (): RequestBody => ({
      refusal: 'body_timeout',
    }),
  );
  // A body that is late is still being read.
  if (read.refusal !== undefined) reader.cancel().catch(() => {});
  return read;
}

/** Also where a platform's own `body` throws. */
function unreadable(): RequestBody {
  return { refusal: 'body_unreadable' };
}
