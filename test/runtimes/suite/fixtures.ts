import type { ManagedInbox } from 'partner-exchange-sdk/inbox';
import { type JsonObject, signBody, signingKey } from 'partner-exchange-sdk/signature';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';
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

export const order = {
  partner_order_id: 'A-1001',
  fiat_amount: '15000.50',
  fiat_currency: 'NGN',
  chain: 'usdt-trc20',
  buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  partner_callback_url: 'https://partner.example/orders',
};

/** Webhooks on an inbox, the orders that they were called for, and those whose handler is to fail. */
export function receiverOn(inbox: ManagedInbox) {
  const calls: string[] = [];
  const failing = new Set<string>();
  const webhooks = createWebhooks({ credentials, inbox, onError: () => {} }).on(
    'event.buy.init',
    ({ partner_order_id }) => {
      calls.push(partner_order_id);
      if (failing.has(partner_order_id)) throw new Error('down');
    },
  );
  return { inbox, webhooks, calls, failing };
}

/** Waits until it holds; fails when that takes too long. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    if (tries === 1_000) throw new Error(`waited in vain: ${what}`);
    // real time: looks again until it is there.
    await sleep(10);
  }
}

export function sleep(ms: number): Promise<void> {
  // real time: its callers say why.
  return new Promise((resolve) => setTimeout(resolve, ms));
}
