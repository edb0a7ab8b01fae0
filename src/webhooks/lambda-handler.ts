import { invalidOption } from '../internal/options.ts';
import type { Webhooks } from './create-webhooks.ts';

/** The parts of an event of API Gateway (HTTP API, payload 2.0) or of a function URL that we use. */
export interface LambdaRequest {
  readonly requestContext: { readonly http: { readonly method: string } };
  readonly rawPath?: string | undefined;
  readonly rawQueryString?: string | undefined;
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string | undefined;
  readonly isBase64Encoded: boolean;
}

/** The response in the form of payload 2.0. */
export interface LambdaResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * The webhooks as a handler for AWS Lambda, behind API Gateway (HTTP API, payload 2.0) or a function URL. The gateway
 * waits for the whole body, so `bodyTimeoutMs` is not used.
 *
 * @throws {ConfigurationError} `invalid_option` for anything but webhooks. The handler rejects with it for an event of
 *   another form: payload 1.0 (REST API), or an application load balancer
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
  return async (request) => {
    checkPayload(request);
    const { requestContext, rawPath, rawQueryString, headers, body: text = '', isBase64Encoded } = request;
    const url = rawQueryString ? `${rawPath}?${rawQueryString}` : rawPath;
    const body = isBase64Encoded ? Buffer.from(text, 'base64') : text;
    const response = await webhooks.answer({ method: requestContext.http.method, url, headers, body });
    return { statusCode: response.status, headers: { ...response.headers }, body: response.body };
  };
}

/** @throws {ConfigurationError} `invalid_option` for an event without the parts that we use */
function checkPayload(event: unknown): void {
  const { requestContext, headers, httpMethod } = Object(event) as Record<string, unknown>;
  const { http, elb } = Object(requestContext) as Record<string, unknown>;
  const { method } = Object(http) as Record<string, unknown>;
  if (typeof method === 'string' && typeof headers === 'object' && headers !== null) return;
  let form = 'of an unknown form';
  if (elb !== undefined) form = 'of an application load balancer';
  else if (httpMethod !== undefined) form = 'in payload 1.0 (REST API)';
  throw invalidOption(
    `lambdaHandler takes events in payload 2.0 of API Gateway (HTTP API) and of function URLs, and this one is ${form}. Put an HTTP API with payload format 2.0 or a function URL in front of the function.`,
  );
}
