import { describe, expect, expectTypeOf, it } from 'vitest';
import { orderEventNames } from '../../src/events/event-names.ts';
import type {
  BuyCloseEvent,
  BuyCreditedEvent,
  BuyFiatReceivedEvent,
  BuyInitEvent,
  BuyKycErrorEvent,
  BuyThirdPartyErrorEvent,
} from '../../src/events/event-types.ts';
import type { OrderEvent } from '../../src/events/order-event.ts';
import type { UnrecognizedEvent } from '../../src/events/parse-order-event.ts';
import type { Webhooks } from '../../src/webhooks/create-webhooks.ts';
import { buyInitBody, eventBodies } from '../support/bodies.ts';
import { thrownBy } from '../support/refusal.ts';
import { delivery, quietWebhooks } from './deliveries.ts';

const noop = () => {};

describe('each published event', () => {
  it.each(orderEventNames)('%s reaches its own handler, and no other', async (name) => {
    const calls: string[] = [];
    const webhooks = quietWebhooks();
    for (const registered of orderEventNames) {
      webhooks.on(registered, (event) => {
        calls.push(`${registered} got ${event.event_name}`);
      });
    }
    webhooks.onUnrecognized(() => {
      calls.push('unrecognized');
    });
    expect(await webhooks.receive(delivery(eventBodies[name]()))).toMatchObject({ kind: 'handled', name });
    expect(calls).toEqual([`${name} got ${name}`]);
  });

  it('does not reach the handler of its name when onAny failed', async () => {
    let own = 0;
    const webhooks = quietWebhooks()
      .on('event.buy.init', () => {
        own++;
      })
      .onAny(() => {
        throw new Error('no');
      });
    expect(await webhooks.receive(delivery(buyInitBody()))).toMatchObject({ kind: 'failed' });
    expect(own).toBe(0);
  });
});

describe('the type of a handled event', () => {
  it('is that of its name', () => {
    quietWebhooks()
      .on('event.buy.init', (event) => {
        expectTypeOf(event).toEqualTypeOf<BuyInitEvent>();
        expectTypeOf(event.crypto_txn_hash).toEqualTypeOf<null>();
      })
      .on('event.buy.received.fiat', (event) => {
        expectTypeOf(event).toEqualTypeOf<BuyFiatReceivedEvent>();
      })
      .on('event.buy.received.fiat_kyc_error', (event) => {
        expectTypeOf(event).toEqualTypeOf<BuyKycErrorEvent>();
        expectTypeOf(event.default_kyc_url).toEqualTypeOf<string | null>();
      })
      .on('event.buy.third_party_error', (event) => {
        expectTypeOf(event).toEqualTypeOf<BuyThirdPartyErrorEvent>();
      })
      .on('event.buy.credited.crypto', (event) => {
        expectTypeOf(event).toEqualTypeOf<BuyCreditedEvent>();
        expectTypeOf(event.crypto_txn_hash).toEqualTypeOf<string>();
      })
      .on('buy.event.close', (event, context) => {
        expectTypeOf(event).toEqualTypeOf<BuyCloseEvent>();
        expectTypeOf(event.exchange_rate).toEqualTypeOf<string>();
        expectTypeOf(event.meta_data.fee).toEqualTypeOf<number>();
        expectTypeOf(context.key.merchant).toEqualTypeOf<string | undefined>();
        expectTypeOf(context.decimal('fiat_amount_to_pay')).toEqualTypeOf<string | undefined>();
      })
      .onAny((event) => {
        expectTypeOf(event).toEqualTypeOf<OrderEvent>();
      })
      .onUnrecognized((event) => {
        expectTypeOf(event).toEqualTypeOf<UnrecognizedEvent>();
        expectTypeOf(event.kind).toEqualTypeOf<'unknown' | 'nonconforming'>();
      });
  });

  it('makes a misspelt name a compile error', () => {
    // @ts-expect-error the close event is named the other way round
    expect(() => quietWebhooks().on('event.buy.close', () => {})).toThrow();
  });

  it('makes a member that the event does not have a compile error, and reachable in the body', async () => {
    let kept: unknown;
    const webhooks = quietWebhooks().on('event.buy.init', (event, { body }) => {
      // @ts-expect-error only the close event has it
      expect(event.meta_data).toEqual({ note: 'kept' });
      kept = body.meta_data;
    });
    const text = delivery({ ...buyInitBody(), meta_data: { note: 'kept' } });
    expect((await webhooks.receive(text)).kind).toBe('handled');
    expect(kept).toEqual({ note: 'kept' });
  });
});

describe('a registration is refused', () => {
  it.each<[string, (webhooks: Webhooks) => unknown]>([
    ["on('event.buy.init')", (webhooks) => webhooks.on('event.buy.init', noop).on('event.buy.init', noop)],
    ['onAny', (webhooks) => webhooks.onAny(noop).onAny(noop)],
    ['onUnrecognized', (webhooks) => webhooks.onUnrecognized(noop).onUnrecognized(noop)],
  ])('when %s was called before, and the error names it', (registration, register) => {
    const error = thrownBy(() => register(quietWebhooks()));
    expect(error).toMatchObject({ name: 'ConfigurationError', code: 'duplicate_handler' });
    expect(String(error)).toContain(`${registration} is registered twice.`);
  });

  it.each([undefined, null, 'handler', {}, 5])('when its handler is %s', (handler) => {
    const wrong = handler as unknown as () => void;
    const webhooks = quietWebhooks();
    for (const register of [
      () => webhooks.on('event.buy.init', wrong),
      () => webhooks.onAny(wrong),
      () => webhooks.onUnrecognized(wrong),
    ])
      expect(thrownBy(register)).toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining(' needs a function.'),
      });
  });

  it.each(['event.buy.error', '', 'constructor', '__proto__', undefined, Symbol('event'), {}])(
    'when no published event is named %s, and the message says where others go',
    (name) => {
      const error = thrownBy(() => quietWebhooks().on(name as 'event.buy.init', noop));
      expect(error).toMatchObject({ code: 'invalid_option', assumptions: ['other-events'] });
      expect(String(error)).toContain(`"${String(name)}" is not a published event.`);
      expect(String(error)).toContain('onUnrecognized');
    },
  );
});
