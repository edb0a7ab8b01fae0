import { readBounded } from '../runtime/read-bounded.ts';

/**
 * A successful reply. The contract does not show any (ledger: `replies`), so nothing is read into it: give a
 * call a `schema` to have the body checked and typed.
 */
export interface Reply<Body = unknown> {
  /** 200 to 299. */
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; text where it is not JSON; `undefined` where it is empty. */
  readonly body: Body;
}

/** What was read of an HTTP response. */
export interface ReadReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  /** Why `body` is missing, when reading it failed. */
  readonly failure?: 'too_large' | 'broken';
  readonly cause?: unknown;
}

/** What is known of a reply before its body is read. */
export function replyHead(response: Response): ReadReply {
  // An opaque redirect is how some runtimes answer `redirect: 'manual'`.
  const status = response.status === 0 ? 302 : response.status;
  return { status, headers: response.headers, body: undefined };
}

/** Reads a response's body up to a limit, then stops reading. Never throws: a failure is part of the answer. */
export async function readReply(response: Response, maxBytes: number): Promise<ReadReply> {
  const { status, headers } = replyHead(response);
  const reader = response.body?.getReader();
  try {
    const bytes = reader === undefined ? new Uint8Array() : await readBounded(reader, maxBytes);
    if (bytes !== undefined) {
      return { status, headers, body: parseReplyBody(new TextDecoder().decode(bytes)) };
    }
    // Not awaited: a peer that never ends its body must not hold the caller.
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
