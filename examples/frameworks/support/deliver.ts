/** What the service does, for the examples of frameworks: post one signed event, and say how it was answered. */
import { signBody, signingKey } from 'partner-exchange-sdk/signature';

export const credentials = {
  partnerPublicKey: 'pk_partner_demo',
  partnerSecretKey: 'sk_partner_demo',
  merchantSecretKey: 'sk_merchant_demo',
};

/** The body of a signed event, as it comes over the wire. */
export function signedEvent(): string {
  const event = {
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
  return signBody(event, { key: signingKey(credentials, 'order') }).text;
}

/** Posts the event, and one that was tampered with; throws when they are not answered with 200 and 401. */
export async function deliverTo(url: string): Promise<void> {
  const genuine = signedEvent();
  for (const [body, expected] of [
    [genuine, 200],
    [genuine.replace('A-1001', 'A-1002'), 401],
  ] as const) {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body });
    console.log('answered', response.status, await response.text());
    if (response.status !== expected) throw new Error(`Answered ${response.status}, not ${expected}.`);
  }
}
