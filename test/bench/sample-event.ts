import { createHmac } from 'node:crypto';

const [merchantSecretKey, partnerSecretKey] = ['sk_merchant_bench_0123456789', 'sk_partner_bench_0123456789'];
export const sampleCredentials = { partnerPublicKey: 'pk_partner_b', partnerSecretKey, merchantSecretKey };
export const sampleKey = merchantSecretKey + partnerSecretKey;

const event = {
  event_name: 'event.buy.credited.crypto',
  partner_order_id: 'PO-2025-000123',
  platform_order_ref: 'REF-7f3a9c21e',
  fiat_amount_to_pay: 15000.5,
  crypto_amount_to_receive: 9.81234567,
  exchange_rate: 1528.68,
  pair: 'NGN/USDT',
  fiat_currency: 'NGN',
  buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  chain: 'usdt-trc20',
  fiat_payment_status: 'PAID',
  crypto_payment_status: 'PAID',
  payer_into_account: { account_name: 'Ada Obikwe', account_number: '0123456789', bank_name: 'Example Bank' },
  payment_link: null,
  crypto_txn_hash: '9f2b6c1d4e8a7053c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9',
  partner_callback_url: 'https://partner.example/webhooks/orders',
  transactional_kyc: {
    email: 'ada.o@example.com',
    phone: '+2348012345678',
    first_name: 'Ada',
    last_name: 'Obikwe',
  },
};

/** A crediting event as the service posts it: 923 bytes, all of them ASCII. */
export const sampleText = signText(JSON.stringify(event), sampleKey);
export const sampleBytes = new TextEncoder().encode(sampleText);

if (sampleBytes.length !== 923) throw new Error(`The sample event has ${sampleBytes.length} bytes, not 923.`);

/** A JSON object's text with its signature as the last member; made without the code under test. */
export function signText(unsigned: string, key: string): string {
  const signature = createHmac('sha512', key).update(unsigned).digest('hex');
  return received(`${unsigned.slice(0, -1)},"signature":"${signature}"}`);
}

/** The same with its signature as the first member. */
export function signFirst(unsigned: string, key: string): string {
  const signature = createHmac('sha512', key).update(unsigned).digest('hex');
  return received(unsigned.replace('{', `{"signature":"${signature}",`));
}

/** The text as it would be after a transport: the engine reads one joined from pieces more slowly. */
export function received(text: string): string {
  return Buffer.from(text).toString();
}
