import { StoreError } from '../errors/errors.ts';
import { type OrderTimeline, toTimeline } from '../events/order-timeline.ts';
import { hash } from '../internal/hash.ts';
import { isJsonObject, type JsonObject } from '../internal/json.ts';
import { writeSorted } from '../signature/write-json.ts';
import { isAhead } from '../store/lease.ts';
import { storedForm } from '../store/stored-form.ts';
import type { JournaledEvent, JournaledOrder } from './journaled-order.ts';
import type { OrderState } from './order-state.ts';

/**
 * An order as the journal keeps it. Nothing personal: of the payload only id and digest, chain, currency, amount and a
 * salted hash of the address, of a reply only its status. Every transition copies the record that it changes, so members
 * that a newer version has written stay.
 */
export interface OrderRecord extends Omit<JournaledOrder, 'ordered' | 'timeline' | 'platform_order_ref'> {
  readonly version: 1;
  /** SHA-256 over merchant and payload: see `orderDigest`. */
  readonly digest: string;
  readonly partnerId?: string | undefined;
  readonly partnerCode?: string | undefined;
  /** The rotation of the keys that signed: all its keys are those of the order's owner. */
  readonly rotation?: string | undefined;
  /** Since when it is unsettled. */
  readonly openedAt: number;
  /** When a caller last asked for it to be sent. */
  readonly askedAt: number;
  /** The attempts without a known outcome, the current one included. The service may have acted on each. */
  readonly unresolved: readonly string[];
  /** The current attempt, while `sending`. */
  readonly attempt?: string | undefined;
  /** A journal with `onSettled` has written its intent: what others find out is reported by a loop. */
  readonly reports?: true | undefined;
  /** `onSettled` has to be called for its state. */
  readonly unreported?: true | undefined;
  /** `onUnknown` was called since a caller last asked for it to be sent. */
  readonly handedOver?: true | undefined;
  /** Until then only the process that wrote it calls a hook for the order. */
  readonly claimedUntil?: number | undefined;
  /** The members of the payload that an event can contradict, and a hash of the salt and the address. */
  readonly ordered: JournaledOrder['ordered'] & {
    readonly salt?: string | undefined;
    readonly address?: string | undefined;
  };
  /** The part of the timeline from which the rest follows. A hash stands for each address. */
  readonly timeline?: Pick<OrderTimeline, 'seen' | 'facts'> | undefined;
}

/** Whether users see a member as it is. */
const members = {
  version: 'hidden',
  partner_order_id: 'shown',
  digest: 'hidden',
  merchant: 'shown',
  partnerId: 'hidden',
  partnerCode: 'hidden',
  rotation: 'hidden',
  acceptAddress: 'shown',
  revision: 'shown',
  state: 'hidden',
  createdAt: 'shown',
  changedAt: 'shown',
  openedAt: 'hidden',
  askedAt: 'hidden',
  attempts: 'shown',
  unresolved: 'hidden',
  attempt: 'hidden',
  leaseUntil: 'hidden',
  notBefore: 'shown',
  reports: 'hidden',
  unreported: 'hidden',
  handedOver: 'hidden',
  claimedUntil: 'hidden',
  status: 'shown',
  failure: 'shown',
  evidence: 'shown',
  awaitingEventSince: 'shown',
  note: 'shown',
  contradiction: 'shown',
  ordered: 'hidden',
  timeline: 'hidden',
  events: 'shown',
  attention: 'shown',
} as const satisfies Record<keyof OrderRecord, 'shown' | 'hidden'>;

/** The order as users see it. */
export function toJournaledOrder(record: OrderRecord, now: number): JournaledOrder {
  const { partner_order_id, leaseUntil, timeline, ordered } = record;
  const { chain, fiat_currency, fiat_amount } = ordered;
  const state = stateAt(record, now);
  const shownTimeline = timeline && toTimeline(partner_order_id, timeline);
  const [reference] = shownTimeline?.facts.platform_order_ref ?? [];
  const isShown = ([name, value]: [string, unknown]) =>
    value !== undefined && Object.hasOwn(members, name) && members[name as keyof OrderRecord] === 'shown';
  // Sound: the table names its members.
  const shown = Object.fromEntries(Object.entries(record).filter(isShown)) as unknown as JournaledOrder;
  return {
    ...shown,
    state,
    ...(state === 'sending' && { leaseUntil }),
    ordered: {
      ...(chain !== undefined && { chain }),
      ...(fiat_currency !== undefined && { fiat_currency }),
      ...(fiat_amount !== undefined && { fiat_amount }),
    },
    ...(reference !== undefined && { platform_order_ref: String(reference) }),
    ...(shownTimeline !== undefined && { timeline: shownTimeline }),
  };
}

/** @throws {StoreError} `newer_format`; `store_failed` for what is no record of ours */
const orderForm = storedForm<OrderRecord>('The record of an order', members, (stored) => {
  // Sound: no other program writes these members.
  if (isJsonObject(stored) && typeof stored.digest === 'string' && Array.isArray(stored.unresolved))
    return stored as unknown as OrderRecord;
  throw new StoreError(
    'store_failed',
    'A record of the order journal is not in its form: another program uses its prefix.',
    { remedy: 'Give the journal a prefix of its own.' },
  );
});

export const { read: readRecord, write: writeRecord } = orderForm;

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

/** Taken before wire names are applied: correcting one makes no other order. */
export function orderDigest(payload: JsonObject, merchant: string | undefined): string {
  return hash('sha256', writeSorted([merchant ?? null, payload]), 'hex');
}
