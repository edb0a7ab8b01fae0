import * as z from 'zod';

/** A positive decimal number as a string, e.g. `15000` or `15000.50`. */
const decimalText = z
  .string({ error: notANumber('15000.50') })
  .max(40)
  .regex(/^(?!0+(\.0+)?$)\d+(\.\d+)?$/, 'must be a positive decimal string such as "15000.50"');

const text = z.string().min(1);

/**
 * The payload of a buy order, as reported; the contract does not show it. Members it does not know are sent as
 * given. A deployment with another payload sets its own `orderSchema`.
 */
export const reportedBuyOrder = z.looseObject({
  partner_order_id: text,
  fiat_amount: decimalText,
  fiat_currency: text,
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
  /** Percent, as a decimal string. */
  markup_fee: z
    .string({ error: notANumber('1.5') })
    .max(40)
    .regex(/^\d+(\.\d+)?$/, 'must be a decimal string such as "1.5"')
    .optional(),
  refund_bank: text.optional(),
  refund_account: text.optional(),
});

/** A buy order as reported: what `createOrder` takes unless the deployment has an `orderSchema` of its own. */
export type ReportedBuyOrder = z.input<typeof reportedBuyOrder>;

/** The advice for the most common mistake; anything else gets the usual words. */
function notANumber(example: string) {
  return ({ input }: { input?: unknown }) =>
    typeof input === 'number'
      ? `must be text, since a number loses digits: give it as text: "${example}"`
      : undefined;
}
