import type { RequestRefusalCode } from '../errors/errors.ts';
import type { DeliveryRequest } from './found-keys.ts';
import type { ReceiveOutcome } from './receive-outcome.ts';

export interface WebhookEndpoint {
  readonly maxBodyBytes: number;
  /** Milliseconds that a body may take to arrive. */
  readonly bodyTimeoutMs: number;
  receive(body: string | Uint8Array, request: DeliveryRequest): Promise<ReceiveOutcome>;
  /** Reports a refusal, and makes its response. @param startedAt `performance.now()` when the request came */
  refuse(refusal: RequestRefusal, startedAt: number): WebhookResponse;
}

interface RequestHead {
  readonly method: string | undefined;
  /** As its header says. */
  readonly contentLength: string | null | undefined;
}

/**
 * Refuses a method other than POST, and a length beyond the limit. No other header decides: the contract states none for
 * events, and the signature covers the bytes (ledger: `event-content-type`).
 */
export function checkHead(
  { method, contentLength }: RequestHead,
  maxBodyBytes: number,
): RequestRefusalCode | undefined {
  if (method !== 'POST') return 'method_not_allowed';
  return Number(contentLength ?? 0) > maxBodyBytes ? 'body_too_large' : undefined;
}

/** Why a request is refused before its body is verified. */
export interface RequestRefusal {
  readonly refusal: RequestRefusalCode;
  /** What the operator can do about it, if we know more than the code says. */
  readonly advice?: string | undefined;
}

/** A body as received, or why it is missing. */
export type RequestBody = { readonly body: string | Uint8Array } | RequestRefusal;

/** An HTTP response, for any kind of server. */
export interface WebhookResponse {
  /** HTTP status. */
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON: `{"received":true}`, or a kind of refusal or failure as `error`. */
  readonly body: string;
}

/** Tells the caller only the kind of outcome. */
export function responseTo(outcome: ReceiveOutcome): WebhookResponse {
  switch (outcome.kind) {
    case 'refused':
      return outcome.error === undefined
        ? refusalResponse(outcome.code)
        : jsonResponse(outcome.status, { error: outcome.code });
    case 'failed':
      return jsonResponse(500, { error: 'handler_failed' });
    case 'unrecognized':
      return jsonResponse(500, { error: 'event_unrecognized' });
    case 'busy':
    case 'unavailable':
    case 'unverified':
      return jsonResponse(
        503,
        // The caller may be anybody, so it gets no reason.
        { error: outcome.kind === 'busy' ? 'busy' : 'unavailable' },
        { 'retry-after': String(Math.max(1, Math.ceil(outcome.retryAfterMs / 1000))) },
      );
    default:
      return received;
  }
}

/** Nearly every response is this one. */
const received = jsonResponse(200, { received: true });

const refusals = {
  method_not_allowed: [405, { allow: 'POST' }],
  unsupported_media_type: [415, { 'accept-encoding': 'identity' }],
  body_too_large: [413, {}],
  body_timeout: [408, {}],
  body_unreadable: [400, {}],
  raw_body_required: [500, {}],
} as const satisfies Record<RequestRefusalCode, readonly [number, Readonly<Record<string, string>>]>;

/** The advice goes into the process warning: the caller may be anybody. */
const parsedBody = {
  message:
    'The body was parsed before its signature could be checked: see the process warning of the server.',
};

/** The response to a request that is refused without a look at its signature. */
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

/** A request whose body is already complete. */
export interface BufferedRequest {
  /** Any but `POST` is answered 405. */
  readonly method: string;
  /** Path and query, or the whole URL. Only a `credentials` function reads it. */
  readonly url?: string | undefined;
  /** Headers that `DeliveryRequest` names, in any case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** As received, not parsed. */
  readonly body: string | Uint8Array;
}

/** Without a time limit, since the body has arrived. */
export async function answerBuffered(
  { method, url, headers, body }: BufferedRequest,
  endpoint: WebhookEndpoint,
): Promise<WebhookResponse> {
  const startedAt = performance.now();
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  // Not by content-length: `receive` checks the real length of the body.
  const refusal = checkHead({ method, contentLength: undefined }, Number.POSITIVE_INFINITY);
  const response =
    refusal === undefined
      ? responseTo(await endpoint.receive(body, { url, headers: Object.fromEntries(byName) }))
      : endpoint.refuse({ refusal }, startedAt);
  return method === 'HEAD' ? { ...response, body: '' } : response;
}

const frameworks = {
  express:
    'Express: mount webhooks.node before express.json(), or give its route express.raw({ type: "*/*" }), or keep ' +
    'the bytes with express.json({ verify: (request, response, bytes) => { request.rawBody = bytes } })',
  nest: 'NestJS on Express: NestFactory.create(AppModule, { rawBody: true })',
  fastify:
    'Fastify: app.register(fastifyPlugin(webhooks, { path })), whose scope has no body parsers; so in NestJS on Fastify',
  nextPages: 'Next.js, pages/api: export const config = { api: { bodyParser: false } }',
  hono: 'Hono: webhooks.fetch(c.req.raw) before anything calls c.req.json(), as validators do',
  azure: 'Azure Functions: webhooks.fetch(request) before request.json() or request.text()',
  nextRoute:
    'Next.js, route handlers: webhooks.fetch(request) before request.json(); the same for middleware',
} as const;

/** For a body that was parsed before `webhooks.node`, by what the request shows of its framework. */
export function nodeBodyAdvice(request: object): string {
  const { express, nest, fastify, nextPages } = frameworks;
  // NestJS cannot be told from the framework that it is built on.
  if ('app' in request && 'res' in request) return advise([express, nest]);
  if ('raw' in request && 'server' in request) return advise([fastify]);
  if ('previewData' in request) return advise([nextPages]);
  return advise([express, nest, fastify, nextPages]);
}

/** For `webhooks.fetch`: a Request does not show its framework. */
export const fetchBodyAdvice = advise([frameworks.hono, frameworks.nextRoute, frameworks.azure]);

function advise(applicable: readonly string[]): string {
  return `${applicable.join('; ')}.`;
}
