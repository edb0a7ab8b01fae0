import { invalidOption } from '../internal/options.ts';
import type { Webhooks } from './create-webhooks.ts';
import type { BufferedRequest } from './webhook-endpoint.ts';

/**
 * The parts that we use of an event of API Gateway (payload 1.0 or 2.0), of a function URL, or of an application load
 * balancer.
 */
export interface LambdaRequest {
  readonly body?: string | null | undefined;
  readonly isBase64Encoded: boolean;
  readonly headers?: Values | null | undefined;
  /** Has `http` in payload 2.0, and `elb` in events of a load balancer. */
  readonly requestContext?: object | undefined;
  /** Payload 2.0, of HTTP APIs and function URLs, as `rawQueryString`. */
  readonly rawPath?: string | undefined;
  readonly rawQueryString?: string | undefined;
  /** Payload 1.0, of REST APIs and load balancers, as the next two. */
  readonly httpMethod?: string | undefined;
  readonly path?: string | undefined;
  readonly queryStringParameters?: Values | null | undefined;
}

/** @inline */
type Values = Readonly<Record<string, string | undefined>>;

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
 * load balancer without multi-value headers. Each of these waits for the whole body, so `bodyTimeoutMs` is not used.
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
    const { status, headers, body } = await webhooks.answer(requestOf(event));
    return { statusCode: status, headers: { ...headers }, body, isBase64Encoded: false };
  };
}

/** @throws {ConfigurationError} `invalid_option` for an event that is no HTTP request */
function requestOf(event: LambdaRequest): BufferedRequest {
  const { http, elb } = Object(event?.requestContext);
  const method: unknown = http?.method ?? event?.httpMethod;
  if (typeof method !== 'string') {
    throw invalidOption(
      'lambdaHandler: the event has neither httpMethod nor requestContext.http.method.',
      'Put one of API Gateway, a function URL or a load balancer in front; give bodies from a queue to webhooks.receive.',
    );
  }
  const { body, rawPath, path = '', rawQueryString, queryStringParameters } = event;
  const pairs = Object.entries(queryStringParameters ?? {}).map(([name, value = '']) => [name, value]);
  // API Gateway decodes the query, a load balancer leaves it as sent.
  const joined = elb ? pairs.map((pair) => pair.join('=')).join('&') : new URLSearchParams(pairs).toString();
  const query = rawQueryString ?? joined;
  return {
    method,
    url: (rawPath ?? path) + (query && `?${query}`),
    headers: event.headers ?? {},
    // A body that a middleware has parsed stays an object, which `answer` refuses.
    body: typeof body === 'string' && event.isBase64Encoded ? Buffer.from(body, 'base64') : (body ?? ''),
  };
}
