import { createHmac } from 'node:crypto';
import type { OrderEventName } from '../../src/events/order-event.ts';
import type { JsonObject } from '../../src/internal/json.ts';

/** The key of order events in the tests: merchant secret, then partner secret. */
export const orderKey = 'sk_merchant_test1sk_partner_test1';

/** HMAC-SHA512 in lower-case hex, straight from node:crypto: what the default scheme has to agree with. */
export function hmacHex(text: string, key = orderKey): string {
  return createHmac('sha512', key).update(text, 'utf8').digest('hex');
}

/** An object's text with a signature member put last: by default the right one. */
export function signedText(unsigned: string, signature = hmacHex(unsigned)): string {
  const separator = unsigned === '{}' ? '' : ',';
  return `${unsigned.slice(0, -1)}${separator}"signature":"${signature}"}`;
}

/** The members every published event has (contract: Buy order event record), but the name and the statuses. */
const commonMembers: JsonObject = {
  partner_order_id: 'A-1001',
  platform_order_ref: 'ref_7d41',
  fiat_amount_to_pay: 15000.5,
  crypto_amount_to_receive: 9.75,
  exchange_rate: 1538.51,
  pair: 'NGN/USDT',
  fiat_currency: 'NGN',
  buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  chain: 'usdt-trc20',
  payer_into_account: { account_name: 'Ada Obi', account_number: '0123456789', bank_name: 'First Bank' },
  payment_link: null,
  crypto_txn_hash: null,
  partner_callback_url: 'https://partner.example/callback',
  transactional_kyc: { email: 'ada@example.com', phone: '', first_name: 'Ada', last_name: 'Obi' },
  signature: 'ab'.repeat(64),
};

export function buyInitBody(members: JsonObject = {}): JsonObject {
  return {
    event_name: 'event.buy.init',
    ...structuredClone(commonMembers),
    fiat_payment_status: 'PENDING',
    crypto_payment_status: 'PENDING',
    ...members,
  };
}

export function buyFiatReceivedBody(members: JsonObject = {}): JsonObject {
  return {
    event_name: 'event.buy.received.fiat',
    ...structuredClone(commonMembers),
    fiat_payment_status: 'PAID',
    crypto_payment_status: 'STARTED',
    ...members,
  };
}

export function buyNoKycBody(members: JsonObject = {}): JsonObject {
  return {
    ...buyFiatReceivedBody(),
    event_name: 'event.buy.received.fiat_kyc_error',
    created_at: '2025-01-02T03:04:05.000Z',
    sender_name: 'Ada Obi',
    default_kyc_url: 'https://kyc.example/start',
    message: 'Ask the buyer to perform KYC',
    kyc_error_type: 'NO_KYC',
    ...members,
  };
}

export function buyThirdPartyPaymentBody(members: JsonObject = {}): JsonObject {
  return {
    ...buyNoKycBody(),
    sender_name: 'Someone Else',
    default_kyc_url: null,
    message: 'The payer is not the buyer',
    kyc_error_type: 'THIRD_PARTY_PAYMENT',
    ...members,
  };
}

/** Listed by name only: the contract does not show its body. */
export function buyThirdPartyErrorBody(members: JsonObject = {}): JsonObject {
  return { event_name: 'event.buy.third_party_error', ...members };
}

export function buyCreditedBody(members: JsonObject = {}): JsonObject {
  return {
    event_name: 'event.buy.credited.crypto',
    ...structuredClone(commonMembers),
    fiat_payment_status: 'PAID',
    crypto_payment_status: 'PAID',
    crypto_txn_hash: '0x9f2c4d',
    ...members,
  };
}

export function buyCloseBody(members: JsonObject = {}): JsonObject {
  return {
    event_name: 'buy.event.close',
    ...structuredClone(commonMembers),
    exchange_rate: '1538.51',
    pair: 'NGN/EUSD',
    chain: 'eusd-mob',
    fiat_payment_status: 'PAID',
    crypto_payment_status: 'PENDING',
    meta_data: {
      status: 'refunded',
      message: 'Refunded to the payer',
      refund_account: '0123456789',
      amount_refunded: '14900.50',
      fee: 100,
    },
    ...members,
  };
}

/** A full body of each published event. */
export const eventBodies = {
  'event.buy.init': buyInitBody,
  'event.buy.received.fiat': buyFiatReceivedBody,
  'event.buy.received.fiat_kyc_error': buyNoKycBody,
  'event.buy.third_party_error': buyThirdPartyErrorBody,
  'event.buy.credited.crypto': buyCreditedBody,
  'buy.event.close': buyCloseBody,
} as const satisfies Record<OrderEventName, (members?: JsonObject) => JsonObject>;
