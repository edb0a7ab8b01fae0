/** What the service does, for the examples: it signs order events. */
import { eventBody, type OrderEvent, signedDelivery } from 'partner-exchange-sdk/testing';

export const credentials = {
  partnerPublicKey: 'pk_partner_demo',
  partnerSecretKey: 'sk_partner_demo',
  merchantSecretKey: 'sk_merchant_demo',
};

export const credited = eventBody('event.buy.credited.crypto', { partner_order_id: 'A-1001' });

/** The body of a signed event as it comes over the wire: by default the crediting of order A-1001. */
export function signedEvent(event: OrderEvent = credited): string {
  return signedDelivery(event, { credentials }).body;
}
