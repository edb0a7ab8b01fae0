import { readBounded } from '../runtime/read-bounded.ts';

/**
 * A successful reply. The contract shows none (ledger: `replies`), so we assume nothing about its body: pass a `schema`
 * to check and type it.
 */
export interface Reply<Body = unknown> {
  /** 200 to 299. */
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or text if it is not JSON; `undefined` if empty. */
  readonly body: Body;
}

/** What was read of an HTTP response. */
export interface ReadReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  /** Why `body` is missing, if reading it failed. */
  readonly failure?: 'too_large' | 'broken';
  readonly cause?: unknown;
}

/** What is known of a reply before its body is read. */
export function replyHead(response: Response): ReadReply {
  // Some runtimes answer `redirect: 'manual'` with an opaque redirect, whose status is 0.
  const status = response.status === 0 ? 302 : response.status;
  return { status, headers: response.headers, body: undefined };
}

/** Reads a response's body up to a limit. Never throws: a failure is part of the result. */
export async function readReply(response: Response, maxBytes: number): Promise<ReadReply> {
  const { status, headers } = replyHead(response);
  const reader = response.body?.getReader();
  try {
    const bytes = reader === undefined ? new Uint8Array() : await readBounded(reader, maxBytes);
    if (bytes !== undefined) {
      return { status, headers, body: parseReplyBody(new TextDecoder().decode(bytes)) };
    }
    // Not awaited: a peer that never ends its body must not block the caller.
    reader?.cancel().catch(() => {});
    return { status, headers, body: undefined, failure: 'too_large' };
  } catch (cause) {
    return { status, headers, body: undefined, failure: 'broken', cause };
  }
}

function parseReplyBody(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
