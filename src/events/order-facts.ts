import type { OrderEvent } from './order-event.ts';
import { isThirdPartyKycError } from './status.ts';

/** The members that stay the same for the life of an order, or are set once. */
export const orderFactNames = [
  'platform_order_ref',
  'fiat_amount_to_pay',
  'crypto_amount_to_receive',
  'exchange_rate',
  'pair',
  'fiat_currency',
  'buyer_crypto_address',
  'chain',
  'crypto_txn_hash',
  'amount_refunded',
  'fee',
  'kyc_error_type',
] as const;
/** @inline */
export type OrderFactName = (typeof orderFactNames)[number];

/**
 * Every distinct reported value, sorted. Numbers as parsed: for money read the exact literal of the event.
 * @useDeclaredType
 */
export type OrderFacts = { readonly [Name in OrderFactName]?: readonly (string | number)[] };

/** Most distinct values kept of one member: the first in sorted order. */
const maxValues = 8;

/** The facts plus those of one more event; the same object if nothing is new. */
export function withFactsOf(facts: OrderFacts, event: OrderEvent): OrderFacts {
  const reported = factsOf(event);
  const merged: Partial<Record<OrderFactName, readonly (string | number)[]>> = {};
  let changed = false;
  // Always in the same order, so that equal facts have equal JSON.
  for (const name of orderFactNames) {
    const before = facts[name];
    const after = withValue(before, reported[name]);
    if (after !== undefined) merged[name] = after;
    changed ||= after !== before;
  }
  return changed ? merged : facts;
}

/** Without the facts of a newer version. */
export function knownFacts(stored: OrderFacts): OrderFacts {
  return Object.fromEntries(
    orderFactNames.flatMap((name) => (stored[name] === undefined ? [] : [[name, stored[name]]])),
  );
}

type Value = string | number | null | undefined;

function factsOf(event: OrderEvent): { readonly [Name in OrderFactName]?: Value } {
  if (event.event_name === 'buy.event.close') {
    const { amount_refunded, fee } = event.meta_data;
    // Every published close event has the same pair and chain, not those of the order (contract: Events).
    const { pair: _pair, chain: _chain, ...order } = orderFactsOf(event);
    return { ...order, amount_refunded, fee };
  }
  if (event.event_name === 'event.buy.received.fiat_kyc_error') {
    const kyc_error_type = isThirdPartyKycError(event.kyc_error_type)
      ? 'THIRD_PARTY_PAYMENT'
      : event.kyc_error_type;
    return { ...orderFactsOf(event), kyc_error_type };
  }
  return orderFactsOf(event);
}

function orderFactsOf(event: OrderEvent) {
  return {
    platform_order_ref: event.platform_order_ref,
    fiat_amount_to_pay: event.fiat_amount_to_pay,
    crypto_amount_to_receive: event.crypto_amount_to_receive,
    exchange_rate: numberIfOne(event.exchange_rate),
    pair: event.pair,
    fiat_currency: event.fiat_currency,
    buyer_crypto_address: event.buyer_crypto_address,
    chain: event.chain,
    crypto_txn_hash: event.crypto_txn_hash,
  };
}

/** The close event writes the rate as text. */
function numberIfOne(value: Value): Value {
  if (typeof value !== 'string' || value.trim() === '') return value;
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}

function withValue(
  values: readonly (string | number)[] | undefined,
  value: Value,
): readonly (string | number)[] | undefined {
  if (value === undefined || value === null) return values;
  // JSON has only one zero.
  const known = value === 0 ? 0 : value;
  if (values === undefined) return [known];
  if (values.includes(known)) return values;
  const merged = [...values, known].sort(compare).slice(0, maxValues);
  return merged.includes(known) ? merged : values;
}

/** Numbers before text, each in its own order. */
function compare(a: string | number, b: string | number): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : 1;
}
