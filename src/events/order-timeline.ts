import { type EventSigner, isSamePartner, type OrderOwner } from '../credentials/partner-credentials.ts';
import { ValidationError } from '../errors/errors.ts';
import { orderEventNames } from './event-names.ts';
import type { OrderEvent, OrderEventName } from './order-event.ts';
import { knownFacts, type OrderFacts, orderFactNames, withFactsOf } from './order-facts.ts';

/**
 * The furthest stage that is known of an order.
 *
 * - `expected`: nothing has been reported yet.
 * - `initialised`: the order exists on the service.
 * - `fiat_received`: the buyer's fiat has arrived.
 * - `held`: the fiat has arrived, and a KYC or third-party error was reported. Only the end of the order lifts a hold.
 * - `credited`: the buyer has the crypto. Final.
 * - `closed`: the order is closed, with a refund unless `meta_data.status` of the event says otherwise. Final.
 * - `contradictory`: reported both as credited and as closed. Final; a person has to check it.
 *
 * @useDeclaredType
 */
export type OrderStage = (typeof orderStages)[number];

/** The stages in order; an order never goes back to an earlier one. */
export const orderStages = [
  'expected',
  'initialised',
  'fiat_received',
  'held',
  'credited',
  'closed',
  'contradictory',
] as const;

/**
 * The combined content of all events of one order. Plain JSON of bounded size, ready to be stored.
 *
 * It depends only on the set of applied events: their order and repetitions make no difference (ledger: `event-order`).
 */
export interface OrderTimeline {
  /** The order's id in your system. */
  readonly partner_order_id: string;
  /** How far the order has come. */
  readonly stage: OrderStage;
  /** The names of the events that were applied, in the order of a lifecycle. */
  readonly seen: readonly OrderEventName[];
  /** The distinct values of each member: one, unless something is flagged. */
  readonly facts: OrderFacts;
  /** Contradictions for a person to check; may be empty. */
  readonly flags: readonly OrderFlag[];
}

/** The timeline of an order before its first event. */
export function emptyTimeline(partner_order_id: string): OrderTimeline {
  return { partner_order_id, stage: 'expected', seen: [], facts: {}, flags: [] };
}

/** The owner of an order, and the signer of an event about it. */
export interface EventParties {
  /** The partner of the order, from your own record of it. */
  readonly owner: OrderOwner;
  /** `key` of the handler's context. */
  readonly key: EventSigner;
}

/**
 * The timeline after one more event: a pure function, to be used inside a transaction. Returns the same object when the
 * event adds nothing, so a repetition needs no write.
 *
 * A late event adds its facts and never moves the order back. An event of an earlier stage never moves an order in a
 * final one, however often it is replayed (ledger: `event-replay`). `credited` and `closed` do not replace each other:
 * both together are `contradictory`, whichever came first.
 *
 * @param parties needed with several partners in one receiver: a partner can sign an event about an order of another
 *   partner, and only this comparison stops it
 * @throws {ValidationError} for an event of another order, and for one signed by another partner than the owner
 * @example
 * ```ts
 * webhooks.onAny(async (event, { key }) => {
 *   const { timeline: before, partnerId } = await orderOf(event);
 *   const after = applyEvent(before, event, { owner: { partnerId }, key });
 *   for (const flag of raisedFlags(before, after)) await alert(flag);
 * });
 * ```
 */
export function applyEvent(
  timeline: OrderTimeline,
  event: OrderEvent,
  parties?: EventParties,
): OrderTimeline {
  if (
    parties !== undefined &&
    !isSamePartner(requireNames('owner', parties.owner), requireNames('key', parties.key))
  ) {
    const message =
      'the event was signed by another partner than the owner of the order, or one of them has no name: give partnerId or partnerCode in every set of credentials';
    throw new ValidationError('applyEvent', [{ path: [], message }]);
  }
  // The third-party error may not name its order: its body is not shown.
  const id = event.partner_order_id ?? timeline.partner_order_id;
  if (id !== timeline.partner_order_id) {
    const message = 'is of another order than the timeline';
    throw new ValidationError('applyEvent', [{ path: ['partner_order_id'], message }]);
  }
  const isRepeated = timeline.seen.includes(event.event_name);
  const seen = isRepeated
    ? timeline.seen
    : orderEventNames.filter((name) => name === event.event_name || timeline.seen.includes(name));
  const facts = withFactsOf(timeline.facts, event);
  if (isRepeated && facts === timeline.facts) return timeline;
  return { partner_order_id: id, stage: stageOf(seen), seen, facts, flags: findFlags(seen, facts) };
}

/** The timeline of stored names and facts, from which the rest of it follows. Those of a newer version are left out. */
export function toTimeline(
  partner_order_id: string,
  stored: Pick<OrderTimeline, 'seen' | 'facts'>,
): OrderTimeline {
  const seen = orderEventNames.filter((name) => stored.seen.includes(name));
  const facts = knownFacts(stored.facts);
  return { partner_order_id, stage: stageOf(seen), seen, facts, flags: findFlags(seen, facts) };
}

/** Refuses missing names, which would otherwise count as a partner without a name. */
function requireNames<Names extends object>(member: keyof EventParties, names: Names): Names {
  if (typeof names === 'object' && names !== null) return names;
  const message = 'must be an object with partnerId or partnerCode';
  throw new ValidationError('applyEvent', [{ path: [member], message }]);
}

function stageOf(seen: readonly OrderEventName[]): OrderStage {
  const credited = seen.includes('event.buy.credited.crypto');
  const closed = seen.includes('buy.event.close');
  if (credited && closed) return 'contradictory';
  if (closed) return 'closed';
  if (credited) return 'credited';
  if (seen.includes('event.buy.received.fiat_kyc_error') || seen.includes('event.buy.third_party_error')) {
    return 'held';
  }
  if (seen.includes('event.buy.received.fiat')) return 'fiat_received';
  return seen.includes('event.buy.init') ? 'initialised' : 'expected';
}

/**
 * A contradiction in an order that a person should check.
 *
 * - `credited_and_closed`: crypto was credited and fiat refunded. One of them should not have happened.
 * - `changed`: two events give the order different values of one member.
 *
 * A hold and a credit contradict nothing: a credit is how a hold ends. `seen` has the names of both.
 */
export type OrderFlag =
  | { readonly code: 'credited_and_closed' }
  | {
      readonly code: 'changed';
      readonly member: Exclude<keyof OrderFacts, 'kyc_error_type'>;
      /** The distinct values, sorted. */
      readonly values: readonly (string | number)[];
    };

/** The flags of the second timeline that the first does not have. */
export function raisedFlags(
  before: { readonly flags: readonly OrderFlag[] },
  after: { readonly flags: readonly OrderFlag[] },
): readonly OrderFlag[] {
  const known = new Set(before.flags.map(identityOf));
  return after.flags.filter((flag) => !known.has(identityOf(flag)));
}

/** All flags, always in the same order. */
function findFlags(seen: readonly OrderEventName[], facts: OrderFacts): OrderFlag[] {
  const flags: OrderFlag[] = [];
  if (stageOf(seen) === 'contradictory') flags.push({ code: 'credited_and_closed' });
  for (const member of orderFactNames) {
    const values = facts[member] ?? [];
    // An order may be held for several reasons, one after the other.
    if (values.length > 1 && member !== 'kyc_error_type') flags.push({ code: 'changed', member, values });
  }
  return flags;
}

function identityOf(flag: OrderFlag): string {
  return flag.code === 'changed' ? JSON.stringify([flag.member, flag.values]) : flag.code;
}
