import { describe, expect, expectTypeOf, it } from 'vitest';
import { orderEventNames } from '../../src/events/event-names.ts';
import type { OrderEvent, OrderEventName } from '../../src/events/order-event.ts';
import { orderEvent } from '../../src/events/order-event.ts';
import { parseOrderEvent } from '../../src/events/parse-order-event.ts';
import { eventBodies } from '../support/bodies.ts';

/** What matters is what `tsc` makes of each branch. */
function narrowed(event: OrderEvent): void {
  switch (event.event_name) {
    case 'event.buy.init':
      expectTypeOf(event.crypto_txn_hash).toEqualTypeOf<null>();
      expectTypeOf(event.fiat_payment_status).toEqualTypeOf<'PENDING'>();
      expectTypeOf(event.crypto_payment_status).toEqualTypeOf<'PENDING'>();
      expectTypeOf(event.exchange_rate).toEqualTypeOf<number>();
      break;
    case 'event.buy.received.fiat':
      expectTypeOf(event.fiat_payment_status).toEqualTypeOf<'PAID'>();
      expectTypeOf(event.crypto_payment_status).toEqualTypeOf<'STARTED'>();
      expectTypeOf(event.crypto_txn_hash).toEqualTypeOf<string | null>();
      // @ts-expect-error only the close event has it
      void event.meta_data;
      break;
    case 'event.buy.received.fiat_kyc_error':
      expectTypeOf(event.created_at).toEqualTypeOf<string>();
      expectTypeOf(event.sender_name).toEqualTypeOf<string>();
      expectTypeOf(event.message).toEqualTypeOf<string>();
      expectTypeOf(event.default_kyc_url).toEqualTypeOf<string | null>();
      expectTypeOf(event.kyc_error_type).toEqualTypeOf<
        'NO_KYC' | 'THIRD_PARTY_ERROR' | 'THIRD_PARTY_PAYMENT' | (string & {})
      >();
      expectTypeOf(event.fiat_payment_status).toEqualTypeOf<'PAID' | (string & {})>();
      break;
    case 'event.buy.third_party_error':
      expectTypeOf(event.partner_order_id).toEqualTypeOf<string | null | undefined>();
      expectTypeOf(event.exchange_rate).toEqualTypeOf<number | string | null | undefined>();
      break;
    case 'event.buy.credited.crypto':
      expectTypeOf(event.crypto_txn_hash).toEqualTypeOf<string>();
      expectTypeOf(event.fiat_payment_status).toEqualTypeOf<'PAID'>();
      expectTypeOf(event.crypto_payment_status).toEqualTypeOf<'PAID' | 'Completed' | 'COMPLETED'>();
      break;
    case 'buy.event.close':
      expectTypeOf(event.exchange_rate).toEqualTypeOf<string>();
      expectTypeOf(event.fiat_payment_status).toEqualTypeOf<string>();
      expectTypeOf(event.meta_data.status).toEqualTypeOf<'refunded' | (string & {})>();
      expectTypeOf(event.meta_data.message).toEqualTypeOf<string>();
      expectTypeOf(event.meta_data.refund_account).toEqualTypeOf<string>();
      expectTypeOf(event.meta_data.amount_refunded).toEqualTypeOf<string>();
      expectTypeOf(event.meta_data.fee).toEqualTypeOf<number>();
      break;
    default:
      expectTypeOf(event).toBeNever();
  }
}

describe('the type of an event', () => {
  it.each(orderEventNames)('is narrowed by its name: %s', (name) => {
    const parsed = parseOrderEvent(eventBodies[name]());
    if (parsed.kind !== 'known') throw new Error('The body is not an event.');
    expect(() => narrowed(parsed.event)).not.toThrow();
  });

  it('has the six published names', () => {
    expectTypeOf<OrderEventName>().toEqualTypeOf<
      | 'event.buy.init'
      | 'event.buy.received.fiat'
      | 'event.buy.received.fiat_kyc_error'
      | 'event.buy.third_party_error'
      | 'event.buy.credited.crypto'
      | 'buy.event.close'
    >();
  });
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
