import * as z from 'zod';
import { merchantsFor, signingKey } from '../../../credentials/signing-key.ts';
import { addressReasons } from '../../../deployment/addresses/address-reasons.ts';
import { checkAddress } from '../../../deployment/addresses/check-address.ts';
import { toWireNames } from '../../../deployment/wire-names.ts';
import type { JsonObject } from '../../../internal/json.ts';
import type { SandboxSettings } from '../settings/sandbox-options.ts';
import { jsonReply, parseWith, publishedNames, Refusal, readSignedBody } from '../wire/requests.ts';
import { randomToken } from '../wire/sandbox-secrets.ts';
import type { SandboxOrder } from '../world/order-registry.ts';
import type { Partner } from '../world/partner-registry.ts';
import type { SandboxState } from '../world/state.ts';
import { requirePartner } from './partner-routes.ts';
import { postEvent, sandboxEvent } from './post-event.ts';
import type { OperationHandlers, RoutedRequest } from './service.ts';
import { orderRecord } from './state-bodies.ts';

/** Fiat units for one crypto unit; the sandbox's choice. */
const exchangeRate = 1500;

/** These currencies are reported; that they are paid by mobile money is the sandbox's choice. */
const mobileMoneyCurrencies: ReadonlySet<string> = new Set(['GHS', 'KES', 'KHS']);

const text = z.string().min(1);

/** The members that events need. */
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

async function createOrder(
  payload: JsonObject,
  options: SandboxSettings,
  issued: { partnerId: string; number: number },
): Promise<SandboxOrder> {
  const members = await parseWith(orderMembers, options.readOrder(payload), 'order_unreadable');
  const pair = `${members.fiat_currency}/${(members.chain.split('-')[0] ?? '').toUpperCase()}`;
  const { fiat_currency, chain } = members;
  requireAddress(members, options);
  const platform_order_ref = `SBX-${issued.number}-${randomToken(options.random, 6)}`;
  return Object.freeze({
    partnerId: issued.partnerId,
    partner_order_id: members.partner_order_id,
    platform_order_ref,
    state: 'created',
    fiat_amount: members.fiat_amount,
    exchange_rate: String(exchangeRate),
    crypto_amount_to_receive: cryptoAmount(members.fiat_amount),
    pair,
    fiat_currency,
    chain,
    buyer_crypto_address: members.buyer_crypto_address,
    fiat_payment_status: 'PENDING',
    crypto_payment_status: 'PENDING',
    payer_into_account: Object.freeze({
      account_name: 'Sandbox Collections',
      account_number: String(issued.number).padStart(10, '0'),
      bank_name: 'Sandbox Bank',
    }),
    payment_link: mobileMoneyCurrencies.has(fiat_currency)
      ? `https://pay.example/${platform_order_ref}`
      : null,
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

function requireAddress(
  { chain, buyer_crypto_address }: Pick<SandboxOrder, 'chain' | 'buyer_crypto_address'>,
  { deployment }: SandboxSettings,
): void {
  const forms = deployment?.addressForms;
  if (forms === undefined || forms === false) return;
  const { verdict, reason } = checkAddress(buyer_crypto_address, { chain, forms });
  if (verdict !== 'refused' || reason === undefined) return;
  throw new Refusal(400, 'address_not_taken', `buyer_crypto_address: ${addressReasons[reason].words}.`);
}

/**
 * The amount at {@link exchangeRate}, cut off after the six places that USDT and USDC have. Refuses an amount that a
 * number cannot hold exactly, since events give it as a number.
 */
function cryptoAmount(fiatAmount: string): number {
  const [, whole, fraction = ''] = /^(\d{1,40})(?:\.(\d{1,20}))?$/.exec(fiatAmount) ?? [];
  if (whole === undefined || !/[1-9]/.test(fiatAmount)) {
    throw new Refusal(400, 'order_unreadable', 'fiat_amount: must be a positive decimal.');
  }
  if (significantDigits(fiatAmount) !== significantDigits(String(Number(fiatAmount)))) {
    throw new Refusal(400, 'amount_not_exact', 'fiat_amount: has more digits than an event can give.');
  }
  // Floating point would round money.
  const millionths = BigInt(whole + fraction) * 10n ** 6n;
  return Number(`${millionths / (BigInt(exchangeRate) * 10n ** BigInt(fraction.length))}e-6`);
}

/** One text for every spelling of a decimal: `15000.50` and `15000.5` are `150005e-1`. */
function significantDigits(decimal: string): string {
  const [, whole = '', fraction = '', exponent] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(decimal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  return `${significant}e${Number(exponent ?? 0) - fraction.length + digits.length - significant.length}`;
}

/** Endpoint 4 of the contract. */
export const orderHandlers = {
  createOrder: { content: 'json', handle: placeOrder },
} satisfies Partial<OperationHandlers>;

async function placeOrder(state: SandboxState, { body, ip, request }: RoutedRequest): Promise<Response> {
  const { deployment, options, orders } = state;
  if (options.whitelist === 'enforced' && !state.whitelist.has(ip)) {
    const message = `The IP ${ip} is not whitelisted.`;
    throw new Refusal(403, 'ip_not_whitelisted', message);
  }
  const partner = requirePartner(state, request);
  requirePartnerId(request, partner);
  const scheme = deployment.signature;
  const merchants = merchantsFor(partner.credentials, scheme);
  const keys = merchants.map((merchant) => signingKey(partner.credentials, 'order', { scheme, merchant }));
  const signed = readSignedBody(body, keys, scheme);
  const payload = publishedNames(signed.body, deployment.wireNames);
  await parseWith(deployment.orderSchema, payload, 'invalid_order');
  const order = await createOrder(payload, options, {
    partnerId: partner.partnerId,
    number: orders.nextNumber(),
  });
  requireMerchant(merchants, signed.keyIndex, order.fiat_currency);
  const reply = (of: SandboxOrder) => jsonReply(200, toWireNames(orderRecord(of), deployment.wireNames));
  const existing = options.duplicateOrders === 'second' ? undefined : orders.existing(order);
  if (existing !== undefined && options.duplicateOrders === 'same') return reply(existing);
  if (existing !== undefined) {
    throw new Refusal(409, 'order_exists', 'There is an order with this partner_order_id.');
  }
  // Made before the order exists: if the reply or the event cannot be written, the order is refused.
  const created = reply(order);
  const event = sandboxEvent(state, order);
  orders.add(order);
  const { delivery, isBeforeReply } = postEvent(state, event);
  if (isBeforeReply) await delivery;
  return created;
}

/** The header is optional, and must be right. */
function requirePartnerId(request: Request, { partnerId }: Partner): void {
  const sent = request.headers.get('x-partner-id');
  if (sent === null || sent === partnerId) return;
  throw new Refusal(401, 'partner_id_mismatch', 'The x-partner-id is not that of the public key.');
}

/** Only the key of its currency's merchant signs an order. */
function requireMerchant(
  merchants: readonly (string | undefined)[],
  keyIndex: number,
  currency: string,
): void {
  if (merchants[keyIndex] === (merchants.includes(currency) ? currency : undefined)) return;
  throw new Refusal(
    401,
    'wrong_merchant',
    'The order is signed with the merchant key of another currency (ledger: several-merchants).',
  );
}
