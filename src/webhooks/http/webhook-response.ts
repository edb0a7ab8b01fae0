import type { Outcome, RequestRefusalCode } from '../outcome.ts';

/** An HTTP response, for any kind of server. */
export interface WebhookResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The response to a delivery. It tells the caller only the kind of outcome. */
export function responseTo(outcome: Outcome): WebhookResponse {
  switch (outcome.kind) {
    case 'refused':
      return jsonResponse(outcome.status, { error: outcome.code });
    case 'failed':
      return jsonResponse(500, { error: 'handler_failed' });
    case 'busy':
    case 'unavailable':
    case 'unverified':
      return jsonResponse(
        503,
        // The caller may be anybody: why it is unavailable is not said.
        { error: outcome.kind === 'busy' ? 'busy' : 'unavailable' },
        { 'retry-after': String(Math.max(1, Math.ceil(outcome.retryAfterMs / 1000))) },
      );
    default:
      return received;
  }
}

/** Made once, since nearly every response is this one. */
const received = jsonResponse(200, { received: true });

const refusals = {
  method_not_allowed: [405, { allow: 'POST' }],
  unsupported_media_type: [415, { accept: 'application/json' }],
  body_too_large: [413, {}],
  body_timeout: [408, { connection: 'close' }],
  body_unreadable: [400, {}],
  raw_body_required: [500, {}],
} as const satisfies Record<RequestRefusalCode, readonly [number, Readonly<Record<string, string>>]>;

/** The advice goes into the process warning: the caller may be anybody. */
const parsedBody = {
  message:
    'The body was parsed before its signature could be checked: see the process warning of the server.',
};

/** The response to a request that is refused before its body is verified. */
export function refusalResponse(code: RequestRefusalCode): WebhookResponse {
  const [status, headers] = refusals[code];
  return jsonResponse(status, { error: code, ...(code === 'raw_body_required' && parsedBody) }, headers);
}

function jsonResponse(
  status: number,
  content: object,
  headers: Readonly<Record<string, string>> = {},
): WebhookResponse {
  const body = JSON.stringify(content);
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      // Without it Node sends the body in chunks.
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    },
    body,
  };
}
