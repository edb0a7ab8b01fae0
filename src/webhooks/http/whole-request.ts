import { type Answer, answerTo } from './answer.ts';
import { checkHead } from './check-head.ts';
import type { Receiver } from './receiver.ts';

/** A request whose body is there already. */
export interface WholeRequest {
  readonly method: string;
  /** By name, in any case. Used are `content-type` and `content-encoding`. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** As received, not parsed. */
  readonly body: string | Uint8Array;
}

/** The answer to a whole request. How long its body took to arrive was somebody else's affair. */
export async function answerWhole(
  { method, headers, body }: WholeRequest,
  receiver: Receiver,
): Promise<Answer> {
  const begun = performance.now();
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  // Its own length counts, and `receive` holds it to the limit.
  const refusal = checkHead({ method, header: (name) => byName.get(name) }, Number.POSITIVE_INFINITY);
  const answer =
    refusal === undefined ? answerTo(await receiver.receive(body)) : receiver.refuse(refusal, begun);
  return method === 'HEAD' ? { ...answer, body: '' } : answer;
}
