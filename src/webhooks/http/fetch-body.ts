import { longestTimerMs } from '../../runtime/longest-timer.ts';
import { readBounded } from '../../runtime/read-bounded.ts';
import type { Receiver } from './receiver.ts';
import type { RequestBody } from './request-body.ts';

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
  const body = await readBounded(reader, maxBytes);
  return body === undefined ? { refusal: 'body_too_large' } : { body };
}

function startDeadline(ms: number): { readonly late: Promise<RequestBody>; stop(): void } {
  const { promise: late, resolve } = Promise.withResolvers<RequestBody>();
  const timer = setTimeout(resolve, Math.min(ms, longestTimerMs), { refusal: 'body_timeout' });
  return { late, stop: () => clearTimeout(timer) };
}
