import { checkHead } from './check-head.ts';
import type { Endpoint } from './endpoint.ts';
import { responseTo, type WebhookResponse } from './webhook-response.ts';

/** A request whose body is already complete. */
export interface WholeRequest {
  readonly method: string;
  /** By name, in any case. Only `content-type` and `content-encoding` are read. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** As received, not parsed. */
  readonly body: string | Uint8Array;
}

/** The response to a whole request. There is no time limit for the body, which is here already. */
export async function answerWhole(
  { method, headers, body }: WholeRequest,
  endpoint: Endpoint,
): Promise<WebhookResponse> {
  const startedAt = performance.now();
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  // Not by content-length: `receive` checks the real length of the body.
  const refusal = checkHead({ method, header: (name) => byName.get(name) }, Number.POSITIVE_INFINITY);
  const response =
    refusal === undefined
      ? responseTo(await endpoint.receive(body))
      : endpoint.refuse({ refusal }, startedAt);
  return method === 'HEAD' ? { ...response, body: '' } : response;
}
