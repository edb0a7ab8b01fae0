import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import type { OrderEvent } from '../../src/events/order-event.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { hmacHex, orderKey, signedText } from '../support/bodies.ts';

/** Credentials whose order key is `orderKey`. */
export const credentials: PartnerCredentials = {
  partnerPublicKey: 'pk_partner_test1',
  partnerSecretKey: 'sk_partner_test1',
  merchantSecretKey: 'sk_merchant_test1',
};

/** The text of a body without its signature member: what the service signs. */
export function unsignedText({ signature: _, ...unsigned }: JsonObject): string {
  return JSON.stringify(unsigned);
}

/** A delivery as the service posts it. */
export function delivery(body: JsonObject, key = orderKey): string {
  const text = unsignedText(body);
  return signedText(text, hmacHex(text, key));
}

/** Webhooks for `credentials` whose handler failures go nowhere, unless a test wants them. */
export function quietWebhooks(options: WebhooksOptions = {}) {
  return createWebhooks({ credentials, onError: () => {}, ...options });
}

/** Webhooks, and the events they have handled. */
export function recordingWebhooks(options: WebhooksOptions = {}) {
  const events: OrderEvent[] = [];
  const webhooks = quietWebhooks(options).onAny((event) => {
    events.push(event);
  });
  return { events, webhooks };
}

/** A promise and the function that fulfils it: how tests wait for an exact moment. */
export function gate(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
