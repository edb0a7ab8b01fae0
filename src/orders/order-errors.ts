import { OrderError, type OrderErrorCode } from '../errors/errors.ts';
import { quotedName } from '../internal/printable-text.ts';
import type { JournaledEvent } from './journaled-order.ts';
import { type OrderRecord, stateAt } from './order-record.ts';

export function orderError(
  code: keyof typeof problems,
  record: OrderRecord,
  { now, cause }: { now: number; cause?: unknown },
): OrderError {
  const { partner_order_id, leaseUntil = now, notBefore = now } = record;
  const leftMs = Math.max(1, leaseUntil - now);
  return new OrderError(code, `Order ${quotedName(partner_order_id)} ${problems[code]}.`, {
    ...{ partner_order_id, state: stateAt(record, now), cause },
    // Only the end of the lease is known, not whether its process is alive.
    ...(code === 'in_progress' && {
      remedy: `Nothing was sent now: wait for the result, or ${Math.ceil(leftMs / 1000)} s until the order becomes unknown.`,
      retryAfterMs: leftMs,
    }),
    ...(code === 'outcome_unknown' && { assumptions: ['partner-order-id'] }),
    ...(code === 'waiting_for_keys' && { assumptions: ['old-keys-die'] }),
    ...(code === 'rate_limited' && {
      assumptions: ['order-rate-limit'],
      retryAfterMs: Math.max(0, notBefore - now),
    }),
  });
}

export function orderNotFound(partnerOrderId: string): OrderError {
  const what = `Order ${quotedName(partnerOrderId)} is not in the journal.`;
  return new OrderError('order_not_found', what, { partner_order_id: partnerOrderId });
}

/** The error of an event that no handler may act on. */
export function orderMismatch(record: OrderRecord, event: JournaledEvent, now: number): OrderError {
  const { partner_order_id } = record;
  const members = (event.differences ?? []).map(({ member }) => member);
  const what = `The authentic event ${quotedName(event.name)} of order ${quotedName(partner_order_id)} is not about what was ordered (${members.join(', ')}).`;
  return new OrderError('order_mismatch', what, {
    partner_order_id,
    state: stateAt(record, now),
    assumptions: ['event-matches-order'],
  });
}

const problems = {
  different_order: 'is in the journal with another payload or merchant',
  in_progress: 'is being sent by another call, or by a process that has died',
  outcome_unknown: 'was sent before, and nothing tells yet whether the service has it',
  order_refused: 'was refused by the service',
  order_abandoned: 'was given up by a person',
  already_settled: 'is settled in another way already',
  undecided_events: 'has events that differ from it, so a decision has to name those that it is about',
  event_not_found: 'has no differing event with one of these digests',
  rate_limited: 'was not taken, since the service wants fewer requests',
  waiting_for_keys: 'was refused under keys that are being replaced, and waits for the new ones',
} as const satisfies Record<Exclude<OrderErrorCode, 'order_not_found' | 'order_mismatch'>, string>;
