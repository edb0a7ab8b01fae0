import { invalidOption } from '../../options/check-values.ts';
import type { Webhooks } from '../create-webhooks.ts';

/** The parts of an event of API Gateway (HTTP API, payload 2.0) or of a function URL that we use. */
export interface LambdaRequest {
  readonly requestContext: { readonly http: { readonly method: string } };
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
 * The webhooks as a handler for AWS Lambda, behind API Gateway (HTTP API) or a function URL. The gateway waits for the
 * whole body, so `bodyTimeoutMs` is not used.
 *
 * @throws {ConfigurationError} `invalid_option` for anything but webhooks
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
  return async ({ requestContext, headers, body: text = '', isBase64Encoded }) => {
    const body = isBase64Encoded ? Buffer.from(text, 'base64') : text;
    const response = await webhooks.answer({ method: requestContext.http.method, headers, body });
    return { statusCode: response.status, headers: { ...response.headers }, body: response.body };
  };
}
