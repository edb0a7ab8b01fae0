import { type Answer, answerTo, refuse } from './answer.ts';
import { checkHead } from './check-head.ts';
import type { Outcome } from './outcome.ts';

/** What a handler for a shape of I/O needs of the webhooks. */
export interface Receiver {
  readonly maxBodyBytes: number;
  receive(body: string | Uint8Array): Promise<Outcome>;
  /** Reports that something read the body before we could. */
  reportParsedBody(): void;
}

/** `Request -> Response`. Never rejects for anything a caller sends. */
export async function handleFetch(request: Request, receiver: Receiver): Promise<Response> {
  return toResponse(request, await answerRequest(request, receiver));
}

async function answerRequest(request: Request, receiver: Receiver): Promise<Answer> {
  const head = { method: request.method, header: (name: string) => request.headers.get(name) };
  const refusal = checkHead(head, receiver.maxBodyBytes);
  if (refusal !== undefined) {
    request.body?.cancel().catch(() => {});
    return refuse(refusal);
  }
  if (request.bodyUsed || request.body?.locked) {
    receiver.reportParsedBody();
    return refuse('raw_body_required');
  }
  let body: Uint8Array | undefined;
  try {
    body = await readStream(request.body, receiver.maxBodyBytes);
  } catch {
    return refuse('body_unreadable');
  }
  return body === undefined ? refuse('body_too_large') : answerTo(await receiver.receive(body));
}

/** The whole body, or `undefined` when it passes the limit: the rest is not read. */
async function readStream(
  stream: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = stream?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    // Of something else the size is unknown: it would slip past the limit.
    if (!ArrayBuffer.isView(value)) throw new TypeError('The body stream gave something other than bytes.');
    size += value.byteLength;
    if (size > maxBytes) {
      reader.cancel().catch(() => {});
      return undefined;
    }
    chunks.push(value);
  }
  return joinChunks(chunks, size);
}

/** One array of bytes out of many. */
export function joinChunks(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}

function toResponse(request: Request, { status, headers, body }: Answer): Response {
  return new Response(request.method === 'HEAD' ? null : body, { status, headers });
}
