import type { RequestRefusalCode } from '../errors/errors.ts';
import { readTraceparent } from '../internal/tracing.ts';
import type { ReceiveOutcome } from './receive-outcome.ts';

/** The request that brought a body. */
export interface DeliveryRequest {
  /** Path and query, or the whole URL. Only a `credentials` function reads it. */
  readonly url?: string | undefined;
  /** Headers by name, in any case: `traceparent`, and those that a `credentials` function reads. */
  readonly headers?: Headers | Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
}

/** The trace context that a request claims, whose headers have names in lower case. */
export function traceparentOf({ headers = {} }: DeliveryRequest): string | undefined {
  return readTraceparent(isHeaders(headers) ? headers.get('traceparent') : headers.traceparent);
}

/** The headers by their names in lower case. */
export function plainHeaders(headers: RequestHeaders): Record<string, string> {
  const entries = isHeaders(headers) ? [...headers.entries()] : Object.entries(headers);
  const present = entries.filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')]));
}

type RequestHeaders = NonNullable<DeliveryRequest['headers']>;

/** Not by instanceof: frameworks have classes of their own. */
function isHeaders(headers: RequestHeaders): headers is Headers {
  return typeof headers.get === 'function';
}

/** What each kind of server mounts. */
export interface WebhookEndpoint {
  readonly maxBodyBytes: number;
  /** Milliseconds that a body may take to arrive. */
  readonly bodyTimeoutMs: number;
  /** @param request its headers by their names in lower case */
  receive(body: string | Uint8Array, request: DeliveryRequest): Promise<ReceiveOutcome>;
  /** Reports a refusal, and makes its response. */
  refuse(code: RequestRefusalCode): WebhookResponse;
}

/** A body as received, or why it is missing. */
export type RequestBody =
  | { readonly body: string | Uint8Array; readonly refusal?: undefined }
  | { readonly refusal: RequestRefusalCode };

/**
 * Refuses a method other than POST, and a length beyond the limit. No other header decides: the contract states none for
 * events, and the signature covers the bytes (ledger: `event-content-type`).
 *
 * @param contentLength as the header says
 */
export function checkHead(
  method: string | undefined,
  contentLength: unknown,
  maxBodyBytes: number,
): RequestRefusalCode | undefined {
  if (method !== 'POST') return 'method_not_allowed';
  return Number(contentLength ?? 0) > maxBodyBytes ? 'body_too_large' : undefined;
}

/** An HTTP response, for any kind of server. */
export interface WebhookResponse {
  /** HTTP status. */
  readonly status: number;
  /** Headers by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON: `{"received":true}`, or a kind of refusal or failure as `error`. */
  readonly body: string;
}

/** Tells the caller only the kind of outcome: it may be anybody. */
export function responseTo({ kind, status, code, retryAfterMs = 0 }: ReceiveOutcome): WebhookResponse {
  switch (status) {
    case 200:
      return received;
    case 500:
      return jsonResponse(500, { error: kind === 'failed' ? 'handler_failed' : 'event_unrecognized' });
    case 503: {
      const error = kind === 'busy' ? 'busy' : 'unavailable';
      const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
      return jsonResponse(503, { error }, { 'retry-after': String(seconds) });
    }
    case 400:
    case 401:
    case 413:
      return jsonResponse(status, { error: code });
  }
}

/** Nearly every response is this one. */
const received = jsonResponse(200, { received: true });

const refusalStatuses = {
  method_not_allowed: 405,
  body_too_large: 413,
  body_timeout: 408,
  body_unreadable: 400,
  raw_body_required: 500,
} as const satisfies Record<RequestRefusalCode, number>;

/** The response to a request that is refused without a look at its signature. */
export function refusalResponse(code: RequestRefusalCode): WebhookResponse {
  const headers = code === 'method_not_allowed' ? { allow: 'POST' } : {};
  return jsonResponse(refusalStatuses[code], { error: code }, headers);
}

/** Ends its connection: the rest of a body that is late may never come. */
export function closingResponse(response: WebhookResponse): WebhookResponse {
  return { ...response, headers: { ...response.headers, connection: 'close' } };
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

/** A request whose body is already complete. */
export interface BufferedRequest extends DeliveryRequest {
  /** Any but `POST` is answered 405. */
  readonly method: string;
  /** As received, not parsed. */
  readonly body: string | Uint8Array;
}
