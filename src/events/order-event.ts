import * as z from 'zod';
import { commonFields, optionalFields, settledCryptoStatuses, thirdPartyKycErrors } from './fields.ts';

const fiatReceived = {
  ...commonFields,
  exchange_rate: z.number(),
  fiat_payment_status: z.literal('PAID'),
  crypto_payment_status: z.literal('STARTED'),
};

const kycError = {
  ...fiatReceived,
  event_name: z.literal('event.buy.received.fiat_kyc_error'),
  /** ISO 8601. */
  created_at: z.string(),
  /** Name of the payer on the fiat payment. */
  sender_name: z.string(),
  message: z.string(),
};

/** The order is initialised: both statuses `PENDING`, no hash yet. */
export const buyInitEvent = z.looseObject({
  ...commonFields,
  event_name: z.literal('event.buy.init'),
  exchange_rate: z.number(),
  fiat_payment_status: z.literal('PENDING'),
  crypto_payment_status: z.literal('PENDING'),
  crypto_txn_hash: z.null(),
});

/** The buyer's fiat is received: fiat `PAID`, crypto `STARTED`. */
export const buyFiatReceivedEvent = z.looseObject({
  ...fiatReceived,
  event_name: z.literal('event.buy.received.fiat'),
});

/** The fiat is received, and the buyer has not done KYC: `default_kyc_url` says where. */
export const buyNoKycEvent = z.looseObject({
  ...kycError,
  kyc_error_type: z.literal('NO_KYC'),
  default_kyc_url: z.string().min(1),
});

/** The fiat is received from an account whose name differs from the KYC name. */
export const buyThirdPartyPaymentEvent = z.looseObject({
  ...kycError,
  kyc_error_type: z.enum(thirdPartyKycErrors),
  default_kyc_url: z.null(),
});

/** The fiat is received, but the buyer's KYC check failed; `kyc_error_type` says how. */
export const buyKycErrorEvent = z.discriminatedUnion('kyc_error_type', [
  buyNoKycEvent,
  buyThirdPartyPaymentEvent,
]);

/** Listed by name only; its body is not shown, so every common member is optional and everything is kept. */
export const buyThirdPartyErrorEvent = z.looseObject({
  ...optionalFields,
  event_name: z.literal('event.buy.third_party_error'),
});

/** The crypto is credited: `crypto_txn_hash` is set. */
export const buyCreditedEvent = z.looseObject({
  ...commonFields,
  event_name: z.literal('event.buy.credited.crypto'),
  exchange_rate: z.number(),
  fiat_payment_status: z.literal('PAID'),
  crypto_payment_status: z.enum(settledCryptoStatuses),
  crypto_txn_hash: z.string().min(1),
});

/** The order is closed with a refund. Its `exchange_rate` is a string. */
export const buyCloseEvent = z.looseObject({
  ...commonFields,
  event_name: z.literal('buy.event.close'),
  exchange_rate: z.string(),
  fiat_payment_status: z.string(),
  crypto_payment_status: z.string(),
  meta_data: z.looseObject({
    status: z.literal('refunded'),
    message: z.string(),
    refund_account: z.string(),
    /** Decimal string. */
    amount_refunded: z.string(),
    fee: z.number(),
  }),
});

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
