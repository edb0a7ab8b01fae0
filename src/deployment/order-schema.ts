import * as z from 'zod';

/**
 * A buy order. The contract does not show its members, which are reported (ledger: `order-payload`).
 *
 * @remarks What `createOrder` takes, unless the deployment has an `orderSchema` of its own. A deployment with further
 *   members adds them to the schema: `defineDeployment({ orderSchema: reportedBuyOrder.extend({ … }) })`.
 */
export interface BuyOrder {
  /** The order's id in your system; every event of the order carries it. Reported. */
  partner_order_id: string;
  /** Amount that the buyer pays, in units of `fiat_currency`: a positive decimal as text, e.g. `'15000.50'`. Reported. */
  fiat_amount: string;
  /** Currency code in capitals, e.g. `'NGN'`. Reported; the full set is not shown (ledger: `allowed-values`). */
  fiat_currency: string;
  /** `<token>-<network>`, e.g. `'usdt-trc20'`. Reported; the full set is not shown (ledger: `allowed-values`). */
  chain: string;
  /** The address on `chain` that the crypto is credited to. `createOrder` refuses one that `checkAddress` refuses. Reported. */
  buyer_crypto_address: string;
  /** Where the events of this order are posted: an absolute http or https URL. Reported. */
  partner_callback_url: string;
  /** Part of the buyer's KYC. Reported. */
  buyer_phone?: string | undefined;
  /** Part of the buyer's KYC. Reported. */
  buyer_email?: string | undefined;
  /** Part of the buyer's KYC: the payer's account name has to match it. Reported. */
  first_name?: string | undefined;
  /** Part of the buyer's KYC: the payer's account name has to match it. Reported. */
  last_name?: string | undefined;
  /**
   * The merchant's id; another one for each currency. A deployment can have another name for it (ledger:
   * `branded-names`). Reported.
   * @remarks `wireNames` of `defineDeployment` sets the name.
   */
  platform_merchant_id?: string | undefined;
  /** Your fee on top of the rate, in percent: a decimal as text, e.g. `'1.5'`. Reported. */
  markup_fee?: string | undefined;
  /** Bank code of the account that a refund goes to. Reported. */
  refund_bank?: string | undefined;
  /** Number of the account that a refund goes to. Reported. */
  refund_account?: string | undefined;
}

/** A positive decimal number as a string, e.g. `15000` or `15000.50`. */
const decimalText = z
  .string({ error: notANumber('15000.50') })
  .max(40)
  .regex(/^(?!0+(\.0+)?$)\d+(\.\d+)?$/, 'must be a positive decimal string such as "15000.50"');

const text = z.string().min(1);

/** A code of three letters in capitals, or something else: `ngn` would be another merchant's currency, or none. */
const currency = text.regex(
  /^(?:[A-Z]{3}|[A-Za-z]{1,2}|[A-Za-z]{4,}|[\s\S]*[^A-Za-z][\s\S]*)$/,
  'must be in capitals, such as "NGN"',
);

const members = {
  partner_order_id: text,
  fiat_amount: decimalText,
  fiat_currency: currency,
  chain: text,
  buyer_crypto_address: text,
  partner_callback_url: z.url({
    protocol: /^https?$/,
    error: ({ input }) => (typeof input === 'string' ? 'must be an http or https URL' : undefined),
  }),
  buyer_phone: text.optional(),
  buyer_email: text.optional(),
  first_name: text.optional(),
  last_name: text.optional(),
  platform_merchant_id: text.optional(),
  markup_fee: z
    .string({ error: notANumber('1.5') })
    .max(40)
    .regex(/^\d+(\.\d+)?$/, 'must be a decimal string such as "1.5"')
    .optional(),
  refund_bank: text.optional(),
  refund_account: text.optional(),
};

/** The schemas of the members of {@link BuyOrder}, by name. @useDeclaredType */
export type BuyOrderMembers = typeof members;

/** Keeps members that the schema does not know, but not in its input type: a misspelt member does not compile. */
export type KeepsUnknownMembers = { in: Record<never, never>; out: Record<string, unknown> };

/** The schema of {@link BuyOrder}. Members that it does not know are sent as given. */
export const reportedBuyOrder: z.ZodObject<BuyOrderMembers, KeepsUnknownMembers> = z.looseObject(members);

/** Advice for the most common mistake; anything else gets the usual message. */
function notANumber(example: string) {
  return ({ input }: { input?: unknown }) =>
    typeof input === 'number'
      ? `must be text, since a number loses digits: give it as text: "${example}"`
      : undefined;
}
