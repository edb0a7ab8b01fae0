/** What the service does, for the examples: it signs order events. */
import { signBody, signingKey } from 'partner-exchange-sdk/signature';

export const credentials = {
  partnerPublicKey: 'pk_partner_demo',
  partnerSecretKey: 'sk_partner_demo',
  merchantSecretKey: 'sk_merchant_demo',
};

const credited = {
  event_name: 'event.buy.credited.crypto',
  partner_order_id: 'A-1001',
  platform_order_ref: 'ref_7d41',
  fiat_amount_to_pay: 15000.5,
  crypto_amount_to_receive: 9.75,
  exchange_rate: 1538.51,
  pair: 'NGN/USDT',
  fiat_currency: 'NGN',
  buyer_crypto_address: 'TQ5NMqJjhpQGK7YJbESKfVXGnLkYbLZ1pA',
  chain: 'usdt-trc20',
  fiat_payment_status: 'PAID',
  crypto_payment_status: 'PAID',
  payer_into_account: { account_name: 'Ada Obi', account_number: '0123456789', bank_name: 'First Bank' },
  payment_link: null,
  crypto_txn_hash: '0x9f2c4d',
  partner_callback_url: 'https://partner.example/orders',
  transactional_kyc: { email: '', phone: '', first_name: '', last_name: '' },
};

/** The body of a signed event as it comes over the wire: the crediting of an order, with what is to be different. */
export function signedEvent(
  changes: Partial<Record<keyof typeof credited, string | number | null>> = {},
): string {
  return signBody({ ...credited, ...changes }, { key: signingKey(credentials, 'order') }).text;
}
