import type { Outcome } from '../outcome.ts';
import type { RequestRefusal } from './request-body.ts';
import type { WebhookResponse } from './webhook-response.ts';

/** What an adapter needs from the webhooks. */
export interface Endpoint {
  readonly maxBodyBytes: number;
  /** Milliseconds that a body may take to arrive. */
  readonly bodyTimeoutMs: number;
  receive(body: string | Uint8Array): Promise<Outcome>;
  /**
   * The response to a request that is refused before its body is verified. Reports the refusal.
   * @param startedAt `performance.now()` when the request came
   */
  refuse(refusal: RequestRefusal, startedAt: number): WebhookResponse;
}
