import type { Webhooks } from '../create-webhooks.ts';

/** The parts of an event of API Gateway (HTTP API, payload 2.0) or of a function URL that are used. */
export interface LambdaRequest {
  readonly requestContext: { readonly http: { readonly method: string } };
  /** Their names are in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string | undefined;
  readonly isBase64Encoded: boolean;
}

/** The answer in the form of payload 2.0. */
export interface LambdaAnswer {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * The webhooks as a handler for AWS Lambda, behind API Gateway (HTTP API) or a function URL. A function is started
 * with a whole body: how long it may take to arrive is the gateway's affair.
 *
 * @example
 * ```ts
 * export const handler = lambdaHandler(createWebhooks({ credentials }).onAny(record));
 * ```
 */
export function lambdaHandler(
  webhooks: Pick<Webhooks, 'answer'>,
): (request: LambdaRequest) => Promise<LambdaAnswer> {
  return async ({ requestContext, headers, body: text = '', isBase64Encoded }) => {
    const body = isBase64Encoded ? Buffer.from(text, 'base64') : text;
    const answer = await webhooks.answer({ method: requestContext.http.method, headers, body });
    return { statusCode: answer.status, headers: { ...answer.headers }, body: answer.body };
  };
}
