import * as z from 'zod';
import { OrderError, type OrderState } from '../errors/order-error.ts';
import { StoreError } from '../errors/store-error.ts';
import type { JsonValue } from '../json/json-value.ts';
import type { JournaledOrder } from './journaled-order.ts';

const text = z.string();
const milliseconds = z.number();

/**
 * What the store holds of an order. Nothing of a person: of the payload only the id and a digest, of a reply only its
 * status and what `keepReply` chose.
 */
const orderRecord = z.object({
  /** Of this form; a later form gets a later number. */
  version: z.literal(1),
  partner_order_id: text,
  /** SHA-256 over merchant and payload: see `orderDigest`. */
  digest: text,
  merchant: text.optional(),
  partnerId: text.optional(),
  /** As last written: a `sending` whose lease has expired is `unknown`, see {@link stateAt}. */
  state: z.enum(['prepared', 'sending', 'accepted', 'refused', 'not_sent', 'unknown', 'abandoned']),
  createdAt: milliseconds,
  changedAt: milliseconds,
  /** Since when it has been unsettled. */
  openedAt: milliseconds,
  /** Requests begun. */
  attempts: z.number(),
  /** The attempts of which nobody knows the outcome, the one in hand included. The service may have acted on each. */
  unresolved: z.array(text),
  /** The attempt in hand, while `sending`. */
  attempt: text.optional(),
  leaseUntil: milliseconds.optional(),
  /** Written by `prepare`: it stays unsettled until it has reached the service. */
  outbox: z.literal(true).optional(),
  /** HTTP status of the last reply. */
  status: z.number().optional(),
  /** Code of the last request that failed. */
  failure: text.optional(),
  evidence: z.enum(['reply', 'duplicate', 'event', 'person']).optional(),
  /** Sound: the store returns JSON. */
  kept: z.custom<JsonValue>().optional(),
  platform_order_ref: text.optional(),
  note: text.optional(),
  contradiction: z.enum(['prepared', 'refused', 'not_sent', 'abandoned']).optional(),
});

export type OrderRecord = Readonly<z.infer<typeof orderRecord>>;

/** @throws {StoreError} `store_failed` for what no version up to this one has written */
export function readRecord(value: JsonValue | undefined): OrderRecord | undefined {
  if (value === undefined) return undefined;
  const result = orderRecord.safeParse(value);
  if (result.success) return result.data;
  throw new StoreError(
    'store_failed',
    'A record of the order journal is not in a form that this version knows: another version wrote it, or another program uses its prefix.',
  );
}

/** Nobody may believe that a request is still under way when its lease is over: it is unknown. */
export function stateAt(record: OrderRecord, now: number): OrderState {
  const { state, leaseUntil = 0, changedAt } = record;
  return state === 'sending' && (leaseUntil <= now || isAhead(changedAt, now)) ? 'unknown' : state;
}

/** Whether a time can only be of a clock that has been set back since: nobody knows how long ago it was. */
export function isAhead(time: number, now: number): boolean {
  return time > now + maxClockSkewMs;
}

/** How far the clocks of several machines may be apart. */
const maxClockSkewMs = 60_000;

/** Whether somebody still has to find out, or to send it. */
export function isUnsettled({ state, outbox }: OrderRecord): boolean {
  return (
    state === 'prepared' ||
    state === 'sending' ||
    state === 'unknown' ||
    (state === 'not_sent' && outbox === true)
  );
}

/** What users see of a record. */
export function toJournaledOrder(record: OrderRecord, now: number): JournaledOrder {
  const { version, digest, partnerId, state, openedAt, unresolved, attempt, leaseUntil, outbox, ...shown } =
    record;
  const seen = stateAt(record, now);
  return { ...shown, state: seen, ...(seen === 'sending' && leaseUntil !== undefined && { leaseUntil }) };
}

/** An error about an order that the journal has. */
export function orderError(
  code: ConstructorParameters<typeof OrderError>[0],
  record: OrderRecord,
  { now, cause }: { now: number; cause?: unknown },
): OrderError {
  const state = stateAt(record, now);
  const message = `Order ${JSON.stringify(record.partner_order_id.slice(0, 100))} ${orderAdvice[code]}`;
  return new OrderError(code, message, {
    partner_order_id: record.partner_order_id,
    state,
    cause,
    ...(code === 'in_progress' && { retryAfterMs: Math.max(1, (record.leaseUntil ?? now) - now) }),
    ...(code === 'outcome_unknown' && { assumptions: ['partner-order-id'] }),
  });
}

/** What is wrong with an order, and what to do. */
export const orderAdvice = {
  different_order:
    'is in the journal with another payload or merchant: a new order needs an id of its own. Nothing was sent.',
  in_progress: 'is being sent by another call: wait until that has ended. Nothing was sent.',
  outcome_unknown:
    'was sent before, and nothing tells yet whether the service has it. Wait for an event of it (observe), or look at the service and call settle.',
  order_refused:
    'was refused by the service before. Nothing was sent: change it, or send it as it is with again: true.',
  order_abandoned: 'was given up by a person. Nothing was sent: a new order needs an id of its own.',
  order_not_found: 'is not in the journal: check the id, and that this is the journal it was created with.',
  already_settled: 'is settled in another way already, which is final: nothing was changed.',
} as const satisfies Record<ConstructorParameters<typeof OrderError>[0], string>;
