import {
  type ComparedRecord,
  type ComparisonRules,
  type SeenEvent,
  withDecision,
  withSeenEvent,
} from './event-comparison.ts';
import { orderError, orderNotFound } from './order-errors.ts';
import { isOverdue, isUnsettled, type OrderRecord, stateAt } from './order-record.ts';
import type { OrderState } from './order-state.ts';

/** The rules of the journal, as pure functions: a transaction may run them more than once. */

/** The part of a record that is known before the first request. */
export type Intent = Pick<
  OrderRecord,
  | 'partner_order_id'
  | 'digest'
  | 'merchant'
  | 'acceptAddress'
  | 'ordered'
  | 'partnerId'
  | 'partnerCode'
  | 'rotation'
  | 'reports'
>;

export interface AttemptLease {
  /** Names the attempt. */
  readonly attempt: string;
  readonly now: number;
  readonly leaseMs: number;
}

export interface AttemptRules extends AttemptLease {
  /** Whether an order whose outcome is unknown may be sent again. */
  readonly resendUnknown: boolean;
  /** Whether a refused order may be sent again as it is. */
  readonly again: boolean;
  /** Whether the id may stand for another order from now on. */
  readonly replace: boolean;
}

export type OrderAttemptResult =
  | { readonly outcome: 'accepted'; readonly status: number }
  | {
      /**
       * `waiting`: refused, and to be sent again under new keys, or after `retryAfterMs`. `duplicate`: refused because the
       * service has an order with this id.
       */
      readonly outcome: 'refused' | 'waiting' | 'duplicate' | 'not-sent' | 'unknown';
      readonly failure: string;
      readonly status: number | undefined;
      readonly retryAfterMs?: number | undefined;
    };

/**
 * The record with a request under way, or the unchanged record if the service has the order.
 *
 * @throws {OrderError} if nothing may be sent for another reason
 */
export function beginAttempt(
  record: OrderRecord | undefined,
  intent: Intent,
  { resendUnknown, again, replace, ...lease }: AttemptRules,
): OrderRecord {
  const { attempt, now } = lease;
  // The store has committed it, although it reported a failure.
  if (record?.state === 'sending' && record.attempt === attempt) return record;
  if (record !== undefined) {
    const state = stateAt(record, now);
    const isSame = isSameOrder(record, intent, { replace, now });
    if (state === 'accepted') return record;
    if (state === 'sending') throw orderError('in_progress', record, { now });
    if (state === 'unknown' && !resendUnknown) throw orderError('outcome_unknown', record, { now });
    if (state === 'refused' && isSame && !again) throw orderError('order_refused', record, { now });
    if (state === 'abandoned') throw orderError('order_abandoned', record, { now });
  }
  return withLease(record === undefined ? newRecord(intent, now) : withIntent(record, intent, now), lease);
}

/**
 * The record with a request under way that no caller asked for; the unchanged record if it is not to be sent any more.
 *
 * @throws {OrderError} `order_not_found`, `different_order`
 */
export function resumeAttempt(
  record: OrderRecord | undefined,
  intent: Intent,
  { isDue, ...lease }: AttemptLease & { readonly isDue: (record: OrderRecord) => boolean },
): OrderRecord {
  const { attempt, now } = lease;
  if (record === undefined) throw orderNotFound(intent.partner_order_id);
  if (record.attempt === attempt || !isDue(record)) return record;
  if (record.digest !== intent.digest) throw orderError('different_order', record, { now });
  return withLease({ ...withIntent(record, intent, now), askedAt: record.askedAt }, lease);
}

function withLease(record: OrderRecord, { attempt, now, leaseMs }: AttemptLease): OrderRecord {
  return {
    ...record,
    state: 'sending',
    attempts: record.attempts + 1,
    attempt,
    unresolved: [...record.unresolved, attempt],
    leaseUntil: now + leaseMs,
  };
}

/** The service has acted on no request of an order in these states. */
const unsentStates: ReadonlySet<OrderState> = new Set(['prepared', 'refused', 'waiting', 'not-sent']);

/** @throws {OrderError} `different_order`, unless the id may stand for another order from now on */
function isSameOrder(
  record: OrderRecord,
  intent: Intent,
  { replace, now }: { readonly replace: boolean; readonly now: number },
): boolean {
  if (record.digest === intent.digest) return true;
  if (replace && unsentStates.has(stateAt(record, now))) return false;
  throw orderError('different_order', record, { now });
}

/** The record of an order to be sent later. @throws {OrderError} if it may not be sent */
export function prepareOrder(
  record: OrderRecord | undefined,
  intent: Intent,
  { replace, now }: { readonly replace: boolean; readonly now: number },
): OrderRecord {
  if (record === undefined) return newRecord(intent, now);
  const state = stateAt(record, now);
  const isSame = isSameOrder(record, intent, { replace, now });
  if (state === 'abandoned') throw orderError('order_abandoned', record, { now });
  if (state === 'refused' && isSame) throw orderError('order_refused', record, { now });
  const isPrepared = state === 'prepared' && isSame && record.handedOver === undefined;
  if (!unsentStates.has(state) || isPrepared) return record;
  return { ...withIntent(record, intent, now), state: 'prepared' };
}

/** The record may have changed since the request began. */
export function finishAttempt(
  record: OrderRecord,
  attempt: string,
  result: OrderAttemptResult,
  now: number,
): OrderRecord {
  // The store has written it before, although it reported a failure.
  if (!record.unresolved.includes(attempt)) return record;
  const others = record.unresolved.filter((other) => other !== attempt);
  const status = result.status === undefined ? {} : { status: result.status };
  if (result.outcome === 'accepted') {
    const settled = { ...record, ...status, unresolved: others };
    return record.state === 'accepted' ? settled : accept(settled, 'reply', now);
  }
  const { outcome, retryAfterMs } = result;
  const unresolved = outcome === 'unknown' ? record.unresolved : others;
  const failed = { ...record, ...status, failure: result.failure, unresolved };
  if (record.state === 'accepted') {
    // No other request can have made the order.
    const mayContradict = outcome !== 'unknown' && outcome !== 'duplicate' && others.length === 0;
    const contradicts = mayContradict && isWithoutReply(record);
    return contradicts ? { ...failed, contradiction: contradictionOf(outcome) } : failed;
  }
  // The duplicate is one of our own requests whose reply was lost.
  if (outcome === 'duplicate' && others.length > 0) return accept(failed, 'duplicate', now);
  if (record.state === 'abandoned') return failed;
  // A later attempt is under way, and decides.
  if (record.state === 'sending' && record.attempt !== attempt) return failed;
  const answer = outcome === 'duplicate' ? 'refused' : outcome;
  const state = unresolved.length > 0 ? 'unknown' : answer;
  const wait = retryAfterMs === undefined ? {} : { notBefore: Math.min(now + retryAfterMs, lastTime) };
  return { ...withoutLease(failed), state, changedAt: now, ...(state === 'waiting' && wait) };
}

/** The last time that a `Date` can show. */
const lastTime = 8_640_000_000_000_000;

/** Any event proves that the service has the order, also one that differs from it. */
export function observeEvent(record: OrderRecord, seen: SeenEvent, rules: ComparisonRules): ComparedRecord {
  const compared = withSeenEvent(record, seen, rules);
  const { record: before } = compared;
  if (before.state !== 'accepted') return { ...compared, record: accept(before, 'event', rules.now) };
  if (before.awaitingEventSince === undefined) return compared;
  return { ...compared, record: withoutAwaiting(before) };
}

interface Settlement {
  /** `rejected` is about events alone. */
  readonly decision: 'accepted' | 'abandoned' | 'rejected';
  readonly note: string;
  /** The digests of the differing events that it is about. */
  readonly events?: readonly string[] | undefined;
  readonly now: number;
  /** An order accepted before this time should have had its first event; `undefined` where none is expected. */
  readonly acceptedBefore: number | undefined;
}

/** @throws {OrderError} `in_progress`, `already_settled`, `undecided_events` or `event_not_found` */
export function settleOrder(
  record: OrderRecord,
  { decision, note, events, now, acceptedBefore }: Settlement,
): OrderRecord {
  // The order is accepted since its first event: it keeps its state.
  if (decision === 'rejected' || events !== undefined)
    return decideEvents(record, events ?? [], { at: now, note, verdict: decision });
  if (record.attention === 'mismatch') throw orderError('undecided_events', record, { now });
  const state = stateAt(record, now);
  const isListed = isUnsettled(record) || isOverdue(record, { acceptedBefore, now });
  if (state === 'sending') throw orderError('in_progress', record, { now });
  if (state === decision && !isListed) return record;
  if (!isListed) throw orderError('already_settled', record, { now });
  const settled = withoutAwaiting(withoutLease(record));
  return { ...settled, state: decision, evidence: 'person', note, changedAt: now };
}

/** @throws {OrderError} `already_settled` if one of them was decided otherwise, `event_not_found` */
function decideEvents(
  record: OrderRecord,
  digests: readonly string[],
  decision: { readonly at: number; readonly note: string; readonly verdict: Settlement['decision'] },
): OrderRecord {
  const { at: now, note, verdict } = decision;
  const named = digests.map((digest) => record.events?.find((event) => event.digest === digest));
  if (named.some((event) => event?.differences === undefined))
    throw orderError('event_not_found', record, { now });
  if (verdict === 'abandoned' || named.some((event) => (event?.decision?.verdict ?? verdict) !== verdict))
    throw orderError('already_settled', record, { now });
  const isNew = named.some((event) => event?.decision === undefined);
  return isNew ? withDecision(record, digests, { at: now, note, verdict }) : record;
}

/** The record once `onSettled` has to be called for its state; `claimedUntil` is the end of the caller's claim. */
export function withReport(
  before: OrderRecord | undefined,
  after: OrderRecord,
  claimedUntil: number,
): OrderRecord {
  if (before?.state === after.state || isUnsettled(after)) return after;
  return { ...after, unreported: true, claimedUntil };
}

/** The record once a hook was called for it as it was `then`; it may have changed since. */
export function hookCalled(
  { claimedUntil, ...record }: OrderRecord,
  then: OrderRecord,
  job: 'report' | 'hand-over',
): OrderRecord {
  if (job === 'hand-over') return record.askedAt === then.askedAt ? { ...record, handedOver: true } : record;
  const { unreported, ...reported } = record;
  return record.state === then.state ? reported : record;
}

function newRecord(intent: Intent, now: number): OrderRecord {
  return {
    version: 1,
    ...intent,
    state: 'prepared',
    ...{ createdAt: now, changedAt: now, openedAt: now, askedAt: now },
    ...{ revision: 0, attempts: 0, unresolved: [] },
  };
}

/** The order to be sent may replace the one of the record. */
function withIntent(record: OrderRecord, intent: Intent, now: number): OrderRecord {
  const { handedOver, merchant, acceptAddress, partnerId, partnerCode, rotation, ...rest } =
    withoutLease(record);
  return {
    ...rest,
    ...intent,
    reports: record.reports ?? intent.reports,
    // The salt of an order that is sent once more stays.
    ordered: record.digest === intent.digest ? record.ordered : intent.ordered,
    changedAt: now,
    openedAt: isUnsettled(record) ? record.openedAt : now,
    askedAt: now,
  };
}

function accept(record: OrderRecord, evidence: 'reply' | 'duplicate' | 'event', now: number): OrderRecord {
  const contradiction = contradictionOf(record.state);
  return {
    ...withoutLease(record),
    state: 'accepted',
    evidence,
    changedAt: now,
    ...(evidence !== 'event' && { awaitingEventSince: now }),
    ...(contradiction !== undefined && { contradiction }),
  };
}

/** The states in which the service is believed not to have the order. */
function contradictionOf(state: OrderRecord['state']): OrderRecord['contradiction'] {
  if (state === 'waiting') return 'refused';
  return state === 'prepared' || state === 'refused' || state === 'not-sent' || state === 'abandoned'
    ? state
    : undefined;
}

function isWithoutReply({ evidence }: OrderRecord): boolean {
  return evidence === 'event' || evidence === 'person';
}

function withoutAwaiting({ awaitingEventSince, ...record }: OrderRecord): OrderRecord {
  return record;
}

function withoutLease({ attempt, leaseUntil, notBefore, ...record }: OrderRecord): OrderRecord {
  return record;
}
