import { invalidOption } from '../internal/options.ts';
import type { Webhooks } from './create-webhooks.ts';

/**
 * The parts that we use of an event of API Gateway (payload 1.0 or 2.0), of a function URL, or of an application load
 * balancer.
 */
export type LambdaRequest = LambdaBody & (PayloadV2 | PayloadV1);

/** @inline */
interface LambdaBody {
  readonly body?: string | null | undefined;
  readonly isBase64Encoded: boolean;
}

/** Payload 2.0: HTTP APIs of API Gateway, and function URLs. @inline */
interface PayloadV2 {
  readonly requestContext: { readonly http: { readonly method: string } };
  readonly rawPath?: string | undefined;
  readonly rawQueryString?: string | undefined;
  readonly headers?: Values<string> | undefined;
}

/** Payload 1.0: REST APIs of API Gateway. Application load balancers send the same members. @inline */
interface PayloadV1 {
  readonly httpMethod: string;
  readonly path?: string | undefined;
  readonly headers?: Values<string> | null | undefined;
  readonly queryStringParameters?: Values<string> | null | undefined;
  /** `elb` is present only in events of a load balancer. */
  readonly requestContext?: object | undefined;
}

type Values<Value> = Readonly<Record<string, Value | undefined>>;

/** The response, in a form that each of them takes. */
export interface LambdaResponse {
  /** HTTP status. */
  statusCode: number;
  /** Headers by name in lower case. */
  headers: Record<string, string>;
  /** JSON, as in a `WebhookResponse`. */
  body: string;
  /** The body is plain text. */
  isBase64Encoded: false;
}

/**
 * The webhooks as a handler for AWS Lambda, behind API Gateway (payload 1.0 or 2.0), a function URL or an application
 * load balancer. Each of these waits for the whole body, so `bodyTimeoutMs` is not used.
 *
 * @throws {ConfigurationError} `invalid_option` for anything but webhooks. The handler rejects with `invalid_option` for
 *   an event of another form, and with `raw_body_required` for a body that was parsed before
 * @example
 * ```ts
 * export const handler = lambdaHandler(createWebhooks({ credentials }).onAny(record));
 * ```
 */
export function lambdaHandler(
  webhooks: Pick<Webhooks, 'answer'>,
): (request: LambdaRequest) => Promise<LambdaResponse> {
  // Options belong to createWebhooks: `lambdaHandler({ credentials })` would fail at the first event.
  if (typeof webhooks?.answer !== 'function') {
    throw invalidOption('lambdaHandler needs what createWebhooks returns.');
  }
  return async (event) => {
    const { status, headers, body } = await webhooks.answer({ ...requestOf(event), body: bodyOf(event) });
    return { statusCode: status, headers: { ...headers }, body, isBase64Encoded: false };
  };
}

function requestOf(event: LambdaRequest) {
  if (isPayloadV2(event)) {
    const { requestContext, rawPath = '', rawQueryString, headers } = event;
    return { method: requestContext.http.method, url: join(rawPath, rawQueryString), headers };
  }
  const { httpMethod: method, path = '', headers } = event;
  return { method, url: join(path, queryOf(event)), headers: headers ?? {} };
}

/** @throws {ConfigurationError} `invalid_option` for an event that is no HTTP request */
function isPayloadV2(event: LambdaRequest): event is LambdaBody & PayloadV2 {
  const { requestContext, httpMethod } = Object(event);
  if (typeof requestContext?.http?.method === 'string') return true;
  if (typeof httpMethod === 'string') return false;
  throw invalidOption(
    'lambdaHandler: the event has neither httpMethod nor requestContext.http.method.',
    'Put one of API Gateway, a function URL or a load balancer in front; give bodies from a queue to webhooks.receive.',
  );
}

function join(path: string, query: string | undefined): string {
  return query ? `${path}?${query}` : path;
}

/** API Gateway decodes the query, a load balancer leaves it as sent. */
function queryOf({ queryStringParameters, requestContext = {} }: PayloadV1): string {
  const pairs = Object.entries(queryStringParameters ?? {}).map(([name, value = '']) => [name, value]);
  const isAsSent = 'elb' in requestContext;
  return isAsSent ? pairs.map((pair) => pair.join('=')).join('&') : new URLSearchParams(pairs).toString();
}

/** A body that a middleware has parsed stays an object, which `answer` refuses. */
function bodyOf({ body, isBase64Encoded }: LambdaBody): string | Uint8Array {
  return typeof body === 'string' && isBase64Encoded ? Buffer.from(body, 'base64') : (body ?? '');
}
