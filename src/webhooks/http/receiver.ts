import type { Outcome, RequestRefusalCode } from '../outcome.ts';
import type { Answer } from './answer.ts';

/** What a handler for a shape of I/O needs of the webhooks. */
export interface Receiver {
  readonly maxBodyBytes: number;
  /** How long a body may take to arrive. */
  readonly bodyTimeoutMs: number;
  receive(body: string | Uint8Array): Promise<Outcome>;
  /**
   * The answer to a request that is refused before its body is looked at. Reports it.
   * @param begun `performance.now()` when the request came
   */
  refuse(code: RequestRefusalCode, begun: number): Answer;
}
