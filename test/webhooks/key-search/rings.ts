import type { PartnerCredentials } from '../../../src/credentials/partner-credentials.ts';
import type { JsonObject } from '../../../src/json/json-value.ts';
import type { DeliveryReport } from '../../../src/webhooks/delivery-report.ts';
import type { WebhooksOptions } from '../../../src/webhooks/webhooks-options.ts';
import { buyInitBody } from '../../support/bodies.ts';
import { delivery, quietWebhooks } from '../deliveries.ts';

/** One partner with so many merchants, each named after its currency: F0, F1, … */
export function merchants(count: number, generation = 1): PartnerCredentials {
  return {
    partnerPublicKey: `pk_partner_${generation}`,
    partnerSecretKey: `sk_partner_${generation}`,
    merchantSecretKeys: Object.fromEntries(
      Array.from({ length: count }, (_, place) => [`F${place}`, `sk_merchant_${place}`]),
    ),
    partnerId: 'P-1',
  };
}

/** The same keys, of which nobody says whose they are. */
export function namelessKeys(count: number): string[] {
  return Array.from({ length: count }, (_, place) => keyOf(place));
}

export const keyOf = (place: number, generation = 1) => `sk_merchant_${place}sk_partner_${generation}`;

/** An event of the merchant whose key has this place. */
export function eventOf(place: number, members: JsonObject = {}, generation = 1): string {
  return delivery(bodyOf(place, members), keyOf(place, generation));
}

/** The same, signed by nobody. */
export function forgedOf(place: number, members: JsonObject = {}): string {
  return delivery(bodyOf(place, members), 'nobody');
}

function bodyOf(place: number, members: JsonObject): JsonObject {
  return buyInitBody({ fiat_currency: `F${place}`, pair: `F${place}/USDT`, ...members });
}

/** An event signed by nobody. */
export const forged = (members: JsonObject = {}) => delivery(buyInitBody(members), 'nobody');

/** Webhooks with a clock of the test, and what they report. */
export function searchingWebhooks(keysPerSecond: number, options: WebhooksOptions) {
  const clock = { ms: 0 };
  const reports: DeliveryReport[] = [];
  const handled: string[] = [];
  const webhooks = quietWebhooks({
    keySearch: { keysPerSecond, now: () => clock.ms },
    onDelivery: (report) => reports.push(report),
    ...options,
  }).onAny((event, { key }) => {
    handled.push(`${event.partner_order_id} by ${key.merchant ?? key.index}`);
  });
  return { webhooks, clock, reports, handled };
}

/** Takes what there is of the budget for searches, for everybody and for the sender that this body names. */
export async function exhaust(
  { webhooks }: Pick<ReturnType<typeof searchingWebhooks>, 'webhooks'>,
  body: string,
) {
  for (let tries = 0; tries < 1000; tries++) {
    if ((await webhooks.receive(body)).kind === 'unverified') return;
  }
  throw new Error('There is always budget left.');
}
