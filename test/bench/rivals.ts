import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';

/** What another package does with a signed delivery: checks it and parses it. It narrows nothing. */
export interface Rival {
  readonly name: string;
  readonly receive: (payload: string | Buffer) => unknown;
}

const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const id = 'msg_bench';

/** Signs the payload for each of them with its own header, now: they refuse what is older than five minutes. */
export function rivalsFor(payload: string): Rival[] {
  const now = new Date();
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const { webhooks } = new Stripe('sk_test_bench');
  const stripeHeader = webhooks.generateTestHeaderString({ payload, secret });
  const svix = new SvixWebhook(secret);
  const svixHeaders = {
    'svix-id': id,
    'svix-timestamp': timestamp,
    'svix-signature': svix.sign(id, now, payload),
  };
  const standard = new StandardWebhook(secret);
  const standardHeaders = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': standard.sign(id, now, payload),
  };
  return [
    { name: 'stripe', receive: (body) => webhooks.constructEvent(body, stripeHeader, secret) },
    {
      name: 'svix',
      receive: (body) => {
        svix.verify(body, svixHeaders);
        // Its verify returns nothing and leaves the parsing to the caller.
        return JSON.parse(body.toString());
      },
    },
    { name: 'standardwebhooks', receive: (body) => standard.verify(body, standardHeaders) },
  ];
}
