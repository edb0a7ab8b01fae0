import type { CallOptions, ReplyBody, ReplySchema } from '../client/call-options.ts';
import type { Reply } from '../client/reply.ts';
import type { EventSigner } from '../credentials/partner-credentials.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import type { UnrecognizedEvent } from '../events/parse-order-event.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { JournaledOrder } from './journaled-order.ts';
import type { OrderLoop, OrderLoopOptions } from './loop-options.ts';
import type { OrderDifference } from './order-differences.ts';
import type { OrderFinding } from './order-findings.ts';
import type { OrderState } from './order-state.ts';
import type { ReconcileOptions } from './reconcile.ts';

/**
 * Sends each order once and keeps track of its outcome. Made by `createOrderJournal`; its functions need no `this`.
 *
 * **The rule.** The intent to send an order is committed before the request, its result after it. An order whose request
 * has no known result is never sent again, unless `duplicateIds` says that the service allows it.
 *
 * **One order** is one `partner_order_id` of one partner. It is the same order if merchant and payload are the same,
 * whatever the order of its members: the record holds a digest of them, and nothing personal.
 *
 * **States**
 *
 * | from | by | to |
 * |---|---|---|
 * | none | `prepare` | `prepared` |
 * | none, `prepared`, `not-sent`, `waiting` | `create` | `sending` |
 * | `refused` | `create` with `again`, or of another payload with `replace` | `sending` |
 * | `sending` | the reply: one that accepts it, a refusal, never sent, anything else | `accepted`, `refused`, `not-sent`, `unknown` |
 * | `sending` | 401 or 403 while the keys that signed it are being replaced; 429 | `waiting` |
 * | `prepared`, `not-sent`, `waiting` | the loop of `start` | `sending` |
 * | `sending` | its lease expires | `unknown` |
 * | any but `accepted` | an event of the order | `accepted` |
 * | `unknown` | a late reply | as from `sending` |
 * | `unknown` | `create`, unless `duplicateIds` is `'unknown'` | `sending` |
 * | `unknown`, `prepared`, `waiting`, `not-sent` | `settle` | `accepted`, `abandoned` |
 * | `accepted` without its first event in time | `settle` | `accepted`, `abandoned` |
 * | `accepted` with an event that differs from it | `settle` of the event | `accepted` |
 *
 * - An event that comes before the reply settles the order. The reply is added; whatever it says, the order exists.
 * - An event of an order that is `prepared`, `refused`, `waiting`, `not-sent` or `abandoned` settles it too: the service has the
 *   order. That is a `contradiction`, kept with the order and reported as a process warning.
 * - A reply that comes after the lease has expired counts as if it came in time. If a person has given the order up by
 *   then, a 2xx makes it `accepted`, with a contradiction; if a person has accepted it, it stays so, and a refusal is
 *   the `error` of its `create` and kept as a contradiction.
 * - If the result cannot be written, `create` still resolves with it. This process keeps it (of up to 10,000
 *   orders) and writes it when it next reaches the store, also that an order was never sent whose intent may have been
 *   committed although the store failed. If the process ends before that, the order becomes `unknown`.
 * - When an order whose outcome was unknown is sent again (`duplicateIds`) and this request is refused or not sent, it
 *   stays `unknown`: the service may have taken the request before. Only a refusal as a duplicate says that it has.
 *
 * **What `create` does**, and the `error` with which it resolves if it makes no request
 *
 * | state | the same order | another payload or merchant |
 * |---|---|---|
 * | none | request | |
 * | `prepared`, `not-sent`, `waiting` | request | throws `different_order`; request with `replace` |
 * | `sending` | `in_progress` | throws `different_order` |
 * | `accepted` | no error | throws `different_order` |
 * | `refused` | `order_refused`; request with `again` | throws `different_order`; request with `replace` |
 * | `unknown` | `outcome_unknown`; request if `duplicateIds` allows it | throws `different_order` |
 * | `abandoned` | `order_abandoned` | throws `different_order` |
 */
export interface OrderJournal<Order = BuyOrder> {
  /**
   * Sends an order, unless the journal forbids it, and resolves with what is known of the order then: its state, and why
   * it is not accepted. Call it with the same order as often as you like.
   *
   * An order that it could not send (`not-sent`, `waiting`) stays open, and the loop of `start` sends it. So never give
   * the purchase another id: first `settle` the order as `abandoned`.
   *
   * @throws {ValidationError} as `createOrder` of the client: nothing was written or sent
   * @throws {ConfigurationError} as `createOrder` of the client: nothing was written or sent
   * @throws {KeyError} `keys_unavailable`: nothing was written or sent
   * @throws {OrderError} `different_order`: the id stands for another order, which may have any state
   * @throws {StoreError} the intent could not be written: nothing was sent. Call `create` again
   */
  create<Schema extends ReplySchema = undefined>(
    order: Order,
    options?: CreateOrderOptions<Schema>,
  ): Promise<CreatedOrder<ReplyBody<Schema>>>;
  /**
   * Starts a loop that does for the orders of the journal what no caller waits for: it sends what is `prepared`,
   * `not-sent` or `waiting`, and hands over to `onUnknown` what needs a person: what is `unknown` for longer than
   * `evidenceWithinMs`, and what could not be sent within `maxAgeMs`. Processes that share the store may all run it: each
   * order is sent by one at a time.
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
   * in your tables and the intent are written together or not at all. Then `create` sends it: call it after the
   * commit. If the process dies before that, the loop of `start` sends it. The payload is not kept, so both need it again.
   *
   * For one that was sent already, what is known of it is returned. Another payload under its id is `different_order`,
   * unless `replace` is set.
   *
   * @throws {OrderError} `different_order`, `order_refused`, `order_abandoned`
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
   * `buy.event.close` (contract: Events). One that differs is evidence too. With another address than the order's (`rejectMismatch`) it is rejected, so register `observe` with `onAny`: it runs before the
   * handlers of names, which then do not act on the event. An inbox makes a dead letter of it at the first attempt.
   *
   * @param context of the handler: its `key` says who signed the event. Anybody whose keys the receiver knows can sign an
   *   event about any order, so one of another partner than that of the order is no evidence. Without it you vouch that
   *   it is of the same partner. Its `digest` names the delivery
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
   * accepted orders whose first event has not come within `firstEventWithinMs`: each has `awaitingEventSince`. Costs as
   * much as there are orders unsettled or waiting for their first event, however many are settled.
   *
   * @throws {StoreError}
   */
  unsettled(options?: UnsettledOptions): Promise<JournaledOrder[]>;
  /**
   * The orders of the journal, in no particular order. It reads page by page, so any number of orders takes the same
   * memory. With `attention` it costs as much as there are such orders and unsettled ones.
   *
   * @throws {ConfigurationError} `invalid_option`, at once
   * @throws {StoreError} from the iteration
   */
  list(options?: ListOrdersOptions): AsyncIterable<JournaledOrder>;
  /**
   * Looks for what is wrong with the orders of a period: those that do not go on, whose events differ from them or from
   * each other, and, with a statement of the service, those that only one side has. It changes nothing: only an event, a
   * reply or a person settles an order. The same journal and statement give the same findings.
   *
   * It reads the journal page by page, once. A row of a statement takes about 50 bytes of memory, a credited order about
   * 150.
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
   * A person's decision about an order that `unsettled` lists, after looking at the service: it has the order, or it
   * does not and never will. The same decision again changes nothing.
   *
   * A decision about an order with `attention: 'mismatch'` is about the events that the person has seen, which `events`
   * names. `accepted`: they are right, and `inbox replay` hands them to their handlers. `rejected`: they are wrong, and no
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

/** Options of `create` of an order journal. */
export interface CreateOrderOptions<Schema extends ReplySchema = ReplySchema> extends CallOptions<Schema> {
  /**
   * Which of `merchantSecretKeys` signs. @default the only merchant, or the one that is named like the order's
   * `fiat_currency`; refused if that leaves a choice
   */
  merchant?: string | undefined;
  /**
   * Why the address of this order is right although `checkAddress` refuses it: the order then passes,
   * unless it looks like a secret. The journal keeps the reason, so write no personal data.
   */
  acceptAddress?: string | undefined;
  /** Sends an order again that was refused, as it is. @default false */
  again?: boolean | undefined;
  /**
   * Lets the id stand for another payload or merchant from now on, where the service has acted on no request of the order
   * (`prepared`, `not-sent`, `waiting`, `refused`). Set it after a person has changed the order, never always: what you
   * keep of the order has to change first. @default false
   */
  replace?: boolean | undefined;
}

/** What is known of an order after `create`. */
export interface CreatedOrder<Body = unknown> {
  /** The state of `order`. Only `accepted` means that the service has it; after `unknown` and `sending` it may. */
  readonly state: OrderState;
  /** The order, as the journal has it now. */
  readonly order: JournaledOrder;
  /** The reply that accepted it; absent if this call made no request, or lost its reply. */
  readonly reply?: Reply<Body> | undefined;
  /**
   * Why the order is not accepted: the `RequestError` of the request of this call, or an `OrderError` (see
   * `isRequestError` and `isOrderError`); what a client of your own has thrown. With `accepted` only if the service
   * refuses an order that a person has accepted.
   */
  readonly error?: Error | undefined;
}

/** Options of `prepare`. */
export interface PrepareOrderOptions {
  /** Which of `merchantSecretKeys` will sign, as for `create`, which needs the same. */
  merchant?: string | undefined;
  /** Why a refused address is right, as for `create`, which needs the same. */
  acceptAddress?: string | undefined;
  /** Lets the id stand for another order from now on, as for `create`. @default false */
  replace?: boolean | undefined;
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
  /** Only orders that need somebody: see `attention` of `JournaledOrder`. @default false */
  attention?: boolean | undefined;
}

/** Counts of the orders of a journal that are open. */
export interface JournalHealth {
  /** To be sent; no request was made. */
  readonly prepared: number;
  /** Being sent now. */
  readonly sending: number;
  /** Refused under keys that are being replaced, or because the service wants fewer requests. */
  readonly waiting: number;
  /** No request reached the service. */
  readonly 'not-sent': number;
  /** The service may have them: each is for an event or a person. */
  readonly unknown: number;
  /** All of the above. */
  readonly unsettled: number;
  /** Milliseconds since the oldest of them became unsettled; `null` if there is none. */
  readonly oldestAgeMs: number | null;
  /** Accepted orders whose first event has not come within `firstEventWithinMs`. */
  readonly withoutEvent: number;
  /** Orders with a differing event that is not decided yet. */
  readonly mismatches: number;
  /** Settled orders for which `onSettled` has not succeeded yet. */
  readonly unreported: number;
  /** Orders whose results the store has not taken: only this process knows them. */
  readonly unwritten: number;
  /**
   * Orders that the journal does not have, and whose first event this process has observed since it began. `reconcile`
   * names those of the last 30 days of all processes (`event_without_order`).
   */
  readonly eventsWithoutOrder: number;
}

/**
 * A verified event: that of a webhook handler, or what `onUnrecognized` gets, whose `body` counts.
 */
export type ObservedEvent =
  | UnrecognizedEvent
  | { readonly partner_order_id?: unknown; readonly platform_order_ref?: unknown };

/** The effect of an event on the journal. */
export interface Observation {
  /**
   * - `accepted`: it settled the order.
   * - `known`: the order was accepted before.
   * - `contradiction`: it settled the order, which the service was not thought to have.
   * - `unknown_order`: it names no order of this journal. Its id and the name of its first event are kept for 30 days, for
   *   `reconcile`.
   * - `other_partner`: it names an order of this journal, and another partner has signed it. Nothing has changed.
   */
  readonly result: 'accepted' | 'known' | 'contradiction' | 'unknown_order' | 'other_partner';
  /** What differs from the order, unless a person has accepted it. */
  readonly differences?: readonly OrderDifference[] | undefined;
  /** The order after the event. */
  readonly order?: JournaledOrder;
}
