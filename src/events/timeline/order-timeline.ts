import { ValidationError } from '../../errors/validation-error.ts';
import type { OrderEvent, OrderEventName } from '../order-event.ts';
import { orderEventNames } from '../parse-order-event.ts';
import { type OrderFacts, withFactsOf } from './order-facts.ts';
import { findFlags, type OrderFlag } from './order-flags.ts';

/**
 * How far an order is known to have come.
 *
 * - `expected`: nothing has been reported yet.
 * - `initialised`: the order exists on the service.
 * - `fiat_received`: the buyer's fiat is in.
 * - `held`: the fiat is in, and a KYC or third-party error was reported. Only the end of the order lifts a hold.
 * - `credited`: the crypto is with the buyer. Final.
 * - `closed`: the order is closed with a refund. Final.
 * - `contradictory`: reported both as credited and as closed. Final; a person has to look.
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
 * What all events of one order say together. Plain JSON of bounded size, ready to be stored.
 *
 * It depends only on the set of applied events: their order and repetitions make no difference (ledger: `event-order`).
 */
export interface OrderTimeline {
  readonly partner_order_id: string;
  readonly stage: OrderStage;
  /** The names of the events that were applied, in the order of a lifecycle. */
  readonly seen: readonly OrderEventName[];
  /** The distinct values of each member: one, unless something is flagged. */
  readonly facts: OrderFacts;
  /** What a person should look at; an empty list when there is nothing. */
  readonly flags: readonly OrderFlag[];
}

/** The timeline of an order before its first event. */
export function emptyTimeline(partner_order_id: string): OrderTimeline {
  return { partner_order_id, stage: 'expected', seen: [], facts: {}, flags: [] };
}

/**
 * The timeline after one more event: a pure function, to be used inside a transaction. Returns the same object when the
 * event adds nothing, so a repetition needs no write.
 *
 * A late event adds its facts and never moves the order back. An event of an earlier stage never moves an order in a
 * final one, however often it is replayed (ledger: `event-replay`). `credited` and `closed` do not replace each other:
 * both together are `contradictory`, whichever came first.
 *
 * @throws {ValidationError} for an event of another order
 * @example
 * ```ts
 * const before = row?.timeline ?? emptyTimeline(event.partner_order_id);
 * const after = applyEvent(before, event);
 * for (const flag of raisedFlags(before, after)) await alert(flag);
 * ```
 */
export function applyEvent(timeline: OrderTimeline, event: OrderEvent): OrderTimeline {
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

/** Whether the order ends in this stage. After it only `contradictory` can follow. */
export function isFinalStage(stage: OrderStage): boolean {
  return orderStages.indexOf(stage) >= orderStages.indexOf('credited');
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
