import { isDenial } from './denying-members.ts';
import type { ReceivedReply, ReplyVerdict } from './order-reply.ts';

/**
 * How replies to messages are read unless the deployment says otherwise (assumed, ledger: `message-reply`).
 *
 * - `refused`: a member denies it, by the table of {@link usualOrderReply}, or the body is `false` alone.
 * - `unknown`: a page, or another text that is not JSON. The contract says that all bodies are JSON.
 * - `accepted`: any other JSON, and an empty body. A message costs less than an order, so it needs no sign.
 *
 * @example
 * ```ts
 * defineDeployment({
 *   messengerBaseUrl: 'https://messenger.example',
 *   // This messenger answers with the text OK.
 *   readMessageReply: (reply) => (reply.body === 'OK' ? 'accepted' : usualMessageReply(reply)),
 * });
 * ```
 */
export function usualMessageReply({ body }: Pick<ReceivedReply, 'body'>): ReplyVerdict {
  if (typeof body === 'string') return 'unknown';
  return body === false || isDenial(body) ? 'refused' : 'accepted';
}
