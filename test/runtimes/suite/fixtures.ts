import { type JsonObject, signBody, signingKey } from 'partner-exchange-sdk/signature';
import { buyInitBody } from '../../support/bodies.ts';

export const credentials = {
  partnerPublicKey: 'pk_partner_run',
  partnerSecretKey: 'sk_partner_run',
  merchantSecretKey: 'sk_merchant_run',
};

/** The text of a signed event, as the service posts it. */
export function delivery(members: JsonObject = {}): string {
  const { signature: _, ...event } = buyInitBody(members);
  return signBody(event, { key: signingKey(credentials, 'order') }).text;
}

/** Waits until it holds; fails when that takes too long. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    if (tries === 1_000) throw new Error(`waited in vain: ${what}`);
    await sleep(10);
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
