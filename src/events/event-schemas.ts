import type * as zod from 'zod';
import { settledCryptoStatuses, thirdPartyKycErrors } from './status.ts';

/** The functions for making schemas that zod and zod/mini have in common. */
export interface SchemaFunctions
  extends Pick<
    typeof zod,
    'string' | 'number' | 'null' | 'literal' | 'enum' | 'union' | 'nullable' | 'optional' | 'minLength'
  > {
  readonly object: typeof zod.looseObject;
}

/** The members that events share. First, so that declarations list them first. */
function makeEventFields(z: SchemaFunctions) {
  const { object } = z;
  /** A member that may be absent or null. */
  const optional = <Field extends zod.ZodType>(field: Field) => z.optional(z.nullable(field));

  /** The members every event has (contract: Buy order event record), without the statuses and the rate. */
  const commonFields = {
    partner_order_id: z.string(),
    platform_order_ref: z.string(),
    fiat_amount_to_pay: z.number(),
    crypto_amount_to_receive: z.number(),
    pair: z.string(),
    fiat_currency: z.string(),
    buyer_crypto_address: z.string(),
    chain: z.string(),
    payer_into_account: object({
      account_name: z.string(),
      account_number: z.string(),
      bank_name: z.string(),
    }),
    payment_link: z.nullable(z.string()),
    crypto_txn_hash: z.nullable(z.string()),
    partner_callback_url: z.string(),
    transactional_kyc: object({
      email: z.string(),
      phone: z.string(),
      first_name: z.string(),
      last_name: z.string(),
    }),
    signature: z.optional(z.string()),
  };

  /** The common members of an event whose body is not shown: each may be absent or null. */
  const optionalFields = {
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
    payer_into_account: optional(
      object({
        account_name: z.optional(z.string()),
        account_number: z.optional(z.string()),
        bank_name: z.optional(z.string()),
      }),
    ),
    payment_link: optional(commonFields.payment_link),
    crypto_txn_hash: optional(commonFields.crypto_txn_hash),
    partner_callback_url: optional(commonFields.partner_callback_url),
    transactional_kyc: optional(
      object({
        email: z.optional(z.string()),
        phone: z.optional(z.string()),
        first_name: z.optional(z.string()),
        last_name: z.optional(z.string()),
      }),
    ),
    signature: commonFields.signature,
  };

  return { commonFields, optionalFields };
}

/**
 * The schemas of the published events: of zod, as users get them, or of zod/mini, which loads much faster, for
 * `parseOrderEvent`. `event-types.ts` says what each member means.
 *
 * @param words `open`: any text in the members on which no money hangs, as the types say; `published`: in these, too, only
 *   the words of the contract
 */
export function makeEventSchemas(z: SchemaFunctions, words: 'open' | 'published') {
  const { object } = z;
  const openText = <const Word extends string>(...known: readonly [Word, ...Word[]]) =>
    // Sound: any text is of this type.
    (words === 'open' ? z.string() : z.enum(known)) as zod.ZodType<Word | (string & {})>;
  const filledString = () => z.string().check(z.minLength(1));
  const { commonFields, optionalFields } = makeEventFields(z);

  const buyInitEvent = object({
    ...commonFields,
    event_name: z.literal('event.buy.init'),
    exchange_rate: z.number(),
    fiat_payment_status: z.literal('PENDING'),
    crypto_payment_status: z.literal('PENDING'),
    crypto_txn_hash: z.null(),
  });

  const buyFiatReceivedEvent = object({
    ...commonFields,
    event_name: z.literal('event.buy.received.fiat'),
    exchange_rate: z.number(),
    fiat_payment_status: z.literal('PAID'),
    crypto_payment_status: z.literal('STARTED'),
  });

  const buyKycErrorEvent = object({
    ...commonFields,
    event_name: z.literal('event.buy.received.fiat_kyc_error'),
    exchange_rate: z.number(),
    fiat_payment_status: openText('PAID'),
    crypto_payment_status: openText('STARTED'),
    created_at: z.string(),
    sender_name: z.string(),
    message: z.string(),
    kyc_error_type: openText('NO_KYC', ...thirdPartyKycErrors),
    default_kyc_url: z.nullable(z.string()),
  });

  const buyThirdPartyErrorEvent = object({
    ...optionalFields,
    event_name: z.literal('event.buy.third_party_error'),
  });

  const buyCreditedEvent = object({
    ...commonFields,
    event_name: z.literal('event.buy.credited.crypto'),
    exchange_rate: z.number(),
    fiat_payment_status: z.literal('PAID'),
    crypto_payment_status: z.enum(settledCryptoStatuses),
    crypto_txn_hash: filledString(),
  });

  const buyCloseEvent = object({
    ...commonFields,
    event_name: z.literal('buy.event.close'),
    exchange_rate: z.string(),
    fiat_payment_status: z.string(),
    crypto_payment_status: z.string(),
    meta_data: object({
      status: openText('refunded'),
      message: z.string(),
      refund_account: z.string(),
      amount_refunded: z.string(),
      fee: z.number(),
    }),
  });

  return {
    buyInitEvent,
    buyFiatReceivedEvent,
    buyKycErrorEvent,
    buyThirdPartyErrorEvent,
    buyCreditedEvent,
    buyCloseEvent,
  };
}
