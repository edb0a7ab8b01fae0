import { DeadlineError, withDeadline } from '../../internal/deadline.ts';
import { readBoundedText } from '../../internal/read-bounded.ts';

export interface PostedRequest {
  readonly url: string;
  /** @default 'POST' */
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
}

export interface PostOptions {
  readonly fetch: typeof fetch;
  /** Milliseconds until the whole answer must be there. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Bytes of the answer's body that are read at most. @default 262144 */
  readonly maxAnswerBytes?: number | undefined;
}

export type PostAnswer =
  | HttpAnswer
  /** The connection was refused or closed without an answer. */
  | { readonly kind: 'closed'; readonly reason: string }
  | LateAnswer;

export interface HttpAnswer {
  readonly kind: 'answered';
  readonly status: number;
  readonly headers: Headers;
  /** `undefined` if the body breaks off or is too long. */
  readonly text: string | undefined;
}

/** No whole answer and no closed connection in time. */
export interface LateAnswer {
  readonly kind: 'late';
  readonly afterMs: number;
  /** The status of an answer whose body is late. */
  readonly status?: number;
  readonly headers?: Headers;
}

/** Follows no redirect. Rejects only with the reason of the caller's signal. */
export async function postRequest(
  { url, method = 'POST', headers, body }: PostedRequest,
  { fetch, timeoutMs, signal: outer, maxAnswerBytes = 262_144 }: PostOptions,
): Promise<PostAnswer> {
  let head: Pick<HttpAnswer, 'status' | 'headers'> | undefined;
  try {
    return await withDeadline({ ms: timeoutMs, signal: outer }, async (signal) => {
      const init = { method, headers, signal, ...(body !== undefined && { body }) };
      // A redirect is an answer: its target did not agree to receive the request.
      const response = await fetch(url, { ...init, redirect: 'manual' });
      head = { status: response.status, headers: response.headers };
      // The answer counts even if its body breaks off or is too long.
      const text = await readBoundedText(response.body, maxAnswerBytes).catch(() => undefined);
      return { kind: 'answered', ...head, text };
    });
  } catch (error) {
    outer?.throwIfAborted();
    if (error instanceof DeadlineError) return { kind: 'late', afterMs: timeoutMs, ...head };
    return { kind: 'closed', reason: reasonOf(error) };
  }
}

/** A code such as `ECONNRESET` or the name of the error: messages may hold the address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  // The fetch of Node has no code for a port that no browser may use.
  const isBlocked = error.cause instanceof Error && error.cause.message === 'bad port';
  return systemCode(error.cause) ?? systemCode(error) ?? (isBlocked ? 'a blocked port' : error.name);
}

function systemCode(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Codes of Node and of Bun for connections that could not be made. */
const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing listens at',
  ConnectionRefused: 'Nothing listens at',
  ENOTFOUND: 'No address is known for',
  EAI_AGAIN: 'No address is known for',
  EHOSTUNREACH: 'There is no way to',
  ENETUNREACH: 'There is no way to',
  UND_ERR_CONNECT_TIMEOUT: 'No connection could be made to',
};

/** Why no connection to an address could be made; `undefined` if one was made. */
export function unreachableBecause(answer: PostAnswer, host: string): string | undefined {
  if (answer.kind !== 'closed' || !Object.hasOwn(unreachable, answer.reason)) return undefined;
  return `${unreachable[answer.reason]} ${host} (${answer.reason})`;
}

/** Shows none of its text. */
export function describePostAnswer(answer: PostAnswer): string {
  switch (answer.kind) {
    case 'answered':
      return String(answer.status);
    case 'closed':
      return `connection closed without an answer (${answer.reason})`;
    case 'late':
      return `no answer within ${answer.afterMs} ms`;
  }
}

/** Whether the sender of an event will take it for received (ledger: `callback-reply`). */
export function isAccepted(answer: PostAnswer): boolean {
  return answer.kind === 'answered' && answer.status >= 200 && answer.status < 300;
}
