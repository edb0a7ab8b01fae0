import type { Receiver } from './receiver.ts';
import { joinChunks, type RequestBody } from './request-body.ts';
import { longestTimerMs } from '../../runtime/time-limit.ts';

/** The body of a request, read within the limits. What is refused is not read to its end. */
export async function readFetchBody(
  request: Request,
  { maxBodyBytes, bodyTimeoutMs }: Receiver,
): Promise<RequestBody> {
  if (request.bodyUsed || request.body?.locked) return { refusal: 'raw_body_required' };
  if (request.body === null) return { body: new Uint8Array() };
  const reader = request.body.getReader();
  const { late, stop } = startDeadline(bodyTimeoutMs);
  try {
    const taken = await Promise.race([readAll(reader, maxBodyBytes), late]);
    if ('refusal' in taken) reader.cancel().catch(() => {});
    return taken;
  } catch {
    return { refusal: 'body_unreadable' };
  } finally {
    stop();
  }
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<RequestBody> {
  const chunks: Uint8Array[] = [];
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return { body: joinChunks(chunks, size) };
    // Of something else the size is unknown: it would slip past the limit.
    if (!ArrayBuffer.isView(value)) throw new TypeError('The body stream gave something other than bytes.');
    size += value.byteLength;
    if (size > maxBytes) return { refusal: 'body_too_large' };
    chunks.push(value);
  }
}

function startDeadline(ms: number): { readonly late: Promise<RequestBody>; stop(): void } {
  const { promise: late, resolve } = Promise.withResolvers<RequestBody>();
  const timer = setTimeout(resolve, Math.min(ms, longestTimerMs), { refusal: 'body_timeout' });
  return { late, stop: () => clearTimeout(timer) };
}
