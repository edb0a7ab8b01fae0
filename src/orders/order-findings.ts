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
  readonly next: string;
}

/**
 * - `never_reported`: a reply accepted it, and no event of it has come.
 * - `stuck`: nothing has happened for a while: its stage, or the state of an order that is not settled.
 * - `held`: a KYC or third-party error holds it.
 * - `mismatch`: an event or the statement has another address, chain, currency or hash, and waits for a decision.
 * - `amount_differs`: an event or the statement has another amount.
 * - `rate_moved`: its events have several exchange rates.
 * - `credited_without_hash`: an event of the credit lacks the hash of the payment, so it could not be read.
 * - `hash_used_twice`: another order has the same hash of a payment.
 * - `credited_and_closed`: the crypto was credited, and the fiat refunded.
 * - `refund_differs`: what was refunded is not what was paid less the fee.
 * - `event_without_order`: an event names an order that the journal does not have.
 * - `earlier_event_missing`: it was credited, and the event of the fiat never came: deliveries may be lost.
 * - `only_in_statement`, `only_in_journal`: the other side does not have it.
 *
 * @useDeclaredType
 */
export type OrderFindingKind = keyof typeof nextSteps;

/** What to do about each kind. */
const nextSteps = {
  never_reported:
    'Look at the service, and at the partner_callback_url of the order; then settle it (`order settle`).',
  stuck: 'Look at the service, and ask it why the order does not go on.',
  held: 'Ask the buyer for what the event says (KYC, a payment from the own account), or for the refund.',
  mismatch:
    'Look at the service before anything else is paid; then settle its events as accepted or rejected, and replay the accepted ones.',
  amount_differs:
    'Compare the amount with what the buyer paid, fees included; then settle its events as accepted or rejected.',
  rate_moved: 'Look at the amounts of the events: the rate has changed after the order began.',
  credited_without_hash: 'Ask the service for the hash of the payment, and look it up on the chain.',
  hash_used_twice: 'Look the payment up on the chain: it can have paid one of the orders.',
  credited_and_closed: 'Ask the service which of the two happened: one of them should not have.',
  refund_differs: 'Ask the service for the calculation of the refund.',
  event_without_order: 'Find out who ordered it: another program, or a journal that lost its records.',
  earlier_event_missing:
    'Look for lost deliveries: dead letters, answers other than 2xx, a receiver that was away.',
  only_in_statement: 'Find out who ordered it: another program, or a journal that lost its records.',
  only_in_journal: 'Ask the service for the order: its reply or its event said that it has it.',
} as const;

export function finding(
  kind: OrderFindingKind,
  partner_order_id: string,
  { since, evidence }: FoundFacts,
): OrderFinding {
  return { kind, partner_order_id, since, evidence, next: nextSteps[kind] };
}

interface FoundFacts {
  readonly since: number | null;
  readonly evidence: JsonObject;
}

export interface FindingRules {
  readonly now: number;
  /** Milliseconds after which something that is expected counts as missing. */
  readonly olderThanMs: number;
}

/** What is wrong with one order, as far as its own record shows it. */
export function findingsOf(record: OrderRecord, rules: FindingRules): OrderFinding[] {
  const view = viewOf(record, rules);
  return Object.entries(ownFindings).flatMap(([kind, find]) => {
    const found = find(view);
    // Sound: the keys of the table.
    return found === undefined ? [] : [finding(kind as OrderFindingKind, record.partner_order_id, found)];
  });
}

interface OrderView {
  readonly record: OrderRecord;
  readonly state: ReturnType<typeof stateAt>;
  readonly timeline: ReturnType<typeof toTimeline>;
  readonly events: NonNullable<OrderRecord['events']>;
  /** When its last event came. */
  readonly lastAt: number;
  isOld(time: number): boolean;
}

function viewOf(record: OrderRecord, { now, olderThanMs }: FindingRules): OrderView {
  const { timeline = { seen: [], facts: {} }, events = [], changedAt } = record;
  return {
    record,
    state: stateAt(record, now),
    timeline: toTimeline(record.partner_order_id, timeline),
    events,
    lastAt: events.reduce((latest, { at }) => Math.max(latest, at), changedAt),
    isOld: (time) => now - time >= olderThanMs,
  };
}

const received = 'event.buy.received.fiat';
const credited = 'event.buy.credited.crypto';

/** The finders, in the order in which they report. */
const ownFindings: Readonly<Partial<Record<OrderFindingKind, (view: OrderView) => FoundFacts | undefined>>> =
  {
    never_reported({ record, state, isOld }) {
      const { awaitingEventSince: since, status } = record;
      if (state !== 'accepted' || since === undefined || !isOld(since)) return undefined;
      return { since, evidence: { evidence: record.evidence ?? null, status: status ?? null } };
    },
    stuck({ record, state, timeline: { stage }, lastAt, isOld }) {
      if (isUnsettled(record)) {
        const { openedAt: since, attention } = record;
        return isOld(since) ? { since, evidence: { state, ...(attention && { attention }) } } : undefined;
      }
      const isUnderWay = stage === 'initialised' || stage === 'fiat_received';
      return isUnderWay && isOld(lastAt) ? { since: lastAt, evidence: { stage } } : undefined;
    },
    held({ timeline: { stage, facts, seen }, lastAt, isOld }) {
      if (stage !== 'held' || !isOld(lastAt)) return undefined;
      return {
        since: lastAt,
        evidence: { kyc_error_type: [...(facts.kyc_error_type ?? [])], seen: [...seen] },
      };
    },
    mismatch: ({ events }) => differing(events, ({ member }) => member !== 'fiat_amount'),
    amount_differs: ({ events }) => differing(events, ({ member }) => member === 'fiat_amount'),
    rate_moved({ timeline: { facts }, lastAt }) {
      const { exchange_rate: rates = [] } = facts;
      return rates.length > 1 ? { since: lastAt, evidence: { exchange_rate: [...rates] } } : undefined;
    },
    credited_without_hash({ events, timeline: { seen } }) {
      const event = events.find(
        ({ name, unread }) => name === credited && unread?.includes('crypto_txn_hash'),
      );
      if (event === undefined || seen.includes(credited)) return undefined;
      return { since: event.at, evidence: { digest: event.digest, unread: [...(event.unread ?? [])] } };
    },
    credited_and_closed({ timeline: { stage, seen }, lastAt }) {
      return stage === 'contradictory' ? { since: lastAt, evidence: { seen: [...seen] } } : undefined;
    },
    refund_differs({ timeline: { seen, facts }, lastAt }) {
      const paid = facts.fiat_amount_to_pay?.at(-1);
      const refunded = facts.amount_refunded?.at(-1);
      const fee = facts.fee?.at(-1) ?? 0;
      if (!seen.includes('buy.event.close') || paid === undefined || refunded === undefined) return undefined;
      // Less than any coin: the numbers are rounded.
      if (Math.abs(Number(paid) - Number(fee) - Number(refunded)) < 0.005) return undefined;
      return { since: lastAt, evidence: { fiat_amount_to_pay: paid, fee, amount_refunded: refunded } };
    },
    earlier_event_missing({ events, timeline: { seen }, isOld }) {
      const has = (wanted: string) =>
        seen.some((name) => name === wanted) || events.some(({ name }) => name === wanted);
      const since = events.find(({ name }) => name === credited)?.at;
      if (since === undefined || has(received) || !isOld(since)) return undefined;
      return { since, evidence: { seen: [...seen], missing: received } };
    },
  };

/** The differing events that are not decided yet. */
function differing(
  events: OrderView['events'],
  isWanted: (difference: OrderDifference) => boolean,
): FoundFacts | undefined {
  const found = events.filter((event) => isUndecided(event) && event.differences?.some(isWanted));
  const [first] = found;
  if (first === undefined) return undefined;
  const shown = found.map(({ name, digest, differences = [] }) => ({
    ...{ name, digest },
    differences: differences.filter(isWanted).map(({ member, ordered, reported }) => ({
      member,
      ...(ordered !== undefined && { ordered }),
      ...(reported !== undefined && { reported }),
    })),
  }));
  return { since: first.at, evidence: { events: shown } };
}
