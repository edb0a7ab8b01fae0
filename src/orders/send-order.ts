import type { CallOptions, ReplyBody, ReplySchema } from '../client/call-options.ts';
import type { PreparedOrder } from '../client/prepared-order.ts';
import type { Reply } from '../client/reply.ts';
import {
  isKeyError,
  isPartnerExchangeError,
  isRequestError,
  outcomeOf,
  partsOf,
  type RequestError,
  reworded,
  whatFailed,
} from '../errors/errors.ts';
import { briefOutcomes, outcomeClauses } from '../errors/remedies.ts';
import { describeError } from '../internal/driver-error.ts';
import { findNonJson, type JsonValue } from '../internal/json.ts';
import { warn } from '../internal/warn.ts';
import type { JournalSettings } from './journal-options.ts';
import type { OrderAttemptResult } from './transitions.ts';

export type Sent<Body> =
  | { readonly result: Extract<OrderAttemptResult, { outcome: 'accepted' }>; readonly reply: Reply<Body> }
  | { readonly result: Exclude<OrderAttemptResult, { outcome: 'accepted' }>; readonly error: unknown };

type Settings = Pick<JournalSettings, 'duplicateIds' | 'isDuplicate' | 'keepReply'>;

/** Never throws. */
export async function sendOrder<Schema extends ReplySchema>(
  prepared: PreparedOrder,
  call: CallOptions<Schema>,
  settings: Settings,
): Promise<Sent<ReplyBody<Schema>>> {
  try {
    const reply = await prepared.send(call);
    const kept = keptOf(reply, settings.keepReply);
    return { reply, result: { outcome: 'accepted', status: reply.status, kept } };
  } catch (error) {
    return failedAttempt(error, settings);
  }
}

function failedAttempt(
  error: unknown,
  { duplicateIds, isDuplicate: ask }: Settings,
): Extract<Sent<unknown>, { error: unknown }> {
  const outcome = outcomeOf(error);
  if (!isRequestError(error)) {
    const failure = isPartnerExchangeError(error) ? error.code : 'other';
    return { error, result: { outcome, failure, status: undefined, isDuplicate: false } };
  }
  const { code: failure, status } = error;
  const mayBeDuplicate = duplicateIds === 'refused' && (outcome === 'refused' || isConflict(error));
  const isDuplicate = mayBeDuplicate && isDuplicateRefusal(() => ask(error));
  if (!isDuplicate || outcome === 'refused') {
    const awaitsKeys = !isDuplicate && areKeysAwaited(error);
    const retryAfterMs = isDuplicate ? undefined : limitedMs(error);
    return { error, result: { outcome, failure, status, isDuplicate, awaitsKeys, retryAfterMs } };
  }
  return { error: asRefused(error), result: { outcome: 'refused', failure, status, isDuplicate } };
}

/**
 * The service refused keys that may be old (ledger: `old-keys-die`): the client says why as the cause, after it has read
 * them again. 403 may also be about the whitelist: where the keys are known to be the newest, there is no such cause.
 */
function areKeysAwaited({ outcome, status, cause }: RequestError): boolean {
  return outcome === 'refused' && (status === 401 || status === 403) && isKeyError(cause);
}

/** The least time for which the service wants no order: it refused this one for that alone (ledger: `order-rate-limit`). */
function limitedMs({ outcome, code, status, retryAfterMs = 0 }: RequestError): number | undefined {
  return outcome === 'refused' && code === 'http_error' && status === 429 ? retryAfterMs : undefined;
}

/** The client cannot tell whether such a reply means that the service has the order (ledger: `order-conflict`). */
function isConflict({ code, status }: RequestError): boolean {
  return code === 'http_error' && (status === 409 || status === 423);
}

/** The service refuses duplicates, and this request was one: it did not act on it. */
function asRefused(error: RequestError): RequestError {
  const { brief } = partsOf(error);
  const copy = reworded(error, {
    what: whatFailed(error).replace(outcomeClauses[error.outcome], outcomeClauses.refused),
    brief: brief && {
      ...brief,
      what: brief.what.replace(briefOutcomes[error.outcome], briefOutcomes.refused),
    },
  });
  return Object.assign(copy, { outcome: 'refused' as const });
}

function isDuplicateRefusal(ask: () => boolean): boolean {
  try {
    return ask() === true;
  } catch (error) {
    warn(`isDuplicate threw, so the refusal counts as any other: ${describeError(error)}`);
    return false;
  }
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
