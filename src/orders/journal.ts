import type { BuyOrder } from '../deployment/order-schema.ts';
import type { CallOptions, CallOptionsWithSchema } from '../http/call.ts';
import type { Reply } from '../http/reply.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { JournaledOrder } from './journaled-order.ts';
import type { ObservedEvent } from './observed-event.ts';

/**
 * Sees to it that an order is sent once and that its outcome becomes known. Made by `createOrderJournal`; its functions
 * need no `this`.
 *
 * **The rule.** That an order is about to be sent is committed before the request, its result after it. A request whose
 * result nobody knows is never followed by a second one, unless `duplicateIds` says that the service allows it.
 *
 * **One order** is one `partner_order_id` of one partner. It is the same order if merchant and payload are the same,
 * whatever the order of its members: the record holds a digest of them, and nothing personal.
 *
 * **States**
 *
 * | from | by | to |
 * |---|---|---|
 * | none | `prepare` | `prepared` |
 * | none, `prepared`, `not_sent` | `create` | `sending` |
 * | `refused` | `create` of a changed order, or with `again` | `sending` |
 * | `sending` | the reply: 2xx, a refusal, never sent, anything else | `accepted`, `refused`, `not_sent`, `unknown` |
 * | `sending` | its lease expires | `unknown` |
 * | any but `accepted` | an event of the order | `accepted` |
 * | `unknown` | a late reply | as from `sending` |
 * | `unknown` | `create`, unless `duplicateIds` is `'unknown'` | `sending` |
 * | `unknown`, `prepared`, `not_sent` after `prepare` | `settle` | `accepted`, `abandoned` |
 *
 * - An event that comes before the reply settles the order. The reply is added; whatever it says, the order exists, and
 *   `create` resolves.
 * - An event of an order that is `prepared`, `refused`, `not_sent` or `abandoned` settles it too: the service has the
 *   order. That is a `contradiction`, kept with the order and reported as a process warning.
 * - A reply that comes after the lease has expired counts as if it came in time. If a person has given the order up by
 *   then, a 2xx makes it `accepted`, with a contradiction; if a person has accepted it, it stays so, a refusal is thrown
 *   by its `create` and kept as a contradiction.
 * - If the result cannot be written, `create` returns or throws it all the same, and the order becomes `unknown`.
 * - When an order whose outcome was unknown is sent again (`duplicateIds`) and this request is refused or not sent, it
 *   stays `unknown`: the service may have taken the request before. Only a refusal as a duplicate says that it has.
 *
 * **What `create` does**, without a request unless the table says otherwise
 *
 * | state | the same order | another payload or merchant |
 * |---|---|---|
 * | none, `not_sent` | request | request |
 * | `prepared` | request | `different_order` |
 * | `sending` | `in_progress` | `different_order` |
 * | `accepted` | `replayed: true` | `different_order` |
 * | `refused` | `order_refused`; request with `again` | request |
 * | `unknown` | `outcome_unknown`; request if `duplicateIds` allows it | `different_order` |
 * | `abandoned` | `order_abandoned` | `different_order` |
 */
export interface OrderJournal<Order = BuyOrder> {
  /** With a `schema`, which checks and types the reply's body; otherwise as without one. */
  create<Body>(
    order: Order,
    options: CreateOrderOptions<Body> & CallOptionsWithSchema<Body>,
  ): Promise<CreatedOrder<Body>>;
  /**
   * Creates an order, or says what is known of it. Resolves only if the service has the order.
   *
   * @throws {ValidationError} and {@link ConfigurationError}, as `createOrder` of the client: nothing was sent
   * @throws {StoreError} the intent could not be written: nothing was sent
   * @throws {OrderError} nothing was sent, or (`outcome_unknown` with a `cause`) a request before this one may have acted
   * @throws {RequestError} of the request that was made now: `outcome` says whether the service can have acted
   */
  create(order: Order, options?: CreateOrderOptions): Promise<CreatedOrder>;
  /**
   * Writes down that an order is to be sent, and sends nothing. With the store of a transaction of your own, the order
   * in your tables and the intent are written together or not at all. Then `create` sends it: call it after the commit,
   * and for what `unsettled` still lists as `prepared` or `not_sent`. The payload is not kept, so `create` needs it again.
   *
   * A `prepared` order is replaced; for one that was sent already, what is known of it is returned.
   *
   * @throws {OrderError} `different_order`, `order_refused`, `order_abandoned`
   * @throws {ValidationError}, {@link ConfigurationError}, {@link StoreError}
   */
  prepare(order: Order, options?: PrepareOrderOptions): Promise<JournaledOrder>;
  /**
   * Takes a verified event as evidence that the service has its order. For `onAny` and `onUnrecognized` of the webhooks.
   *
   * @param context of the handler: an event of another partner is no evidence
   * @throws {StoreError} so that the delivery is tried again
   */
  observe(
    event: ObservedEvent,
    context?: { readonly key?: { readonly partnerId?: string | undefined } | undefined },
  ): Promise<Observation>;
  /** What is known of an order; `undefined` if the journal does not have it. @throws {StoreError} */
  get(partnerOrderId: string): Promise<JournaledOrder | undefined>;
  /**
   * The orders that are `prepared`, `sending` or `unknown`, and those that were prepared and are `not_sent`; the oldest
   * first. Costs as much as there are unsettled orders, however many are settled.
   *
   * @throws {StoreError}
   */
  unsettled(options?: UnsettledOptions): Promise<JournaledOrder[]>;
  /**
   * A person's decision about an order that `unsettled` lists, after looking at the service: it has the order, or it
   * does not and never will. The same decision again changes nothing.
   *
   * @param note why, 1 to 1,000 characters. It is kept: nothing personal
   * @throws {OrderError} `order_not_found`, `in_progress`, `already_settled`
   * @throws {StoreError}
   */
  settle(partnerOrderId: string, decision: 'accepted' | 'abandoned', note: string): Promise<JournaledOrder>;
}

export interface CreateOrderOptions<Body = unknown> extends CallOptions<Body> {
  /** Which of `merchantSecretKeys` signs; not needed with a single merchant. */
  merchant?: string | undefined;
  /** Sends an order again that was refused, as it is. @default false */
  again?: boolean | undefined;
}

/** The service has the order. */
export interface CreatedOrder<Body = unknown> {
  /** True if it was known before, and this call made no request. */
  readonly replayed: boolean;
  /** Absent if it was replayed, and if other evidence than the reply settled it: the reply was lost. */
  readonly reply: Reply<Body> | undefined;
  readonly order: JournaledOrder;
}

export interface PrepareOrderOptions {
  /** Which of `merchantSecretKeys` will sign; `create` needs the same. */
  merchant?: string | undefined;
  /** Writes the intent, e.g. `postgresStore` over a client in a transaction. @default the journal's store */
  store?: RecordStore | undefined;
}

export interface UnsettledOptions {
  /** Only those that have been unsettled for this long. @default 0 */
  olderThanMs?: number | undefined;
  /** Most orders returned. @default 1000 */
  limit?: number | undefined;
}

/** What an event meant to the journal. */
export interface Observation {
  /**
   * - `accepted`: it settled the order.
   * - `known`: the order was accepted before.
   * - `contradiction`: it settled the order, which nobody thought the service had.
   * - `unknown_order`: it names no order of this journal. Nothing is kept of it.
   */
  readonly result: 'accepted' | 'known' | 'contradiction' | 'unknown_order';
  readonly order?: JournaledOrder;
}
