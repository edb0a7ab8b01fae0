import { toTimeline } from '../events/order-timeline.ts';
import type { JsonObject } from '../internal/json.ts';
import type { OrderDifference } from './order-differences.ts';
import { isUndecided, isUnsettled, type OrderRecord, stateAt } from './order-record.ts';

/** Something that `reconcile` found. Plain JSON. */
export interface OrderFinding {
  /** Which fault it is. */
  readonly kind: OrderFindingKind;
  /** The order; for `only_in_statement` as the statement names it. */
  readonly partner_order_id: string;
  /** Since when it is so, in milliseconds since 1970; `null` if nothing tells. */
  readonly since: number | null;
  /** What shows it. */
  readonly evidence: JsonObject;
  /** What to do. */
  readonly advice: string;
}

/**
 * - `never_reported`: a reply accepted it, and no event of it has come.
 * - `stuck`: nothing has happened for a while: its stage, or the state of an order that is not settled.
 * - `held`: a KYC or third-party error holds it.
 * - `mismatch`: an event or the statement has another address, chain, currency or hash, and waits for a decision.
 * - `amount_differs`: an event or the statement has another amount.
 * - `hash_used_twice`: another order has the same hash of a payment.
 * - `credited_and_closed`: the crypto was credited, and the fiat refunded.
 * - `only_in_statement`, `only_in_journal`: the other side does not have it.
 *
 * @useDeclaredType
 */
export type OrderFindingKind = keyof typeof orderAdvice;

/** What to do about each kind. */
const orderAdvice = {
  never_reported:
    'Look at the service, and at the partner_callback_url of the order; then settle it (`order settle`).',
  stuck: 'Look at the service, and ask it why the order does not go on.',
  held: 'Ask the buyer for what the event says (KYC, a payment from the own account), or for the refund.',
  mismatch:
    'Look at the service before anything else is paid; then settle its events as accepted or rejected, and replay the accepted ones.',
  amount_differs:
    'Compare the amount with what the buyer paid, fees included; then settle its events as accepted or rejected.',
  hash_used_twice: 'Look the payment up on the chain: it can have paid one of the orders.',
  credited_and_closed: 'Ask the service which of the two happened: one of them should not have.',
  only_in_statement: 'Find out who ordered it: another program, or a journal that lost its records.',
  only_in_journal: 'Ask the service for the order: its reply or its event said that it has it.',
} as const;

export function finding(
  kind: OrderFindingKind,
  partner_order_id: string,
  { since, evidence }: Pick<OrderFinding, 'since' | 'evidence'>,
): OrderFinding {
  return { kind, partner_order_id, since, evidence, advice: orderAdvice[kind] };
}

/**
 * The faults of one order, as far as its own record shows them.
 *
 * @param rules.olderThanMs milliseconds after which something that is expected counts as missing
 */
export function* findingsOf(
  record: OrderRecord,
  { now, olderThanMs }: { readonly now: number; readonly olderThanMs: number },
): Generator<OrderFinding> {
  const { partner_order_id: id, state, evidence = null, status = null, openedAt } = record;
  const { timeline, events = [], changedAt, awaitingEventSince } = record;
  const { stage, facts, seen } = toTimeline(id, timeline ?? { seen: [], facts: {} });
  const lastAt = events.reduce((latest, { at }) => Math.max(latest, at), changedAt);
  const isOld = (time: number) => now - time >= olderThanMs;

  if (state === 'accepted' && awaitingEventSince !== undefined && isOld(awaitingEventSince))
    yield finding('never_reported', id, { since: awaitingEventSince, evidence: { evidence, status } });
  if (isUnsettled(record) && isOld(openedAt))
    yield finding('stuck', id, { since: openedAt, evidence: { state: stateAt(record, now) } });
  const isUnderWay = stage === 'initialised' || stage === 'fiat_received';
  if (isUnderWay && !isUnsettled(record) && isOld(lastAt))
    yield finding('stuck', id, { since: lastAt, evidence: { stage } });
  if (stage === 'held' && isOld(lastAt)) {
    const { kyc_error_type = [] } = facts;
    const shown = { kyc_error_type: [...kyc_error_type], seen: [...seen] };
    yield finding('held', id, { since: lastAt, evidence: shown });
  }
  yield* differing('mismatch', record, ({ member }) => member !== 'fiat_amount');
  yield* differing('amount_differs', record, ({ member }) => member === 'fiat_amount');
  if (stage === 'contradictory')
    yield finding('credited_and_closed', id, { since: lastAt, evidence: { seen: [...seen] } });
}

/** The events with such a difference that are not decided yet. */
function* differing(
  kind: 'mismatch' | 'amount_differs',
  { partner_order_id: id, events = [] }: OrderRecord,
  isWanted: (difference: OrderDifference) => boolean,
): Generator<OrderFinding> {
  const undecided = events.filter((event) => isUndecided(event) && event.differences?.some(isWanted));
  const [first] = undecided;
  if (first === undefined) return;
  const shown = undecided.map(({ name, digest, differences = [] }) => ({
    ...{ name, digest },
    differences: differences.filter(isWanted).map(({ member, ordered, reported }) => ({
      member,
      ...(ordered !== undefined && { ordered }),
      ...(reported !== undefined && { reported }),
    })),
  }));
  yield finding(kind, id, { since: first.at, evidence: { events: shown } });
}
