import type { AcceptedOrderReply } from '../client/accepted-order-reply.ts';
import type { CallOptions, ReplyBody, ReplySchema } from '../client/call-options.ts';
import type { PreparedOrder } from '../client/prepared-order.ts';
import {
  isKeyError,
  isPartnerExchangeError,
  isRequestError,
  outcomeOf,
  type RequestError,
} from '../errors/errors.ts';
import type { OrderAttemptResult } from './transitions.ts';

type FailedResult = Exclude<OrderAttemptResult, { outcome: 'accepted' }>;

export type Sent<Body> =
  | {
      readonly result: Extract<OrderAttemptResult, { outcome: 'accepted' }>;
      readonly reply: AcceptedOrderReply<Body>;
    }
  | { readonly result: FailedResult; readonly error: unknown };

/**
 * Never throws.
 *
 * @param options.duplicateStatuses the statuses by which the service refuses a second order with the same id
 */
export async function sendOrder<Schema extends ReplySchema>(
  prepared: PreparedOrder,
  call: CallOptions<Schema>,
  { duplicateStatuses }: { readonly duplicateStatuses: readonly number[] },
): Promise<Sent<ReplyBody<Schema>>> {
  try {
    const reply = await prepared.send(call);
    return { reply, result: { outcome: 'accepted', status: reply.status } };
  } catch (error) {
    if (isRequestError(error)) {
      const { code: failure, status } = error;
      return { error, result: { ...meaningOf(error, duplicateStatuses), failure, status } };
    }
    const failure = isPartnerExchangeError(error) ? error.code : 'other';
    return { error, result: { outcome: outcomeOf(error), failure, status: undefined } };
  }
}

/** What a failed request means for its order. */
function meaningOf(
  { outcome, code, status, cause, retryAfterMs = 0 }: RequestError,
  duplicateStatuses: readonly number[],
): Pick<FailedResult, 'outcome' | 'retryAfterMs'> {
  // The client cannot tell whether the service has the order (ledger: `order-conflict`).
  const isConflict = code === 'http_error' && (status === 409 || status === 423);
  const mayBeDuplicate = outcome === 'refused' || isConflict;
  if (mayBeDuplicate && status !== undefined && duplicateStatuses.includes(status))
    return { outcome: 'duplicate' };
  if (outcome !== 'refused') return { outcome };
  // The service wants fewer requests, and refused this one for that alone (ledger: `order-rate-limit`).
  if (code === 'http_error' && status === 429) return { outcome: 'waiting', retryAfterMs };
  // The service refused keys that may be old (ledger: `old-keys-die`): after it has read them again, the client says why
  // as the cause. 403 may also be about the whitelist: where the keys are the newest, there is no such cause.
  if ((status === 401 || status === 403) && isKeyError(cause)) return { outcome: 'waiting' };
  return { outcome };
}
