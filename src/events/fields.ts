import * as z from 'zod';

/** Status of the buyer's fiat payment (contract: States). */
export const fiatPaymentStatuses = ['PENDING', 'PAID'] as const;

/**
 * The terminal crypto status in each spelling: the crediting event carries `PAID`, the prose says `Completed`,
 * and an upper-case `COMPLETED` is reported.
 */
export const settledCryptoStatuses = ['PAID', 'Completed', 'COMPLETED'] as const;

/** The third-party payment error in both spellings of the contract. */
export const thirdPartyKycErrors = ['THIRD_PARTY_ERROR', 'THIRD_PARTY_PAYMENT'] as const;

/** The members every event has (contract: Buy order event record), without the statuses and the rate. */
export const commonFields = {
  /** Order id of the partner's system. */
  partner_order_id: z.string(),
  /** Order reference of the service. */
  platform_order_ref: z.string(),
  /** In units of `fiat_currency`. For money read the exact literal instead: see `decimalLiteral`. */
  fiat_amount_to_pay: z.number(),
  /** In units of the crypto currency of `pair`. */
  crypto_amount_to_receive: z.number(),
  /** `<FIAT>/<CRYPTO>`. */
  pair: z.string(),
  fiat_currency: z.string(),
  buyer_crypto_address: z.string(),
  /** `<token>-<network>`. */
  chain: z.string(),
  payer_into_account: z.looseObject({
    account_name: z.string(),
    /** Bank account number, or phone number for mobile money. */
    account_number: z.string(),
    bank_name: z.string(),
  }),
  /** For mobile money payments, otherwise null. */
  payment_link: z.string().nullable(),
  /** Null until the crypto is credited. */
  crypto_txn_hash: z.string().nullable(),
  partner_callback_url: z.string(),
  /** Empty strings where nothing was supplied. */
  transactional_kyc: z.looseObject({
    email: z.string(),
    phone: z.string(),
    first_name: z.string(),
    last_name: z.string(),
  }),
  /** Absent in a body that has not been signed yet. */
  signature: z.string().optional(),
};

const optional = <Field extends z.ZodType>(field: Field) => field.nullable().optional();

/** The same members for an event whose body is not shown: each may be absent or null. */
export const optionalFields = {
  partner_order_id: optional(commonFields.partner_order_id),
  platform_order_ref: optional(commonFields.platform_order_ref),
  fiat_amount_to_pay: optional(commonFields.fiat_amount_to_pay),
  crypto_amount_to_receive: optional(commonFields.crypto_amount_to_receive),
  exchange_rate: optional(z.union([z.number(), z.string()])),
  pair: optional(commonFields.pair),
  fiat_currency: optional(commonFields.fiat_currency),
  buyer_crypto_address: optional(commonFields.buyer_crypto_address),
  chain: optional(commonFields.chain),
  fiat_payment_status: optional(z.string()),
  crypto_payment_status: optional(z.string()),
  payer_into_account: optional(commonFields.payer_into_account.partial()),
  payment_link: optional(commonFields.payment_link),
  crypto_txn_hash: optional(commonFields.crypto_txn_hash),
  partner_callback_url: optional(commonFields.partner_callback_url),
  transactional_kyc: optional(commonFields.transactional_kyc.partial()),
  signature: commonFields.signature,
};
