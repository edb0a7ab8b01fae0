import type { OrderTimeline } from '../events/order-timeline.ts';
import type { OrderDifference } from './order-differences.ts';
import type { OrderState } from './order-state.ts';

/** An order as an `OrderJournal` knows it. Times are in milliseconds since 1970. */
export interface JournaledOrder {
  /** The order's id in your system. */
  readonly partner_order_id: string;
  /**
   * Grows with each change of the order in the journal. Of two writers of a state the one with the greater revision knows
   * more: `UPDATE … SET state = $2, revision = $3 WHERE id = $1 AND revision < $3`.
   */
  readonly revision: number;
  /** A lease that has expired counts: a `sending` order whose process died is `unknown` here. */
  readonly state: OrderState;
  /** As given to `create` or `prepare`. */
  readonly merchant?: string | undefined;
  /** Why its address is right although it is refused, as given to `create` or `prepare`. */
  readonly acceptAddress?: string | undefined;
  /**
   * How many requests were begun. What the client repeats by itself, after other keys of a ring for example, is not
   * counted (ledger: `old-keys-die`).
   */
  readonly attempts: number;
  /** When the journal first got it. */
  readonly createdAt: number;
  /** When its state last changed. */
  readonly changedAt: number;
  /** While `sending`: when it becomes `unknown`. */
  readonly leaseUntil?: number | undefined;
  /** While `waiting`, since the service wants fewer requests (429): when the loop of `start` sends it at the earliest. */
  readonly notBefore?: number | undefined;
  /**
   * What settled it: the `reply` to a request, a refusal as a `duplicate` (`duplicateIds`), an `event`, or a `person`.
   */
  readonly evidence?: 'reply' | 'duplicate' | 'event' | 'person' | undefined;
  /** HTTP status of the last reply. */
  readonly status?: number | undefined;
  /** `code` of the `RequestError` of the last request that failed. */
  readonly failure?: string | undefined;
  /** Since when an accepted order waits for its first event. */
  readonly awaitingEventSince?: number | undefined;
  /** The service's reference, from the first event that could be read. */
  readonly platform_order_ref?: string | undefined;
  /** The reason of the person who settled it. */
  readonly note?: string | undefined;
  /**
   * The service turned out to have the order although it was in this state before, or it refused an order that it has.
   */
  readonly contradiction?: 'prepared' | 'refused' | 'not-sent' | 'abandoned' | undefined;
  /** The members that events are compared with, if the payload has them as text; of the address a hash is kept. */
  readonly ordered: {
    /** The chain. */
    readonly chain?: string | undefined;
    /** The currency. */
    readonly fiat_currency?: string | undefined;
    /** The amount. */
    readonly fiat_amount?: string | undefined;
  };
  /** How far the order has come, from the events that `observe` did not reject. A hash stands for each address. */
  readonly timeline?: OrderTimeline | undefined;
  /** The events that `observe` has seen, up to 32: the first of each name, and each one that differs. */
  readonly events?: readonly JournaledEvent[] | undefined;
  /** `mismatch`: an event differs from the order, and waits for a decision (`settle`). */
  readonly attention?: 'mismatch' | undefined;
}

/** An event that the journal has seen of an order. Plain JSON. */
export interface JournaledEvent {
  /** Its `event_name`, up to 100 characters. */
  readonly name: string;
  /** When the journal first saw it, in milliseconds since 1970. */
  readonly at: number;
  /** `digest` of the handler's context: it names the delivery in an inbox. Without a context one of the event. */
  readonly digest: string;
  /** What differs from the order. */
  readonly differences?: readonly OrderDifference[] | undefined;
  /** A person has decided about it (`settle`). */
  readonly decision?:
    | {
        /** When, in milliseconds since 1970. */
        readonly at: number;
        /** Why. */
        readonly note: string;
        /** `accepted`: it passes from then on. `rejected`: no handler ever sees it. */
        readonly verdict: 'accepted' | 'rejected';
      }
    | undefined;
}
