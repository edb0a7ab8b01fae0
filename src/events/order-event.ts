import * as z from 'zod';
import { makeEventSchemas } from './event-schemas.ts';

const schemas = makeEventSchemas(z.looseObject);

/** The order is initialised: both statuses `PENDING`, no hash yet. */
export const buyInitEvent = schemas.buyInitEvent;

/** The buyer's fiat is received: fiat `PAID`, crypto `STARTED`. */
export const buyFiatReceivedEvent = schemas.buyFiatReceivedEvent;

/** The fiat is received, and the buyer has not done KYC: `default_kyc_url` says where. */
export const buyNoKycEvent = schemas.buyNoKycEvent;

/** The fiat is received from an account whose name differs from the KYC name. */
export const buyThirdPartyPaymentEvent = schemas.buyThirdPartyPaymentEvent;

/** The fiat is received, but the buyer's KYC check failed; `kyc_error_type` says how. */
export const buyKycErrorEvent = schemas.buyKycErrorEvent;

/** Listed by name only; its body is not shown, so every common member is optional and everything is kept. */
export const buyThirdPartyErrorEvent = schemas.buyThirdPartyErrorEvent;

/** The crypto is credited: `crypto_txn_hash` is set. */
export const buyCreditedEvent = schemas.buyCreditedEvent;

/** The order is closed with a refund. Its `exchange_rate` is a string. */
export const buyCloseEvent = schemas.buyCloseEvent;

/**
 * Every published order event, discriminated by `event_name` (contract: Events). Unknown members are kept.
 *
 * For bodies from the network prefer `parseOrderEvent`, which also says what an authentic but unfamiliar body is.
 */
export const orderEvent = z.discriminatedUnion('event_name', [
  buyInitEvent,
  buyFiatReceivedEvent,
  buyKycErrorEvent,
  buyThirdPartyErrorEvent,
  buyCreditedEvent,
  buyCloseEvent,
]);

export type BuyInitEvent = z.output<typeof buyInitEvent>;
export type BuyFiatReceivedEvent = z.output<typeof buyFiatReceivedEvent>;
export type BuyNoKycEvent = z.output<typeof buyNoKycEvent>;
export type BuyThirdPartyPaymentEvent = z.output<typeof buyThirdPartyPaymentEvent>;
export type BuyKycErrorEvent = z.output<typeof buyKycErrorEvent>;
export type BuyThirdPartyErrorEvent = z.output<typeof buyThirdPartyErrorEvent>;
export type BuyCreditedEvent = z.output<typeof buyCreditedEvent>;
export type BuyCloseEvent = z.output<typeof buyCloseEvent>;

/** Any published order event. */
export type OrderEvent = z.output<typeof orderEvent>;
/** The name of a published order event. */
export type OrderEventName = OrderEvent['event_name'];
/** The event with this name. */
export type OrderEventOf<Name extends OrderEventName> = Extract<OrderEvent, { event_name: Name }>;
