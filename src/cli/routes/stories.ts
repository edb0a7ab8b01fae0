import type { OrderEventName } from '../../events/order-event.ts';

/**
 * Every published event, with those that an order usually posts until then. Typed against the events, not read off them:
 * that would load their schemas for `--help`.
 */
export const stories = {
  'event.buy.init': ['event.buy.init'],
  'event.buy.received.fiat': ['event.buy.init', 'event.buy.received.fiat'],
  'event.buy.received.fiat_kyc_error': ['event.buy.init', 'event.buy.received.fiat_kyc_error'],
  'event.buy.third_party_error': ['event.buy.init', 'event.buy.third_party_error'],
  'event.buy.credited.crypto': ['event.buy.init', 'event.buy.received.fiat', 'event.buy.credited.crypto'],
  'buy.event.close': ['event.buy.init', 'event.buy.received.fiat', 'buy.event.close'],
} as const satisfies Record<OrderEventName, readonly OrderEventName[]>;

// Sound: the keys of the table above.
export const eventNames = Object.keys(stories) as (keyof typeof stories)[];
