import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import { hmacHex, signedText } from '../support/bodies.ts';

/** A generation of keys of one partner. */
export function generation(name: string | number): PartnerCredentials {
  return {
    partnerPublicKey: `pk_partner_${name}`,
    partnerSecretKey: `sk_partner_${name}`,
    merchantSecretKey: `sk_merchant_${name}`,
    partnerId: 'P-1',
  };
}

/** An event signed with the keys of a generation. */
export function eventSignedBy(name: string | number, partner_order_id = 'A-1'): string {
  const text = JSON.stringify({ event_name: 'event.test', partner_order_id });
  return signedText(text, hmacHex(text, `sk_merchant_${name}sk_partner_${name}`));
}

/** A promise that a test settles. */
export function deferred<Value>() {
  return Promise.withResolvers<Value>();
}
