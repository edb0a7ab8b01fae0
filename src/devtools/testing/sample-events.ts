import type {
  BuyCloseEvent,
  BuyCreditedEvent,
  BuyFiatReceivedEvent,
  BuyInitEvent,
  BuyKycErrorEvent,
  BuyThirdPartyErrorEvent,
} from '../../events/event-types.ts';
import type { OrderEvent, OrderEventName } from '../../events/order-event.ts';

/** The common members, in the order of the contract's table (Buy order event record). */
function order<Fiat extends string, Crypto extends string>(
  fiat_payment_status: Fiat,
  crypto_payment_status: Crypto,
) {
  return {
    partner_order_id: 'PO-2025-000123',
    platform_order_ref: 'ref_7d41c09e',
    // The service writes 15000.50.
    fiat_amount_to_pay: 15000.5,
    crypto_amount_to_receive: 9.750017,
    exchange_rate: 1538.51,
    pair: 'NGN/USDT',
    fiat_currency: 'NGN',
    buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
    chain: 'usdt-trc20',
    fiat_payment_status,
    crypto_payment_status,
    payer_into_account: {
      // The last letter is two code points: normalising the text breaks its signature.
      account_name: 'Ọlá Adébáyọ̀',
      account_number: '0123456789',
      bank_name: 'Crédit & Épargne / Lagos',
    },
    payment_link: null,
    crypto_txn_hash: null,
    partner_callback_url: 'https://partner.example/orders?from=exchange&v=1',
    transactional_kyc: {
      email: 'ola.adebayo+orders@example.com',
      phone: '+2348012345678',
      first_name: 'Ọlá',
      last_name: 'Adébáyọ̀',
    },
  };
}

const init: BuyInitEvent = {
  event_name: 'event.buy.init',
  ...order('PENDING', 'PENDING'),
};

const fiatReceived: BuyFiatReceivedEvent = {
  event_name: 'event.buy.received.fiat',
  ...order('PAID', 'STARTED'),
};

const noKyc: BuyKycErrorEvent = {
  event_name: 'event.buy.received.fiat_kyc_error',
  ...order('PAID', 'STARTED'),
  created_at: '2025-01-02T03:04:05.678Z',
  sender_name: 'ỌLÁ ADÉBÁYỌ̀',
  default_kyc_url: 'https://kyc.example/start?ref=ref_7d41c09e',
  message: 'The buyer has not done KYC: ask the buyer to perform it at default_kyc_url.',
  kyc_error_type: 'NO_KYC',
};

export const sampleThirdPartyPayment: BuyKycErrorEvent = {
  ...noKyc,
  sender_name: "Zoë O'Connor-Müller",
  default_kyc_url: null,
  message: "The payer's account name differs from the name of the transactional KYC.",
  kyc_error_type: 'THIRD_PARTY_PAYMENT',
};

/** All common members, since the contract does not show its body (ledger: `third-party-error-body`). */
const thirdPartyError: BuyThirdPartyErrorEvent = {
  event_name: 'event.buy.third_party_error',
  ...order('PAID', 'STARTED'),
};

const credited: BuyCreditedEvent = {
  event_name: 'event.buy.credited.crypto',
  ...order('PAID', 'PAID'),
  crypto_txn_hash: '9f2b6c1d4e8a7053c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9',
};

const close: BuyCloseEvent = {
  event_name: 'buy.event.close',
  ...order('PAID', 'STARTED'),
  exchange_rate: '1538.51',
  // Contract: fixed in the close event.
  pair: 'NGN/EUSD',
  chain: 'eusd-mob',
  meta_data: {
    status: 'refunded',
    message: 'The order is closed and the payment refunded.',
    refund_account: '0123456789',
    amount_refunded: '14900.50',
    fee: 100,
  },
};

/** The KYC error here is the one without KYC. */
export const sampleEvents: { readonly [Name in OrderEventName]: OrderEvent & { event_name: Name } } = {
  'event.buy.init': init,
  'event.buy.received.fiat': fiatReceived,
  'event.buy.received.fiat_kyc_error': noKyc,
  'event.buy.third_party_error': thirdPartyError,
  'event.buy.credited.crypto': credited,
  'buy.event.close': close,
};
