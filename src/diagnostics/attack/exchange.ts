import { readBounded } from '../../runtime/read-bounded.ts';
import { type Answer, maxAnswerBytes } from './answer.ts';

/** One request to the receiver. What is absent is as in an authentic delivery. */
export interface Delivery {
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
  /** @default 'POST' */
  readonly method?: string | undefined;
  /** Beside those of a delivery, or instead of them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Added to the URL: `test=1`. */
  readonly query?: string | undefined;
}

/** How requests get to the receiver. */
export interface Route {
  readonly url: URL;
  readonly fetch: typeof fetch;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends one request and reads a bounded part of the answer. Rejects only when the caller's signal is aborted: whatever
 * the receiver does is an answer.
 */
export async function exchange(route: Route, delivery: Delivery): Promise<Answer> {
  const { timeoutMs, signal } = route;
  signal?.throwIfAborted();
  const controller = new AbortController();
  const stopped = Promise.withResolvers<'late' | 'aborted'>();
  const stop = (why: 'late' | 'aborted') => {
    stopped.resolve(why);
    controller.abort();
  };
  const timer = setTimeout(stop, timeoutMs, 'late');
  const onAbort = () => stop('aborted');
  signal?.addEventListener('abort', onAbort);
  try {
    // Raced as well as aborted: a fetch of the caller's may ignore the signal.
    const result = await Promise.race([send(route, delivery, controller.signal), stopped.promise]);
    if (typeof result !== 'string') return result;
    signal?.throwIfAborted();
    return { kind: 'late', afterMs: timeoutMs };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

async function send(
  { url, fetch, headers }: Route,
  { body, method = 'POST', headers: own, query }: Delivery,
  signal: AbortSignal,
): Promise<Answer> {
  const target = new URL(url);
  if (query !== undefined) target.search = target.search === '' ? query : `${target.search}&${query}`;
  try {
    const response = await fetch(target.href, {
      method,
      headers: { ...headers, ...own },
      // A redirect is an answer: whoever it leads to has not agreed to be attacked.
      redirect: 'manual',
      signal,
      ...(body !== undefined && { body }),
    });
    const { status, headers: answered } = response;
    return { kind: 'answered', status, headers: answered, text: await readText(response) };
  } catch (error) {
    return { kind: 'closed', reason: reasonOf(error) };
  }
}

/** The answer counts even if its body breaks off or is too long. */
async function readText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  try {
    const bytes = await readBounded(reader, maxAnswerBytes);
    if (bytes !== undefined) return new TextDecoder().decode(bytes);
  } catch {
    // Nothing more to read.
  }
  reader.cancel().catch(() => {});
  return '';
}

/** A code such as `ECONNRESET`, otherwise the name of the error: messages may hold the address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : error.name;
}
