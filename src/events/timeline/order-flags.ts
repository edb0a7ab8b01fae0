import type { OrderEventName } from '../order-event.ts';
import { type OrderFactName, type OrderFacts, orderFactNames } from './order-facts.ts';

/**
 * Something about an order that a person should look at.
 *
 * - `credited_and_closed`: crypto was credited and fiat refunded. One of them should not have happened.
 * - `credited_and_held`: a KYC or third-party error and a credit. Events carry no time, so a hold that was lifted and
 *   an error after the credit look the same; this flag does not decide which it was.
 * - `changed`: two events give the order different values of one member.
 */
export type OrderFlag =
  | { readonly code: 'credited_and_closed' }
  | { readonly code: 'credited_and_held' }
  | {
      readonly code: 'changed';
      readonly member: Exclude<OrderFactName, 'kyc_error_type'>;
      /** The distinct values, sorted. */
      readonly values: readonly (string | number)[];
    };

/** The flags that the second timeline has and the first does not: those that one event has raised. */
export function raisedFlags(
  before: { readonly flags: readonly OrderFlag[] },
  after: { readonly flags: readonly OrderFlag[] },
): readonly OrderFlag[] {
  const known = new Set(before.flags.map(identityOf));
  return after.flags.filter((flag) => !known.has(identityOf(flag)));
}

/** All flags, always in the same order. */
export function findFlags(seen: readonly OrderEventName[], facts: OrderFacts): OrderFlag[] {
  const credited = seen.includes('event.buy.credited.crypto');
  const held =
    seen.includes('event.buy.received.fiat_kyc_error') || seen.includes('event.buy.third_party_error');
  const flags: OrderFlag[] = [];
  if (credited && seen.includes('buy.event.close')) flags.push({ code: 'credited_and_closed' });
  if (credited && held) flags.push({ code: 'credited_and_held' });
  for (const member of orderFactNames) {
    const values = facts[member] ?? [];
    // An order may be held for several reasons, one after the other.
    if (values.length > 1 && member !== 'kyc_error_type') flags.push({ code: 'changed', member, values });
  }
  return flags;
}

function identityOf(flag: OrderFlag): string {
  return flag.code === 'changed' ? JSON.stringify([flag.member, flag.values]) : flag.code;
}
