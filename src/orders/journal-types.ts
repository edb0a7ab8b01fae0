import type { AcceptedOrderReply } from '../client/accepted-order-reply.ts';
import type { CallOptions, ReplyBody, ReplySchema } from '../client/call-options.ts';
import type { OrderCallOptions } from '../client/prepared-order.ts';
import type { EventSigner } from '../credentials/partner-credentials.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { JournaledOrder } from './journaled-order.ts';
import type { OrderLoop, OrderLoopOptions } from './loop-options.ts';
import type { ObservedEvent } from './named-order.ts';
import type { OrderDifference } from './order-differences.ts';
import type { OrderFinding } from './order-findings.ts';
import type { OrderState } from './order-state.ts';
import type { ReconcileOptions } from './reconcile.ts';

/**
 * Sends each order once and keeps track of its outcome. Made by `createOrderJournal`; its functions need no `this`.
 *
 * The intent to send an order is committed before the request, its result after it. An order whose request has no known
 * result is never sent again, unless `duplicateIds` says that the service allows it. One order is one `partner_order_id`
 * of one partner, with one merchant and payload: the record holds a digest of them, and nothing personal.
 *
 * | state | by | becomes |
 * |---|---|---|
 * | none | `prepare` | `prepared` |
 * | none, `prepared`, `not-sent`, `waiting` | `create`, the loop of `start` | `sending` |
 * | `refused` | `create` with `again`, or of another payload with `replace` | `sending` |
 * | `sending` | the reply: one that accepts it, a refusal, never sent, anything else | `accepted`, `refused`, `not-sent`, `unknown` |
 * | `sending` | 401 or 403 while the keys that signed it are being replaced; 429 | `waiting` |
 * | `sending` | its lease expires | `unknown` |
 * | any but `accepted` | an event of the order | `accepted` |
 * | `unknown` | a late reply | as from `sending` |
 * | `unknown` | `create`, unless `duplicateIds` is `'unknown'` | `sending` |
 * | any but `sending`, `refused` | `settle`: an accepted order only while its first event is late | `accepted`, `abandoned` |
 *
 * An event of an order that is `prepared`, `refused`, `waiting`, `not-sent` or `abandoned`, and a refusal of one that an
 * event or a person has settled as `accepted`, is a `contradiction`: kept with the order, and a process warning.
 */
export interface OrderJournal<Order = BuyOrder> {
  /**
   * Sends an order, unless the journal forbids it, and resolves with what is known of the order then: its state, and why
   * it is not accepted. Call it with the same order as often as you like.
   *
   * An order that it could not send (`not-sent`, `waiting`) stays open, and the loop of `start` sends it. So never give
   * the purchase another id: first `settle` the order as `abandoned`. After an error nothing was sent.
   *
   * @throws {ValidationError} as `createOrder` of the client
   * @throws {ConfigurationError} as `createOrder` of the client
   * @throws {KeyError} `keys_unavailable`
   * @throws {OrderError} `different_order`: the id stands for another order, which may have any state
   * @throws {StoreError} the intent could not be written. Call `create` again
   */
  create<Schema extends ReplySchema = undefined>(
    order: Order,
    options?: CreateOrderOptions<Schema>,
  ): Promise<CreatedOrder<ReplyBody<Schema>>>;
  /**
   * Starts a loop that does for the orders of the journal what no caller waits for: it sends what is `prepared`,
   * `not-sent` or `waiting`, and hands over to `onUnknown` what needs a person. Processes that share the store may all
   * run it: each order is sent by one at a time.
   *
   * @throws {ConfigurationError} `invalid_option`; also on Workers, where no process stays
   * @example
   * ```ts
   * const loop = journal.start({ load: ({ partner_order_id }) => readOrder(partner_order_id), onUnknown: alertSomebody });
   * // Before the process ends:
   * await loop.stop();
   * ```
   */
  start(options: OrderLoopOptions<Order>): OrderLoop;
  /**
   * Writes down that an order is to be sent, and sends nothing. With the store of a transaction of your own, the order
   * in your tables and the intent are one atomic write. Then `create` sends it: call it after the
   * commit. If the process dies before that, the loop of `start` sends it. The payload is not kept, so both need it again.
   *
   * For one that was sent already, what is known of it is returned.
   *
   * @throws {OrderError} `different_order` (unless `replace` is set), `order_refused`, `order_abandoned`
   * @throws {ValidationError} as `create`
   * @throws {ConfigurationError} as `create`
   * @throws {StoreError} the intent could not be written
   */
  prepare(order: Order, options?: PrepareOrderOptions): Promise<JournaledOrder>;
  /**
   * Takes a verified event as evidence that the service has its order. For `onAny` and `onUnrecognized` of the webhooks.
   * Evidence is not handling: once an unrecognized event is written down as such, it is thrown as `event_unrecognized`,
   * so that an inbox keeps it as a dead letter, and a receiver without one answers 500.
   *
   * The event is compared with the order: chain and currency in any spelling, the amount by its value, and no chain of
   * `buy.event.close` (contract: Events). One with another address than the order's is rejected (`rejectMismatch`): after
   * `onAny` no handler acts on it, and an inbox makes a dead letter of it at the first attempt.
   *
   * @param context of the handler. Its `key` says who signed the event: one of another partner than that of the order is
   *   no evidence. Without it you vouch that it is of the same partner. Its `digest` names the delivery
   * @throws {StoreError} so that the delivery is tried again
   * @throws {InboxError} `event_unrecognized` for every unrecognized event, whatever order it is of
   * @throws {OrderError} `order_mismatch` for a rejected event, unless a person accepts it (`settle`)
   */
  observe(
    event: ObservedEvent,
    context?: { readonly key?: EventSigner | undefined; readonly digest?: string | undefined },
  ): Promise<Observation>;
  /** The order as the journal has it; `undefined` if it does not. @throws {StoreError} */
  get(partnerOrderId: string): Promise<JournaledOrder | undefined>;
  /**
   * The orders that are `prepared`, `sending`, `waiting`, `not-sent` or `unknown`, the oldest first. After them the
   * accepted orders whose first event has not come within `firstEventWithinMs`: each has `awaitingEventSince`. Settled
   * orders cost nothing, however many there are.
   *
   * @throws {StoreError}
   */
  unsettled(options?: UnsettledOptions): Promise<JournaledOrder[]>;
  /**
   * The orders of the journal, in no particular order, read page by page.
   *
   * @throws {ConfigurationError} `invalid_option`, at once
   * @throws {StoreError} from the iteration
   */
  list(options?: ListOrdersOptions): AsyncIterable<JournaledOrder>;
  /**
   * Finds the orders of a period that do not go on, whose events differ from them or from each other, and, with a
   * statement of the service, those that only one side has. It changes nothing, and the same journal and statement give
   * the same findings. It reads the journal once, page by page; a row of a statement takes about 50 bytes of memory, a
   * credited order about 150.
   *
   * @throws {ConfigurationError} `invalid_option`, at once
   * @throws {StoreError} from the iteration; also what the statement throws
   * @example
   * ```ts
   * for await (const finding of journal.reconcile({ since: Date.now() - 7 * 86_400_000 })) console.log(finding);
   * ```
   */
  reconcile(options: ReconcileOptions): AsyncIterable<OrderFinding>;
  /**
   * Counts of what is open, as plain JSON, for readiness and metrics. It costs as much as `unsettled`, less the orders.
   *
   * @throws {StoreError} so that a probe sees that the store does not answer
   */
  health(): Promise<JournalHealth>;
  /**
   * Writes down a person's decision about an order that `unsettled` lists, after looking at the service: it has the order,
   * or it does not and never will. The same decision again changes nothing.
   *
   * A decision about an order with `attention` is about the events that the person has seen, which `events` names.
   * `accepted`: they are right, and `inbox replay` hands them to their handlers. `rejected`: they are wrong, and no
   * handler ever sees them. Either way the order keeps its state. Another event that differs stays in sight.
   *
   * @param note why, 1 to 1,000 characters. It is kept: nothing personal
   * @throws {ConfigurationError} `invalid_option`: `rejected` without `events`, `abandoned` with them
   * @throws {OrderError} `order_not_found`, `in_progress`, `already_settled`; `undecided_events` without `events` while
   *   one is undecided; `event_not_found`
   * @throws {StoreError}
   */
  settle(
    partnerOrderId: string,
    decision: 'accepted' | 'abandoned' | 'rejected',
    note: string,
    options?: SettleOptions,
  ): Promise<JournaledOrder>;
}

/** Options of `settle`. */
export interface SettleOptions {
  /** The digests of the differing events that the decision is about: see `events` of the order. */
  events?: readonly string[] | undefined;
}

interface IntentOptions extends Pick<OrderCallOptions, 'merchant' | 'acceptAddress'> {
  /**
   * Lets the id stand for another payload or merchant from now on, where the service has acted on no request of the order
   * (`prepared`, `not-sent`, `waiting`, `refused`). Set it after a person has changed the order, never always: what you
   * keep of the order has to change first. @default false
   */
  replace?: boolean | undefined;
}

/** Options of `create` of an order journal. */
export interface CreateOrderOptions<Schema extends ReplySchema = ReplySchema>
  extends IntentOptions,
    CallOptions<Schema> {
  /** Sends an order again that was refused, as it is. @default false */
  again?: boolean | undefined;
}

/** What is known of an order after `create`. */
export interface CreatedOrder<Body = unknown> {
  /** The state of `order`. Only `accepted` means that the service has it; after `unknown` and `sending` it may. */
  readonly state: OrderState;
  /** The order, as the journal has it now. */
  readonly order: JournaledOrder;
  /** The reply that accepted it, and says where to pay; absent if this call made no request, or lost its reply. */
  readonly reply?: AcceptedOrderReply<Body> | undefined;
  /**
   * Why the order is not accepted: the `RequestError` of the request of this call, or an `OrderError` (see
   * `isRequestError` and `isOrderError`); what a client of your own has thrown. With `accepted` only if the service
   * refuses an order that a person has accepted.
   */
  readonly error?: Error | undefined;
}

/** Options of `prepare`; `create` needs the same `merchant` and `acceptAddress`. */
export interface PrepareOrderOptions extends IntentOptions {
  /** Writes the intent, e.g. `postgresStore` over a client in a transaction. @default the journal's store */
  store?: RecordStore | undefined;
}

/** Options of `unsettled`. */
export interface UnsettledOptions {
  /** Only those that have been unsettled for this long. @default 0 */
  olderThanMs?: number | undefined;
  /** Most orders returned. @default 1000 */
  limit?: number | undefined;
}

/** Options of `list`. */
export interface ListOrdersOptions {
  /** Only orders that need somebody: see `attention` of `JournaledOrder`. They are found without the others. @default false */
  attention?: boolean | undefined;
}

/** Counts of the orders of a journal that are open: by their states, and by what they need. */
export interface JournalHealth
  extends Readonly<Record<'prepared' | 'sending' | 'waiting' | 'not-sent' | 'unknown', number>> {
  /** The sum of those states. */
  readonly unsettled: number;
  /** Milliseconds since the oldest of them became unsettled; `null` without any. */
  readonly oldestAgeMs: number | null;
  /** Accepted orders whose first event has not come within `firstEventWithinMs`. */
  readonly withoutEvent: number;
  /** Orders with a differing event that is not decided yet. */
  readonly mismatches: number;
  /** Settled orders for which `onSettled` has not succeeded yet. */
  readonly unreported: number;
  /** Orders whose results the store has not taken: only this process knows them. */
  readonly unwritten: number;
}

/** The effect of an event on the journal. */
export interface Observation {
  /**
   * - `accepted`: it settled the order.
   * - `known`: the order was accepted before.
   * - `contradiction`: it settled the order, which the service was not thought to have.
   * - `unknown_order`: it names no order of this journal, and nothing has changed. See `refusedEvent`.
   * - `other_partner`: it names an order of this journal, and another partner has signed it. Nothing has changed.
   */
  readonly result: 'accepted' | 'known' | 'contradiction' | 'unknown_order' | 'other_partner';
  /** What differs from the order, unless a person has accepted it. */
  readonly differences?: readonly OrderDifference[] | undefined;
  /** The order after the event. */
  readonly order?: JournaledOrder;
}
