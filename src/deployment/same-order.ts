import type { JsonObject } from '../internal/json.ts';

/** What an order journal knows of an order: `sameOrder` of a deployment compares an event with it. */
export interface KnownOrder {
  /** The order's id in your system. */
  readonly partner_order_id: string;
  /** The `chain` that was ordered; absent if the payload has no such text. */
  readonly chain?: string | undefined;
  /** The `fiat_currency` that was ordered; absent as above. */
  readonly fiat_currency?: string | undefined;
  /** The `fiat_amount` that was ordered; absent as above. */
  readonly fiat_amount?: string | undefined;
  /** Whether this is the address that was ordered, of which the journal keeps a hash. EVM addresses may differ in case. */
  isAddress(address: string): boolean;
}

/**
 * Decides whether an event fits its order: `true` that it does, whatever differs; `false` that it is about another order,
 * as with another address; `undefined` leaves it to the usual comparison.
 */
export type SameOrder = (order: KnownOrder, event: JsonObject) => boolean | undefined;
