import { longestTimerMs } from '../../runtime/longest-timer.ts';
import { readBounded } from '../../runtime/read-bounded.ts';
import type { Endpoint } from './endpoint.ts';
import { fetchBodyAdvice } from './parsed-body-advice.ts';
import type { RequestBody } from './request-body.ts';

/** Reads the body of a request within the limits. A refused body is not read to its end. */
export async function readFetchBody(
  request: Request,
  { maxBodyBytes, bodyTimeoutMs }: Endpoint,
): Promise<RequestBody> {
  if (request.bodyUsed || request.body?.locked) {
    return { refusal: 'raw_body_required', advice: fetchBodyAdvice };
  }
  if (request.body === null) return { body: new Uint8Array() };
  const reader = request.body.getReader();
  const { expired, stop } = startDeadline(bodyTimeoutMs);
  try {
    const read = await Promise.race([readAll(reader, maxBodyBytes), expired]);
    if ('refusal' in read) reader.cancel().catch(() => {});
    return read;
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
  const body = await readBounded(reader, maxBytes);
  return body === undefined ? { refusal: 'body_too_large' } : { body };
}

function startDeadline(ms: number): { readonly expired: Promise<RequestBody>; stop(): void } {
  const { promise: expired, resolve } = Promise.withResolvers<RequestBody>();
  const timer = setTimeout(resolve, Math.min(ms, longestTimerMs), { refusal: 'body_timeout' });
  return { expired, stop: () => clearTimeout(timer) };
}
