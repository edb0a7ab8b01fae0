import { checkHead } from './check-head.ts';
import type { Endpoint } from './endpoint.ts';
import { responseTo, type WebhookResponse } from './webhook-response.ts';

/** A request whose body has arrived already. */
export interface WholeRequest {
  readonly method: string;
  /** By name, in any case. Used are `content-type` and `content-encoding`. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** As received, not parsed. */
  readonly body: string | Uint8Array;
}

/** The response to a whole request. It has no time limit for the body: whoever has read it had one. */
export async function answerWhole(
  { method, headers, body }: WholeRequest,
  endpoint: Endpoint,
): Promise<WebhookResponse> {
  const startedAt = performance.now();
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  // Not by content-length: the body is here, and `receive` checks how long it really is.
  const refusal = checkHead({ method, header: (name) => byName.get(name) }, Number.POSITIVE_INFINITY);
  const response =
    refusal === undefined
      ? responseTo(await endpoint.receive(body))
      : endpoint.refuse({ refusal }, startedAt);
  return method === 'HEAD' ? { ...response, body: '' } : response;
}
