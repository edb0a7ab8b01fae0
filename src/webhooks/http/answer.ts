import type { Outcome, RequestRefusalCode } from '../outcome.ts';

/** An HTTP answer, for whatever shape of I/O there is. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The answer to a delivery. It tells the caller no more than the kind of outcome. */
export function answerTo(outcome: Outcome): Answer {
  switch (outcome.kind) {
    case 'refused':
      return answer(outcome.status, { error: outcome.code });
    case 'failed':
      return answer(500, { error: 'handler_failed' });
    case 'busy':
    case 'unavailable':
      return answer(
        503,
        { error: outcome.kind },
        { 'retry-after': String(Math.max(1, Math.ceil(outcome.retryAfterMs / 1000))) },
      );
    default:
      return received;
  }
}

/** Made once: nearly every answer is this one. */
const received = answer(200, { received: true });

const refusals = {
  method_not_allowed: [405, { allow: 'POST' }],
  unsupported_media_type: [415, { accept: 'application/json' }],
  body_too_large: [413, {}],
  body_timeout: [408, { connection: 'close' }],
  body_unreadable: [400, {}],
  raw_body_required: [500, {}],
} as const satisfies Record<RequestRefusalCode, readonly [number, Readonly<Record<string, string>>]>;

/** What to do when something parsed the body before its signature could be checked. */
export const parsedBodyAdvice =
  'The body was parsed before its signature could be checked. Mount the webhook before express.json() and the ' +
  'like, or use express.raw({ type: "*/*" }), or keep the bytes as request.rawBody (the verify option of express.json).';

/** The answer to a request that is no delivery. */
export function refuse(code: RequestRefusalCode): Answer {
  const [status, headers] = refusals[code];
  const message = code === 'raw_body_required' ? { message: parsedBodyAdvice } : {};
  return answer(status, { error: code, ...message }, headers);
}

function answer(status: number, content: object, headers: Readonly<Record<string, string>> = {}): Answer {
  const body = JSON.stringify(content);
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      // Said here, since Node would send a body of unknown length in chunks.
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    },
    body,
  };
}
