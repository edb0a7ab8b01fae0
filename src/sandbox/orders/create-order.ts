import * as z from 'zod';
import type { JsonObject } from '../../json/json-value.ts';
import { Refusal } from '../http/refusal.ts';
import { requireShape } from '../http/request-body.ts';
import type { ResolvedSandboxOptions } from '../resolve-sandbox-options.ts';
import { randomToken } from '../secrets.ts';
import type { AllowedValues } from '../service-variants.ts';
import { type Decimal, divideDecimals, exactNumber, formatDecimal, parseDecimal } from './decimal.ts';
import type { SandboxOrder } from './sandbox-order.ts';

/** Decimal places of the crypto amount, as USDT and USDC have; further ones are cut off. */
const cryptoPlaces = 6;

const text = z.string().min(1);

/** What the sandbox needs from an order to post its events. */
const orderMembers = z.object({
  partner_order_id: text,
  fiat_amount: z.union([z.string(), z.number()]).transform(String),
  fiat_currency: text,
  chain: text,
  buyer_crypto_address: text,
  partner_callback_url: z.url({ protocol: /^https?$/ }),
  buyer_email: z.string().nullish(),
  buyer_phone: z.string().nullish(),
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  refund_account: z.string().nullish(),
});

/** A new order from a payload that the deployment's order schema accepts. */
export async function createOrder(
  payload: JsonObject,
  options: ResolvedSandboxOptions,
  issued: { partnerId: string; number: number },
): Promise<SandboxOrder> {
  const members = await requireShape(orderMembers, options.readOrder(payload), 'order_unreadable');
  const pair = `${members.fiat_currency}/${(members.chain.split('-')[0] ?? '').toUpperCase()}`;
  const { fiat_currency, chain } = members;
  requireAllowed({ pair, fiat_currency, chain }, options.allowedValues);
  const rate = options.exchangeRate(pair);
  const platform_order_ref = `SBX-${issued.number}-${randomToken(options.random, 6)}`;
  const mobileMoney = options.mobileMoneyCurrencies.includes(members.fiat_currency);
  return Object.freeze({
    partnerId: issued.partnerId,
    partner_order_id: members.partner_order_id,
    platform_order_ref,
    state: 'created',
    fiat_amount: members.fiat_amount,
    exchange_rate: rate.text,
    crypto_amount_to_receive: cryptoAmount(checkAmount(members.fiat_amount), rate.decimal),
    pair,
    fiat_currency: members.fiat_currency,
    chain: members.chain,
    buyer_crypto_address: members.buyer_crypto_address,
    fiat_payment_status: 'PENDING',
    crypto_payment_status: 'PENDING',
    payer_into_account: payerIntoAccount(issued.number, mobileMoney),
    payment_link: mobileMoney ? `https://pay.example/${platform_order_ref}` : null,
    crypto_txn_hash: null,
    partner_callback_url: members.partner_callback_url,
    transactional_kyc: Object.freeze({
      email: members.buyer_email ?? '',
      phone: members.buyer_phone ?? '',
      first_name: members.first_name ?? '',
      last_name: members.last_name ?? '',
    }),
    refund_account: members.refund_account ?? '',
    createdAt: options.now(),
    payload,
  });
}

function requireAllowed(values: Record<keyof AllowedValues, string>, allowed: AllowedValues): void {
  // Sound: the keys of the literal are those of the type.
  for (const name of Object.keys(values) as (keyof AllowedValues)[]) {
    if (allowed[name]?.includes(values[name]) ?? true) continue;
    throw new Refusal(400, 'value_not_allowed', `${name}: must be one of ${allowed[name]?.join(', ')}.`);
  }
}

/** Events give the amount as a number. An amount that a number cannot hold exactly is refused, not rounded. */
function checkAmount(fiatAmount: string): Decimal {
  const amount = parseDecimal(fiatAmount);
  if (amount === undefined || amount.units === 0n) {
    throw new Refusal(400, 'order_unreadable', 'fiat_amount: must be a positive decimal.');
  }
  if (exactNumber(amount) === undefined) {
    throw new Refusal(400, 'amount_not_exact', 'fiat_amount: has more digits than an event can give.');
  }
  return amount;
}

function cryptoAmount(fiat: Decimal, rate: Decimal): number {
  return Number(formatDecimal(divideDecimals(fiat, rate, cryptoPlaces)));
}

function payerIntoAccount(number: number, mobileMoney: boolean): SandboxOrder['payer_into_account'] {
  return Object.freeze({
    account_name: 'Sandbox Collections',
    account_number: mobileMoney ? `+999${String(number).padStart(9, '0')}` : String(number).padStart(10, '0'),
    bank_name: mobileMoney ? 'Sandbox Mobile Money' : 'Sandbox Bank',
  });
}
