import type { CallOptions, ReplyBody, ReplySchema } from '../client/call-options.ts';
import type { PreparedOrder } from '../client/prepared-order.ts';
import type { Reply } from '../client/reply.ts';
import {
  isKeyError,
  isPartnerExchangeError,
  isRequestError,
  outcomeOf,
  type RequestError,
} from '../errors/errors.ts';
import { describeError } from '../internal/driver-error.ts';
import { findNonJson, type JsonValue } from '../internal/json.ts';
import { warn } from '../internal/warn.ts';
import type { JournalSettings } from './journal-options.ts';
import type { OrderAttemptResult } from './transitions.ts';

type FailedResult = Exclude<OrderAttemptResult, { outcome: 'accepted' }>;

export type Sent<Body> =
  | { readonly result: Extract<OrderAttemptResult, { outcome: 'accepted' }>; readonly reply: Reply<Body> }
  | { readonly result: FailedResult; readonly error: unknown };

type Settings = Pick<JournalSettings, 'duplicateStatuses' | 'keepReply'>;

/** Never throws. */
export async function sendOrder<Schema extends ReplySchema>(
  prepared: PreparedOrder,
  call: CallOptions<Schema>,
  { duplicateStatuses, keepReply }: Settings,
): Promise<Sent<ReplyBody<Schema>>> {
  try {
    const reply = await prepared.send(call);
    const kept = keptOf(reply, keepReply);
    return { reply, result: { outcome: 'accepted', status: reply.status, kept } };
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

const longestKept = 16_384;

function keptOf(reply: Reply, keepReply: Settings['keepReply']): JsonValue | undefined {
  if (keepReply === undefined) return undefined;
  try {
    const kept = keepReply(reply);
    if (kept === undefined) return undefined;
    const issue = findNonJson(kept);
    if (issue !== undefined) throw new TypeError(`what it returned ${issue.message}`);
    const text = JSON.stringify(kept);
    if (text.length > longestKept) throw new TypeError('it returned more than 16,384 characters');
    // A copy, since the user may change the other. Sound: it was checked to be JSON.
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    // The service has accepted the order.
    warn(`Nothing of a reply was kept, since keepReply failed: ${describeError(error)}`);
    return undefined;
  }
}
