import * as z from 'zod';
import { OrderError, type OrderErrorCode, StoreError } from '../errors/errors.ts';
import { type OrderTimeline, toTimeline } from '../events/order-timeline.ts';
import { hash } from '../internal/hash.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../internal/json.ts';
import { quotedName } from '../internal/printable-text.ts';
import { writeSorted } from '../signature/write-json.ts';
import { isAhead } from '../store/lease.ts';
import { storedForm } from '../store/stored-form.ts';
import type { JournaledEvent, JournaledOrder } from './journaled-order.ts';
import { differingMembers } from './order-differences.ts';
import type { OrderState } from './order-state.ts';
import { readStray } from './stray-event.ts';

export const orderStates = [
  'prepared',
  'sending',
  'accepted',
  'refused',
  'waiting',
  'not-sent',
  'unknown',
  'abandoned',
] as const satisfies readonly OrderState[];

const text = z.string();
const milliseconds = z.number();

/** The members of the payload that an event can contradict. The address is a salted hash. */
const orderedMembers = z.looseObject({
  chain: z.string().optional(),
  fiat_currency: z.string().optional(),
  fiat_amount: z.string().optional(),
  salt: z.string().optional(),
  /** SHA-256 of the salt and the address. */
  address: z.string().optional(),
});

/** The part of the timeline from which the rest follows. A hash stands for each address. */
const storedTimeline = z.looseObject({
  // Sound: only `applyEvent` writes them. A newer version may know more events.
  seen: z.custom<OrderTimeline['seen']>(Array.isArray),
  facts: z.custom<OrderTimeline['facts']>(isJsonObject),
});

const loggedEvent = z.looseObject({
  name: z.string(),
  at: z.number(),
  digest: z.string(),
  differences: z
    .array(
      z.looseObject({
        member: z.enum(differingMembers),
        ordered: z.string().optional(),
        reported: z.string().optional(),
      }),
    )
    .optional(),
  unread: z.array(z.string()).optional(),
  decision: z
    .looseObject({
      at: z.number(),
      note: z.string(),
      verdict: z.enum(['accepted', 'rejected']),
    })
    .optional(),
});

/**
 * Members that this version does not know are kept: a newer version has written them, and every transition copies the
 * record that it changes. Nothing personal: of the payload only id and digest, chain, currency, amount and a salted hash
 * of the address, of a reply only its status and what `keepReply` picked.
 */
const knownMembers = z.object({
  version: z.literal(1),
  partner_order_id: text,
  /** SHA-256 over merchant and payload: see `orderDigest`. */
  digest: text,
  merchant: text.optional(),
  partnerId: text.optional(),
  partnerCode: text.optional(),
  /** The rotation of the keys that signed: all its keys are those of the order's owner. */
  rotation: text.optional(),
  /** Why its address is right although `checkAddress` refuses it. */
  acceptAddress: text.optional(),
  /** How often the record was changed. */
  revision: z.number(),
  /** The state as last written: a `sending` whose lease has expired is `unknown`, see {@link stateAt}. */
  state: z.enum(orderStates),
  createdAt: milliseconds,
  changedAt: milliseconds,
  openedAt: milliseconds,
  /** When a caller last asked for it to be sent. */
  askedAt: milliseconds,
  attempts: z.number(),
  /** The attempts without a known outcome, the current one included. The service may have acted on each. */
  unresolved: z.array(text),
  /** The current attempt, while `sending`. */
  attempt: text.optional(),
  leaseUntil: milliseconds.optional(),
  /** When the service takes the order again at the earliest, while `waiting` since it wants fewer requests. */
  notBefore: milliseconds.optional(),
  /** A journal with `onSettled` has written its intent: what others find out is reported by a loop. */
  reports: z.literal(true).optional(),
  /** `onSettled` has to be called for its state. */
  unreported: z.literal(true).optional(),
  /** `onUnknown` was called since a caller last asked for it to be sent. */
  handedOver: z.literal(true).optional(),
  /** Until then only the process that wrote it calls a hook for the order. */
  claimedUntil: milliseconds.optional(),
  status: z.number().optional(),
  failure: text.optional(),
  evidence: z.enum(['reply', 'duplicate', 'event', 'person']).optional(),
  /** When a reply accepted it, until its first event comes or a person decides. */
  awaitingEventSince: milliseconds.optional(),
  /** Sound: the store returns JSON. */
  kept: z.custom<JsonValue>().optional(),
  platform_order_ref: text.optional(),
  note: text.optional(),
  contradiction: z.enum(['prepared', 'refused', 'not-sent', 'abandoned']).optional(),
  ordered: orderedMembers,
  timeline: storedTimeline.optional(),
  events: z.array(loggedEvent).optional(),
  /** `mismatch`: a differing event is not decided yet. `payload`: what is to be sent is another order. */
  attention: z.enum(['mismatch', 'payload']).optional(),
});

const shownMembers = knownMembers.omit({
  version: true,
  digest: true,
  partnerId: true,
  partnerCode: true,
  rotation: true,
  state: true,
  openedAt: true,
  askedAt: true,
  unresolved: true,
  attempt: true,
  leaseUntil: true,
  reports: true,
  unreported: true,
  handedOver: true,
  claimedUntil: true,
  ordered: true,
  timeline: true,
  events: true,
});

const { shape } = loggedEvent;
/** The members that this version knows. */
const shownOrdered = z.object(orderedMembers.omit({ salt: true, address: true }).shape);
const shownEvents = z.array(
  z.object({
    ...shape,
    differences: z.array(z.object(shape.differences.unwrap().element.shape)).optional(),
    decision: z.object(shape.decision.unwrap().shape).optional(),
  }),
);

export type OrderRecord = Readonly<z.infer<typeof knownMembers>>;

/**
 * An order, in the place that may hold a stray event instead.
 *
 * @throws {StoreError} `newer_format`; `store_failed` for what is no record of ours
 */
const orderForm = storedForm<OrderRecord>('The record of an order', knownMembers.shape, (stored) => {
  if (readStray(stored) !== undefined) return undefined;
  const result = knownMembers.safeParse(stored);
  if (result.success) return result.data;
  throw new StoreError(
    'store_failed',
    'A record of the order journal is not in its form: another program uses its prefix.',
    { remedy: 'Give the journal a prefix of its own.' },
  );
});

export const readRecord = orderForm.read;

/** @param former the record of the order until now, or a stray event, which leaves nothing behind */
export function writeRecord(record: OrderRecord, former: JsonValue | undefined): JsonObject {
  return orderForm.write(record, readRecord(former) && former);
}

/** True for an event that differs from its order and waits for a decision. */
export function isUndecided({
  differences,
  decision,
}: Pick<JournaledEvent, 'differences' | 'decision'>): boolean {
  return differences !== undefined && decision === undefined;
}

/** A request whose lease is over is `unknown`. */
export function stateAt(
  { state, leaseUntil = 0, changedAt }: Pick<OrderRecord, 'state' | 'leaseUntil' | 'changedAt'>,
  now: number,
): OrderState {
  return state === 'sending' && (leaseUntil <= now || isAhead(changedAt, now)) ? 'unknown' : state;
}

export function isUnsettled({ state }: Pick<OrderRecord, 'state'>): boolean {
  return state !== 'accepted' && state !== 'refused' && state !== 'abandoned';
}

/**
 * Accepted too long ago for an order whose first event has not come.
 *
 * @param acceptedBefore `undefined` where a missing event means nothing
 */
export function isOverdue(
  { awaitingEventSince: since }: Pick<OrderRecord, 'awaitingEventSince'>,
  { acceptedBefore, now }: { acceptedBefore: number | undefined; now: number },
): boolean {
  if (since === undefined || acceptedBefore === undefined) return false;
  return since <= acceptedBefore || isAhead(since, now);
}

export function toJournaledOrder(record: OrderRecord, now: number): JournaledOrder {
  const { leaseUntil } = record;
  const state = stateAt(record, now);
  const shown = shownMembers.parse(record);
  return {
    ...shown,
    state,
    ...(state === 'sending' && { leaseUntil }),
    ordered: shownOrdered.parse(record.ordered),
    ...(record.timeline !== undefined && { timeline: toTimeline(record.partner_order_id, record.timeline) }),
    ...(record.events !== undefined && { events: shownEvents.parse(record.events) }),
  };
}

export function orderError(
  code: keyof typeof problems,
  record: OrderRecord,
  { now, cause }: { now: number; cause?: unknown },
): OrderError {
  const state = stateAt(record, now);
  const leftMs = Math.max(1, (record.leaseUntil ?? now) - now);
  const limitedMs = Math.max(0, (record.notBefore ?? now) - now);
  return new OrderError(code, `Order ${quotedName(record.partner_order_id)} ${problems[code]}.`, {
    ...(code === 'in_progress' && { remedy: inProgress(leftMs) }),
    partner_order_id: record.partner_order_id,
    state,
    cause,
    ...(code === 'in_progress' && { retryAfterMs: leftMs }),
    ...(code === 'outcome_unknown' && { assumptions: ['partner-order-id'] }),
    ...(code === 'waiting_for_keys' && { assumptions: ['old-keys-die'] }),
    ...(code === 'rate_limited' && { assumptions: ['order-rate-limit'], retryAfterMs: limitedMs }),
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
  const assumptions = ['event-matches-order'] as const;
  return new OrderError('order_mismatch', what, {
    partner_order_id,
    state: stateAt(record, now),
    assumptions,
  });
}

/** Only the end of the lease is known, not whether its process is alive. */
function inProgress(leftMs: number): string {
  return `Nothing was sent now: wait for the result, or ${Math.ceil(leftMs / 1000)} s until the order becomes unknown.`;
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

/** Taken before wire names are applied: correcting one makes no other order. */
export function orderDigest(payload: JsonObject, merchant: string | undefined): string {
  return hash('sha256', writeSorted([merchant ?? null, payload]), 'hex');
}
