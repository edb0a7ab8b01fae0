import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import type { EventContext } from '../../src/webhooks/handlers.ts';
import type { DeliveryReport } from '../../src/webhooks/receive-outcome.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { buyInitBody } from '../support/bodies.ts';
import { delivery } from '../webhooks/deliveries.ts';

/** When the fixtures were written, by the clock that their writers are given. */
export const writtenAt = 1_700_000_000_000;
export const day = 86_400_000;

export const credentials: PartnerCredentials = {
  partnerPublicKey: 'pk_partner_test1',
  partnerSecretKey: 'sk_partner_test1',
  merchantSecretKeys: { ngn: 'sk_merchant_test1' },
  partnerId: 'P-1',
  partnerCode: 'acme',
};

export const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** The fixtures were written before addresses were checked. */
const writtenAddress = 'TXyz0000000000000000000000000000000';

/** An order event, signed as the service does. It is the same text in every build. */
export const eventOf = (partner_order_id: string): string =>
  delivery(buyInitBody({ partner_order_id, buyer_crypto_address: writtenAddress }));

/** A request with an event, as it comes from the service. */
export const requestOf = (partner_order_id: string): Request =>
  new Request('https://partner.example/events', {
    method: 'POST',
    headers: { 'content-type': 'application/json', traceparent },
    body: eventOf(partner_order_id),
  });

/** Webhooks whose handler does what a test says, and all that they handled and reported. */
export function receiverOn(
  options: WebhooksOptions,
  behave: (orderId: string, context: EventContext) => unknown = () => {},
) {
  const handled: string[] = [];
  const contexts = new Map<string, EventContext>();
  const reports: DeliveryReport[] = [];
  const webhooks = createWebhooks({
    credentials,
    onError: () => {},
    onDelivery: (report) => reports.push(report),
    ...options,
  }).onAny(async ({ partner_order_id: id }, context) => {
    if (typeof id !== 'string') return;
    contexts.set(id, context);
    await behave(id, context);
    handled.push(id);
  });
  return { webhooks, handled, contexts, reports };
}

/** Resolves once this holds: writers and readers wait for workers. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isTrue()); tries++) {
    if (tries === 1_500) throw new Error('It did not happen within 15 seconds.');
    // real time: looks again until it is there.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
