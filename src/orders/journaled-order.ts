import type { OrderState } from '../errors/order-error.ts';
import type { JsonValue } from '../json/json-value.ts';

/** An order as an {@link OrderJournal} knows it. Times are in milliseconds since 1970. */
export interface JournaledOrder {
  readonly partner_order_id: string;
  /** A lease that has expired counts: a `sending` order whose process died is `unknown` here. */
  readonly state: OrderState;
  /** As given to `create` or `prepare`. */
  readonly merchant?: string | undefined;
  /**
   * How many requests were begun. The client repeats one only if it was not sent, or once with other keys of a ring
   * after 401 or 403 (ledger: `old-keys-die`); that is not counted.
   */
  readonly attempts: number;
  readonly createdAt: number;
  readonly changedAt: number;
  /** While `sending`: when it becomes `unknown`. */
  readonly leaseUntil?: number | undefined;
  /**
   * What settled it: the `reply` to a request, a refusal as a `duplicate` (with `duplicateIds: 'refused'`), an `event`, or
   * a `person`.
   */
  readonly evidence?: 'reply' | 'duplicate' | 'event' | 'person' | undefined;
  /** HTTP status of the last reply. */
  readonly status?: number | undefined;
  /** `code` of the {@link RequestError} of the last request that failed. */
  readonly failure?: string | undefined;
  /** What `keepReply` kept of the reply. */
  readonly kept?: JsonValue | undefined;
  /** The service's reference, from the event that settled it. */
  readonly platform_order_ref?: string | undefined;
  /** Of the person who settled it. */
  readonly note?: string | undefined;
  /**
   * The service turned out to have the order although it was in this state before, or it refused an order that it has.
   * Look into it: something else uses this id, or a refusal was none.
   */
  readonly contradiction?: 'prepared' | 'refused' | 'not_sent' | 'abandoned' | undefined;
}
