import { createHmac } from 'node:crypto';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Inbox, InboxHost } from '../../src/inbox/inbox.ts';
import { canonicalText } from '../../src/signature/serializations.ts';
import { defaultScheme, type SignatureScheme, schemeParts } from '../../src/signature/signature-scheme.ts';
import type { EventContext } from '../../src/webhooks/handlers.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { buyInitBody, orderKey, signedText } from '../support/bodies.ts';
import { delivery, quietWebhooks, unsignedText } from './deliveries.ts';

/** The context that a handler of either kind gets, at once or from an inbox that handles later. */
const ways: Record<string, (options: WebhooksOptions, body: string) => Promise<EventContext>> = {
  'before it is acknowledged': (options, body) => contextOf(options, body, async () => {}),
  async 'after it was stored'(options, body) {
    let host: InboxHost | undefined;
    let handleLater = async (): Promise<unknown> => undefined;
    const inbox: Inbox = {
      attach: (given) => {
        host = given;
      },
      receive: async (stored) => {
        handleLater = async () => host?.handle(stored);
        return 'stored';
      },
    };
    return await contextOf({ ...options, inbox }, body, () => handleLater());
  },
};

async function contextOf(
  options: WebhooksOptions,
  body: string,
  after: () => Promise<unknown>,
): Promise<EventContext> {
  const contexts: EventContext[] = [];
  const keep = (_: unknown, context: EventContext) => {
    contexts.push(context);
  };
  const outcome = await quietWebhooks(options).onAny(keep).onUnrecognized(keep).receive(body);
  expect(outcome.status).toBe(200);
  await after();
  const [context] = contexts;
  if (context === undefined) throw new Error('No handler was called.');
  return context;
}

describe.each(Object.entries(ways))('a delivery that is handled %s', (_, contextFor) => {
  const text = `{"amount":15000.10,"deep":[{"fee": 1e2}],${unsignedText(buyInitBody()).slice(1)}`;

  it.each(schemeParts.serialization)(
    'has its numbers as they were written, under %s',
    async (serialization) => {
      const scheme: SignatureScheme = { ...defaultScheme, serialization };
      const canonical = canonicalText(scheme, { json: text, value: JSON.parse(text) });
      const signature = createHmac('sha512', orderKey).update(canonical).digest('hex');
      const { decimal } = await contextFor(
        { deployment: { signature: scheme, wireNames: {} } },
        signedText(text, signature),
      );
      expect(decimal('amount')).toBe('15000.10');
      expect(decimal(['deep', 0, 'fee'])).toBe('100');
      expect(decimal('signature')).toBeUndefined();
      expect(decimal([])).toBeUndefined();
      expect(decimal([0])).toBeUndefined();
    },
  );

  it.each(['compact', 'sorted', 'base64-compact', 'base64-sorted'] as const)(
    'has no number of thousands of digits that somebody wrote into a signed event, under %s',
    async (serialization) => {
      const scheme: SignatureScheme = { ...defaultScheme, serialization };
      const canonical = canonicalText(scheme, { json: text, value: JSON.parse(text) });
      const signature = createHmac('sha512', orderKey).update(canonical).digest('hex');
      const rewritten = text.replace('15000.10', `15000.1${'0'.repeat(20_000)}`);
      const options = { deployment: { signature: scheme, wireNames: {} } };
      const { body, decimal } = await contextFor(options, signedText(rewritten, signature));
      expect(body).toMatchObject({ amount: 15000.1 });
      expect(decimal('amount')).toBeUndefined();
    },
  );

  describe('in a deployment with names of its own', () => {
    const options = {
      deployment: { signature: defaultScheme, wireNames: { platform_order_ref: 'acme_ref' } },
    };

    it('has the published names in the body and in decimal', async () => {
      const sent = delivery({ event_name: 'x', acme_ref: 5.5, inner: { platform_order_ref: 7 } });
      const { body, decimal } = await contextFor(options, sent);
      expect(body).toMatchObject({ platform_order_ref: 5.5 });
      expect(body).not.toHaveProperty('acme_ref');
      expect(decimal('platform_order_ref')).toBe('5.5');
      expect(decimal(['platform_order_ref'])).toBe('5.5');
      expect(decimal(['inner', 'platform_order_ref'])).toBe('7');
    });

    it('keeps both names apart where both were sent', async () => {
      const { body, decimal } = await contextFor(
        options,
        delivery({ event_name: 'x', acme_ref: 5.5, platform_order_ref: 7.5 }),
      );
      expect(body).toMatchObject({ platform_order_ref: 7.5, acme_ref: 5.5 });
      expect([decimal('platform_order_ref'), decimal('acme_ref')]).toEqual(['7.5', '5.5']);
    });
  });
});

describe('a member that decimal reads', () => {
  it('has to be one of the event, so that a misspelt one does not compile', () => {
    quietWebhooks()
      .on('event.buy.credited.crypto', (_, { decimal }) => {
        decimal('crypto_amount_to_receive');
        // @ts-expect-error
        decimal('crypto_amount_to_recieve');
        // Of a member that the type does not have.
        decimal(['acme_fee']);
      })
      .on('buy.event.close', (_, { decimal }) => {
        decimal(['meta_data', 'fee']);
        // @ts-expect-error a member of another event
        decimal('kyc_error_type');
      })
      .onAny((_, { decimal }) => {
        decimal('fiat_amount_to_pay');
        // @ts-expect-error
        decimal('fiat_amount');
      })
      .onUnrecognized((_, { decimal }) => decimal('fiat_amount'));
    const own = (context: EventContext) => context.decimal('fiat_amount');
    expectTypeOf(own).returns.toEqualTypeOf<string | undefined>();
  });
});
