/** The code under test of the examples of tests: a shop that ships what is credited, and keeps what is held. */
import { type Deployment, ExchangeClient, type PartnerCredentials } from 'partner-exchange-sdk';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';

export function createShop({
  credentials,
  deployment,
}: {
  credentials: PartnerCredentials;
  deployment: Deployment;
}) {
  const shipped: string[] = [];
  const held = new Map<string, string>();
  const webhooks = createWebhooks({ credentials, deployment })
    .on('event.buy.credited.crypto', (event) => {
      shipped.push(event.partner_order_id);
    })
    .on('event.buy.received.fiat_kyc_error', (event) => {
      held.set(event.partner_order_id, event.default_kyc_url ?? `paid by ${event.sender_name}`);
    });

  /** Orders crypto worth this much. @param fiat_amount decimal text, in NGN */
  async function buy(partner_order_id: string, fiat_amount: string): Promise<void> {
    await new ExchangeClient({ deployment, credentials }).createOrder({
      partner_order_id,
      fiat_amount,
      fiat_currency: 'NGN',
      chain: 'usdt-trc20',
      buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
      partner_callback_url: 'https://shop.example/orders',
    });
  }

  return { webhooks, buy, shipped, held };
}
