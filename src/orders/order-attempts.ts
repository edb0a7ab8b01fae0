import { randomBytes, randomUUID } from 'node:crypto';
import type { AcceptedOrderReply } from '../client/accepted-order-reply.ts';
import type { CallOptions, ReplyBody, ReplySchema } from '../client/call-options.ts';
import type { PreparedOrder } from '../client/prepared-order.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import {
  isKeyError,
  isOrderError,
  isPartnerExchangeError,
  isRequestError,
  type OrderError,
  outcomeOf,
  type RequestError,
  ValidationError,
} from '../errors/errors.ts';
import { describeError } from '../internal/driver-error.ts';
import { warn } from '../internal/warn.ts';
import { toOrderedMembers } from './event-comparison.ts';
import type { JournalSettings, OrderSender } from './journal-options.ts';
import { isFilled } from './order-differences.ts';
import { orderError } from './order-errors.ts';
import { type OrderRecord, orderDigest, stateAt } from './order-record.ts';
import type { OrderStore } from './order-store.ts';
import {
  type AttemptLease,
  finishAttempt,
  type Intent,
  type OrderAttemptResult,
  withReport,
} from './transitions.ts';

/** An order that was checked, and what the journal will know of it. */
export interface CheckedOrder {
  readonly prepared: PreparedOrder;
  readonly intent: Intent;
}

export type Attempt<Body> =
  /** Nothing was sent: the service has it, or it is not due. */
  | { readonly kind: 'known'; readonly record: OrderRecord }
  /** Nothing was sent, since the journal forbids it. */
  | { readonly kind: 'denied'; readonly record: OrderRecord | undefined; readonly error: OrderError }
  | { readonly kind: 'sent'; readonly record: OrderRecord; readonly sent: Sent<Body> };

export interface AttemptOptions {
  /** Pure: the record with the attempt under way, or the unchanged record if nothing is to be sent. */
  readonly begin: (record: OrderRecord | undefined, lease: AttemptLease) => OrderRecord;
  readonly call?: CallOptions;
  /** Whether `onSettled` has to be called for the result. */
  readonly reports: boolean;
}

/** The only way in which a journal sends an order: intent, request, result. */
export class OrderAttempts<Order = BuyOrder> {
  readonly #settings: JournalSettings & { readonly exchange: OrderSender<Order> };
  readonly #records: OrderStore;

  constructor(settings: JournalSettings & { readonly exchange: OrderSender<Order> }, records: OrderStore) {
    this.#settings = settings;
    this.#records = records;
  }

  /** @throws {ValidationError | ConfigurationError | KeyError} before anything is written */
  async check(
    order: Order,
    { merchant, acceptAddress }: Pick<OrderRecord, 'merchant' | 'acceptAddress'>,
  ): Promise<CheckedOrder> {
    const { exchange, onSettled } = this.#settings;
    const prepared = await exchange.prepareOrder(order, { merchant, acceptAddress });
    const { payload, partnerId, partnerCode, rotation } = prepared;
    const { partner_order_id } = payload;
    if (!isFilled(partner_order_id)) {
      const message = 'must be a text: the journal and the events know an order by it';
      throw new ValidationError('create', [{ path: ['partner_order_id'], message }]);
    }
    const digest = orderDigest(payload, merchant);
    const owner = { partnerId, partnerCode, rotation, reports: onSettled && (true as const) };
    const ordered = toOrderedMembers(payload, randomBytes(16).toString('base64url'));
    return { prepared, intent: { partner_order_id, digest, merchant, acceptAddress, ordered, ...owner } };
  }

  /** @throws {StoreError} if the intent could not be written: nothing was sent */
  async attempt<Body>({ prepared, intent }: CheckedOrder, options: AttemptOptions): Promise<Attempt<Body>> {
    const { now, duplicateStatuses } = this.#settings;
    const attempt = randomUUID();
    const begun = await this.#begin(intent.partner_order_id, attempt, options);
    if (begun.kind === 'denied' || begun.record.attempt !== attempt) return begun;
    const { record } = begun;
    const { call = {}, reports } = options;
    const { leftMs = () => Number.POSITIVE_INFINITY } = call;
    // After its lease the order may have been given up, so it must not leave.
    const leaseLeftMs = () => (stateAt(record, now()) === 'sending' ? (record.leaseUntil ?? 0) - now() : 0);
    const limited = { ...call, leftMs: () => Math.min(leaseLeftMs(), leftMs()) };
    // Sound: the body is what the schema in `call` makes of the reply.
    const sent = (await sendOrder(prepared, limited, duplicateStatuses)) as Sent<Body>;
    const finished = await this.#finish(record, attempt, { result: sent.result, reports });
    return { kind: 'sent', record: finished, sent };
  }

  /** Why a request did not show that the service has the order; `undefined` if it has it. */
  failureOf(record: OrderRecord, sent: Sent<unknown>): unknown {
    if ('reply' in sent) return undefined;
    const isKnown = sent.result.outcome !== 'unknown';
    // A reply outweighs a person's decision; signed evidence outweighs a reply.
    if (record.state === 'accepted' && !(record.evidence === 'person' && isKnown)) return undefined;
    const details = { now: this.#settings.now(), cause: sent.error };
    // The service did not act on this request, but may have acted on an earlier one.
    if (isKnown && record.unresolved.length > 0) return orderError('outcome_unknown', record, details);
    if (record.state === 'waiting') {
      if (record.notBefore === undefined) return orderError('waiting_for_keys', record, details);
      return orderError('rate_limited', record, details);
    }
    // The client does not know that such a status is a refusal (`duplicateIds`).
    const isLeftOpen = record.state === 'refused' && outcomeOf(sent.error) === 'unknown';
    return isLeftOpen ? orderError('order_refused', record, details) : sent.error;
  }

  async #begin(
    id: string,
    attempt: string,
    { begin, reports }: AttemptOptions,
  ): Promise<Exclude<Attempt<never>, { kind: 'sent' }>> {
    const { leaseMs, now } = this.#settings;
    let seen: OrderRecord | undefined;
    try {
      const { after } = await this.#records.update(id, (record) => {
        seen = record;
        return begin(record, { attempt, leaseMs, now: now() });
      });
      return { kind: 'known', record: after };
    } catch (error) {
      if (isOrderError(error)) return { kind: 'denied', record: seen, error };
      // The store may hold the intent. Only this process knows that nothing was sent.
      this.#records.writeLater(id, { attempt, result: neverSent, reports });
      throw error;
    }
  }

  /** Returns the record with the result even if writing fails. */
  async #finish(
    begun: OrderRecord,
    attempt: string,
    { result, reports }: { readonly result: OrderAttemptResult; readonly reports: boolean },
  ): Promise<OrderRecord> {
    const { leaseMs, now } = this.#settings;
    const id = begun.partner_order_id;
    const finish = (record: OrderRecord) => finishAttempt(record, attempt, result, now());
    try {
      const { after } = await this.#records.update(id, (record) => {
        if (record === undefined || !reports) return record && finish(record);
        return withReport(record, finish(record), now() + leaseMs);
      });
      if (after !== undefined) return after;
    } catch (error) {
      this.#records.writeLater(id, { attempt, result, reports });
      warn(`The result of an order could not be written to the journal: ${describeError(error)}`);
    }
    return finish(begun);
  }
}

const neverSent: OrderAttemptResult = {
  outcome: 'not-sent',
  failure: 'store_failed',
  status: undefined,
};

type FailedResult = Exclude<OrderAttemptResult, { outcome: 'accepted' }>;

export type Sent<Body> =
  | {
      readonly result: Extract<OrderAttemptResult, { outcome: 'accepted' }>;
      readonly reply: AcceptedOrderReply<Body>;
    }
  | { readonly result: FailedResult; readonly error: unknown };

/** Never throws. */
export async function sendOrder<Schema extends ReplySchema>(
  prepared: PreparedOrder,
  call: CallOptions<Schema>,
  duplicateStatuses: readonly number[],
): Promise<Sent<ReplyBody<Schema>>> {
  try {
    const reply = await prepared.send(call);
    return { reply, result: { outcome: 'accepted', status: reply.status } };
  } catch (error) {
    if (isRequestError(error)) {
      const { code: failure, status } = error;
      return { error, result: { ...meaningOf(error, duplicateStatuses), failure, status } };
    }
    const failure = isPartnerExchangeError(error) ? error.code : 'other';
    return { error, result: { outcome: outcomeOf(error), failure, status: undefined } };
  }
}

/** What a failed request means for its order. */
function meaningOf(
  { outcome, code, status, cause, retryAfterMs = 0 }: RequestError,
  duplicateStatuses: readonly number[],
): Pick<FailedResult, 'outcome' | 'retryAfterMs'> {
  // The client cannot tell whether the service has the order (ledger: `order-conflict`).
  const isConflict = code === 'http_error' && (status === 409 || status === 423);
  const mayBeDuplicate = outcome === 'refused' || isConflict;
  if (mayBeDuplicate && status !== undefined && duplicateStatuses.includes(status))
    return { outcome: 'duplicate' };
  if (outcome !== 'refused') return { outcome };
  // The service wants fewer requests, and refused this one for that alone (ledger: `order-rate-limit`). Time may have
  // run out before the client could send it again.
  if (status === 429) return { outcome: 'waiting', retryAfterMs };
  // The service refused keys that may be old (ledger: `old-keys-die`): after it has read them again, the client says why
  // as the cause. 403 may also be about the whitelist: where the keys are the newest, there is no such cause.
  if ((status === 401 || status === 403) && isKeyError(cause)) return { outcome: 'waiting' };
  return { outcome };
}
