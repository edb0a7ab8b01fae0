import { isRequestError } from '../errors/request-error.ts';
import { isPartnerExchangeError } from '../errors/sdk-error.ts';
import { warn } from '../errors/warn.ts';
import type { PreparedOrder } from '../exchange/prepared-order.ts';
import type { CallOptions } from '../http/call.ts';
import type { Reply } from '../http/reply.ts';
import { findNonJson } from '../json/check-json-data.ts';
import type { JsonValue } from '../json/json-value.ts';
import { describeError } from '../redaction/describe-error.ts';
import type { ResolvedJournalOptions } from './journal-options.ts';
import type { AttemptResult } from './transitions.ts';

/** One request, and what it says of the order. */
export type Sent<Body> =
  | { readonly result: Extract<AttemptResult, { outcome: 'accepted' }>; readonly reply: Reply<Body> }
  | { readonly result: Exclude<AttemptResult, { outcome: 'accepted' }>; readonly error: unknown };

type Options = Pick<ResolvedJournalOptions<never>, 'duplicateIds' | 'isDuplicate' | 'keepReply'>;

/** Sends an order. Never throws. */
export async function sendOrder<Body>(
  prepared: PreparedOrder,
  call: CallOptions<Body>,
  options: Options,
): Promise<Sent<Body>> {
  try {
    const reply = await prepared.send(call);
    const kept = keep(reply, options.keepReply);
    return { reply, result: { outcome: 'accepted', status: reply.status, kept } };
  } catch (error) {
    return { error, result: resultOf(error, options) };
  }
}

function resultOf(
  error: unknown,
  { duplicateIds, isDuplicate }: Options,
): Exclude<AttemptResult, { outcome: 'accepted' }> {
  if (isRequestError(error)) {
    const outcome = error.outcome === 'not-sent' ? 'not_sent' : error.outcome;
    const { code: failure, status } = error;
    const mayBeDuplicate = duplicateIds === 'refused' && outcome === 'refused';
    return {
      outcome,
      failure,
      status,
      isDuplicate: mayBeDuplicate && saysDuplicate(() => isDuplicate(error)),
    };
  }
  // A client's other errors of ours come before anything is sent. Of somebody else's error nobody knows.
  const outcome = isPartnerExchangeError(error) ? 'not_sent' : 'unknown';
  const failure = isPartnerExchangeError(error) ? error.code : 'other';
  return { outcome, failure, status: undefined, isDuplicate: false };
}

function saysDuplicate(ask: () => boolean): boolean {
  try {
    return ask() === true;
  } catch (error) {
    warn(`isDuplicate threw, so the refusal counts as any other: ${describeError(error)}`);
    return false;
  }
}

const longestKept = 16_384;

function keep(reply: Reply, keepReply: Options['keepReply']): JsonValue | undefined {
  if (keepReply === undefined) return undefined;
  try {
    const kept = keepReply(reply);
    if (kept === undefined) return undefined;
    const issue = findNonJson(kept);
    if (issue !== undefined) throw new TypeError(`what it returned ${issue.message}`);
    const text = JSON.stringify(kept);
    if (text.length > longestKept) throw new TypeError('it returned more than 16,384 characters');
    // A copy, since the other one is our user's. Sound: it was checked to be JSON.
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    // The service has taken the order, whatever our user's function makes of the reply.
    warn(`Nothing of a reply was kept, since keepReply failed: ${describeError(error)}`);
    return undefined;
  }
}
