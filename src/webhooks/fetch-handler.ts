import { type Answer, answerTo } from './answer.ts';
import { checkHead } from './check-head.ts';
import type { Receiver } from './receiver.ts';
import { longestTimerMs } from './time-limit.ts';

/** `Request -> Response`. Never rejects for anything a caller sends. */
export async function handleFetch(request: Request, receiver: Receiver): Promise<Response> {
  return toResponse(request, await answerRequest(request, receiver));
}

async function answerRequest(request: Request, receiver: Receiver): Promise<Answer> {
  const begun = performance.now();
  const head = { method: request.method, header: (name: string) => request.headers.get(name) };
  const refusal = checkHead(head, receiver.maxBodyBytes);
  if (refusal !== undefined) {
    request.body?.cancel().catch(() => {});
    return receiver.refuse(refusal, begun);
  }
  if (request.bodyUsed || request.body?.locked) {
    return receiver.refuse('raw_body_required', begun);
  }
  if (request.body === null) return answerTo(await receiver.receive(new Uint8Array()));
  const reader = request.body.getReader();
  const { late, stop } = startDeadline(receiver.bodyTimeoutMs);
  let body: Uint8Array | 'body_too_large' | 'body_timeout';
  try {
    body = await Promise.race([readAll(reader, receiver.maxBodyBytes), late]);
  } catch {
    return receiver.refuse('body_unreadable', begun);
  } finally {
    stop();
  }
  if (typeof body !== 'string') return answerTo(await receiver.receive(body));
  // The rest is not read.
  reader.cancel().catch(() => {});
  return receiver.refuse(body, begun);
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | 'body_too_large'> {
  const chunks: Uint8Array[] = [];
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return joinChunks(chunks, size);
    // Of something else the size is unknown: it would slip past the limit.
    if (!ArrayBuffer.isView(value)) throw new TypeError('The body stream gave something other than bytes.');
    size += value.byteLength;
    if (size > maxBytes) return 'body_too_large';
    chunks.push(value);
  }
}

function startDeadline(ms: number): { readonly late: Promise<'body_timeout'>; stop(): void } {
  const { promise: late, resolve } = Promise.withResolvers<'body_timeout'>();
  const timer = setTimeout(resolve, Math.min(ms, longestTimerMs), 'body_timeout' as const);
  return { late, stop: () => clearTimeout(timer) };
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
