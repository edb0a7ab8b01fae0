import { denialOf } from './denying-members.ts';
import type { OrderReply, OrderVerdict } from './order-reply.ts';

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
export function usualMessageReply({ body }: Pick<OrderReply, 'body'>): OrderVerdict {
  if (typeof body === 'string') return 'unknown';
  return body === false || denialOf(body) !== undefined ? 'refused' : 'accepted';
}

/** Why {@link usualMessageReply} does not take a reply for an acceptance: a clause. */
export function whyMessageNotAccepted({ body }: Pick<OrderReply, 'body'>): string | undefined {
  if (typeof body === 'string') return 'the reply is text, so nobody can tell whether the message was sent';
  if (body === false) return 'the reply denies the message: it is false';
  const denial = denialOf(body);
  return denial && `the reply denies the message by its member ${denial}`;
}
