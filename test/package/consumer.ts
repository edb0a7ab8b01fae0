/** Copied into a project that has the package installed, and compiled there: what a user's program looks like. */
import { defineDeployment, ExchangeClient } from 'partner-exchange-sdk';
import { parseOrderEvent } from 'partner-exchange-sdk/events';
import { verifyBody } from 'partner-exchange-sdk/signature';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';

const credentials = {
  partnerPublicKey: 'pk_partner_1',
  partnerSecretKey: 'sk_partner_1',
  merchantSecretKey: 'sk_merchant_1',
};

export const client: ExchangeClient = new ExchangeClient({
  deployment: defineDeployment({
    onboardingBaseUrl: 'https://exchange.example',
    stagingUrl: 'https://staging.example',
    messengerBaseUrl: 'https://messenger.example',
  }),
  credentials,
});

export const handle: (request: Request) => Promise<Response> = createWebhooks({ credentials }).fetch;

export function hashOf(body: Uint8Array, key: string): string {
  const parsed = parseOrderEvent(verifyBody(body, { key }).value);
  if (parsed.kind !== 'known' || parsed.event.event_name !== 'event.buy.credited.crypto') return '';
  // @ts-expect-error a hash is text: were it `any`, this would compile
  parsed.event.crypto_txn_hash satisfies number;
  return parsed.event.crypto_txn_hash;
}
