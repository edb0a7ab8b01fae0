import type { Operation } from '../../src/deployment/operations.ts';
import type { BuyOrder } from '../../src/deployment/order-schema.ts';
import { sampleEvents, sampleThirdPartyPayment } from '../../src/devtools/testing/sample-events.ts';
import type { JsonObject, JsonValue } from '../../src/internal/json.ts';

const { 'event.buy.received.fiat_kyc_error': noKyc, ...eventsWithOneKind } = sampleEvents;

/** An unsigned body of each event and of each of its variants, by the name of its example. */
export const sampleBodies = {
  ...eventsWithOneKind,
  'event.buy.init.mobile_money': {
    ...sampleEvents['event.buy.init'],
    payer_into_account: { account_name: 'Ọlá Adébáyọ̀', account_number: '+2348012345678', bank_name: '' },
    payment_link: 'https://pay.example/PO-2025-000123',
  },
  'event.buy.received.fiat_kyc_error.NO_KYC': noKyc,
  'event.buy.received.fiat_kyc_error.THIRD_PARTY_PAYMENT': sampleThirdPartyPayment,
  'event.buy.received.fiat_kyc_error.THIRD_PARTY_ERROR': {
    ...sampleThirdPartyPayment,
    kyc_error_type: 'THIRD_PARTY_ERROR',
  },
  'event.buy.third_party_error.least': { event_name: 'event.buy.third_party_error' },
  'event.buy.credited.crypto.Completed': {
    ...sampleEvents['event.buy.credited.crypto'],
    crypto_payment_status: 'Completed',
  },
  // Authentic, and not described: acknowledge it, and put it aside.
  unknown_event: { event_name: 'event.sell.init', partner_order_id: 'PO-2025-000124', amount: '12.50' },
} satisfies Record<string, object>;

const order = {
  partner_order_id: 'PO-2025-000123',
  fiat_amount: '15000.50',
  fiat_currency: 'NGN',
  chain: 'usdt-trc20',
  buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  partner_callback_url: 'https://partner.example/orders?from=exchange&v=1',
} satisfies BuyOrder;

const partner = { partner_code: 'acme', email: 'dev@acme.example' };
const api_key = 'API-X-test';

/** A request of each operation with all of its members, unsigned. */
export const sampleRequests: Readonly<Record<Operation, JsonValue>> = {
  onboard: partner,
  whitelistIp: {},
  regenerateKeys: partner,
  createOrder: {
    ...order,
    buyer_phone: '+2348012345678',
    buyer_email: 'ola.adebayo+orders@example.com',
    first_name: 'Ọlá',
    last_name: 'Adébáyọ̀',
    platform_merchant_id: 'merchant-ngn',
    markup_fee: '1.5',
    refund_bank: '058',
    refund_account: '0123456789',
  } satisfies BuyOrder,
  generateApiKey: { messenger_device_no: '1001' },
  scanDevice: { api_key },
  checkNumber: { api_key, to_phone: '+2348012345678' },
  sendMessage: { api_key, message: 'Your code is 493021', to_phone: '+2348012345678', verify_check: true },
};

/** Further requests, by the name of their example. */
export const furtherRequests: Readonly<Record<string, { operation: Operation; body: JsonObject }>> = {
  'createOrder.least': { operation: 'createOrder', body: { ...order } },
  'sendMessage.least': {
    operation: 'sendMessage',
    body: { api_key, message: 'Hello', to_phone: '2348012345678' },
  },
};
