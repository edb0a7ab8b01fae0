import { type Answer, answerTo, refuse } from './answer.ts';
import { checkHead } from './check-head.ts';
import type { Webhooks } from './create-webhooks.ts';

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
  webhooks: Pick<Webhooks, 'receive'>,
): (request: LambdaRequest) => Promise<LambdaAnswer> {
  return async (request) => {
    const { status, headers, body } = await answerRequest(request, webhooks);
    const isHead = request.requestContext.http.method === 'HEAD';
    return { statusCode: status, headers: { ...headers }, body: isHead ? '' : body };
  };
}

async function answerRequest(
  { requestContext, headers, body = '', isBase64Encoded }: LambdaRequest,
  webhooks: Pick<Webhooks, 'receive'>,
): Promise<Answer> {
  const head = { method: requestContext.http.method, header: (name: string) => headers[name] };
  // The body is here already: its own length counts, and `receive` holds it to the limit.
  const refusal = checkHead(head, Number.POSITIVE_INFINITY);
  if (refusal !== undefined) return refuse(refusal);
  return answerTo(await webhooks.receive(isBase64Encoded ? Buffer.from(body, 'base64') : body));
}
