import type { makeEventSchemas } from './event-schemas.ts';
import type { OrderEventName } from './order-event.ts';

/** The published events, in the order of a lifecycle, and the name of the schema of each. Loads no zod. */
export const eventSchemaNames = {
  'event.buy.init': 'buyInitEvent',
  'event.buy.received.fiat': 'buyFiatReceivedEvent',
  'event.buy.received.fiat_kyc_error': 'buyKycErrorEvent',
  'event.buy.third_party_error': 'buyThirdPartyErrorEvent',
  'event.buy.credited.crypto': 'buyCreditedEvent',
  'buy.event.close': 'buyCloseEvent',
} as const satisfies Record<OrderEventName, keyof ReturnType<typeof makeEventSchemas>>;

/** The names of the published events, in the order of a lifecycle. */
// Sound: the keys of the table are the names.
export const orderEventNames = Object.freeze(
  Object.keys(eventSchemaNames),
) as readonly (keyof typeof eventSchemaNames)[];
