import { readBounded } from '../../runtime/read-bounded.ts';
import type { QueuedEvent, SandboxDelivery } from './delivery.ts';

/** How the partner answered. */
export interface PartnerAnswer extends Pick<SandboxDelivery, 'status' | 'error'> {
  readonly headers: Headers | undefined;
  /** For the trace only; `undefined` if it is too long, or did not come in time. */
  readonly body: string | undefined;
}

/** Bytes of an answer that are read. */
const maxAnswerBytes = 64 * 1024;

/** Headers of every event. */
export function eventHeaders(publicKey: string): Readonly<Record<string, string>> {
  return { 'content-type': 'application/json', authorization: `Bearer ${publicKey}` };
}

/** Posts an event once. Never rejects. */
export async function postDelivery(
  event: Pick<QueuedEvent, 'url' | 'body' | 'publicKey'>,
  options: { fetch: typeof fetch; timeoutMs: number },
): Promise<PartnerAnswer> {
  const timeout = Promise.withResolvers<never>();
  const controller = new AbortController();
  const timer = setTimeout(() => {
    const reason = new DOMException('No answer in time.', 'TimeoutError');
    controller.abort(reason);
    // A fetch that ignores the signal must not delay the order's later events.
    timeout.reject(reason);
  }, options.timeoutMs);
  try {
    const answer = options.fetch(event.url, {
      method: 'POST',
      headers: eventHeaders(event.publicKey),
      body: event.body,
      redirect: 'manual',
      signal: controller.signal,
    });
    const response = await Promise.race([answer, timeout.promise]);
    // The status has been said: whatever becomes of the body, the event was answered.
    const body = await Promise.race([readAnswer(response), timeout.promise]).catch(() => undefined);
    return { status: response.status, error: undefined, headers: response.headers, body };
  } catch (error) {
    return { status: undefined, error: describeFailure(error), headers: undefined, body: undefined };
  } finally {
    clearTimeout(timer);
  }
}

async function readAnswer({ body }: Response): Promise<string | undefined> {
  const reader = body?.getReader();
  if (reader === undefined) return '';
  const bytes = await readBounded(reader, maxAnswerBytes);
  // Its connection is released.
  if (bytes === undefined) reader.cancel().catch(() => {});
  return bytes && new TextDecoder().decode(bytes);
}

/** The system's code if there is one (`ECONNREFUSED`), otherwise the name (`TimeoutError`). */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  if (typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string') {
    return cause.code;
  }
  return error.name;
}
