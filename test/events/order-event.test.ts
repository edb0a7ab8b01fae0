import { describe, expect, expectTypeOf, it } from 'vitest';
import { orderEventNames } from '../../src/events/event-names.ts';
import type { OrderEvent } from '../../src/events/order-event.ts';
import { orderEvent } from '../../src/events/order-event.ts';
import { parseOrderEvent } from '../../src/events/parse-order-event.ts';
import { eventBodies } from '../support/bodies.ts';

/** What matters is what `tsc` makes of each branch; event-types.test.ts compares the rest with the schemas. */
function narrowed(event: OrderEvent): void {
  switch (event.event_name) {
    case 'event.buy.init':
      expectTypeOf(event.crypto_txn_hash).toEqualTypeOf<null>();
      expectTypeOf(event.exchange_rate).toEqualTypeOf<number>();
      break;
    case 'event.buy.received.fiat':
      expectTypeOf(event.crypto_payment_status).toEqualTypeOf<'STARTED'>();
      // @ts-expect-error only the close event has it
      void event.meta_data;
      break;
    case 'event.buy.received.fiat_kyc_error':
      expectTypeOf(event.kyc_error_type).toEqualTypeOf<
        'NO_KYC' | 'THIRD_PARTY_ERROR' | 'THIRD_PARTY_PAYMENT' | (string & {})
      >();
      break;
    case 'event.buy.third_party_error':
      expectTypeOf(event.exchange_rate).toEqualTypeOf<number | string | null | undefined>();
      break;
    case 'event.buy.credited.crypto':
      expectTypeOf(event.crypto_payment_status).toEqualTypeOf<'PAID' | 'Completed' | 'COMPLETED'>();
      break;
    case 'buy.event.close':
      expectTypeOf(event.meta_data.amount_refunded).toEqualTypeOf<string>();
      break;
    default:
      expectTypeOf(event).toBeNever();
  }
}

it.each(orderEventNames)('the type of an event is narrowed by its name: %s', (name) => {
  const parsed = parseOrderEvent(eventBodies[name]());
  if (parsed.kind !== 'known') throw new Error('The body is not an event.');
  expect(() => narrowed(parsed.event)).not.toThrow();
});

describe('the event schema', () => {
  it.each(orderEventNames)('accepts %s', (name) => {
    expect(orderEvent.parse(eventBodies[name]())).toEqual(eventBodies[name]());
  });

  it('refuses a name that is not published', () => {
    expect(orderEvent.safeParse({ event_name: 'event.sell.init' }).success).toBe(false);
  });

  it.each(orderEventNames)('does no harm with a __proto__ member: %s', (name) => {
    const text = JSON.stringify(eventBodies[name]()).replace('{', '{"__proto__":{"polluted":true},');
    const parsed = orderEvent.parse(JSON.parse(text));
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect('polluted' in parsed).toBe(false);
  });
});
