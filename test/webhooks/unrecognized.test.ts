import { describe, expect, it, vi } from 'vitest';
import type { UnrecognizedEvent } from '../../src/events/parse-order-event.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import type { EventContext } from '../../src/webhooks/handlers.ts';
import { buyCreditedBody, buyInitBody } from '../support/bodies.ts';
import { credentials, delivery, quietWebhooks } from './deliveries.ts';
import { warningsDuring } from './warnings.ts';

const sellBody = { event_name: 'event.sell.init', anything: [1, { b: null }] };

/** What onUnrecognized is called with for an authentic body. */
async function unrecognized(body: JsonObject): Promise<{ event: UnrecognizedEvent; context: EventContext }> {
  const calls: { event: UnrecognizedEvent; context: EventContext }[] = [];
  const webhooks = quietWebhooks()
    .onAny(() => expect.unreachable('a handler of published events was called'))
    .onUnrecognized((event, context) => {
      calls.push({ event, context });
    });
  expect(await webhooks.receive(delivery(body))).toMatchObject({ kind: 'handled', status: 200 });
  const [call] = calls;
  if (call === undefined || calls.length !== 1) throw new Error(`Called ${calls.length} times, not once.`);
  return call;
}

describe('onUnrecognized', () => {
  it('receives an authentic event of an unknown name, whole', async () => {
    const { event } = await unrecognized(sellBody);
    expect(event).toMatchObject({ kind: 'unknown', name: 'event.sell.init', body: sellBody });
  });

  it('receives a published event without its shape, and where it differs', async () => {
    const { event } = await unrecognized(buyInitBody({ fiat_amount_to_pay: 'much', crypto_txn_hash: '0x1' }));
    expect(event).toMatchObject({ kind: 'nonconforming', name: 'event.buy.init' });
    const paths = event.kind === 'nonconforming' ? event.issues.map(({ path }) => path.join('.')) : [];
    expect(paths.toSorted()).toEqual(['crypto_txn_hash', 'fiat_amount_to_pay']);
    expect(event.body.fiat_amount_to_pay).toBe('much');
  });

  it('does not receive what is not authentic', async () => {
    const webhooks = quietWebhooks().onUnrecognized(() => expect.unreachable('called for a forgery'));
    expect(await webhooks.receive(delivery(sellBody, 'other'))).toMatchObject({ status: 401 });
  });
});

describe('without onUnrecognized', () => {
  it('an unknown event is answered 500 each time, with the reason, and one warning', async () => {
    const webhooks = quietWebhooks().onAny(() => {});
    const warnings = await warningsDuring(async () => {
      for (let order = 1; order <= 3; order++) {
        const sent = delivery({ ...sellBody, partner_order_id: `A-${order}` });
        const outcome = await webhooks.receive(sent);
        expect(outcome).toMatchObject({ kind: 'unrecognized', status: 500, name: 'event.sell.init' });
        expect(outcome).toMatchObject({
          error: { name: 'InboxError', code: 'event_unrecognized', assumptions: ['other-events'] },
        });
      }
      await webhooks.receive(delivery({ event_name: 'event.sell.close' }));
    });
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^An authentic "event\.sell\.init".*other-events.*onUnrecognized/),
      expect.stringMatching(/^An authentic "event\.sell\.close"/),
    ]);
  });

  it.each<[string, JsonObject, string, string]>([
    [
      'a missing bank',
      { payer_into_account: { account_name: 'A', account_number: '1' } },
      'payer_into_account.bank_name',
      'event-shape',
    ],
    [
      'a status that the contract does not know',
      { crypto_payment_status: 'SETTLED' },
      'crypto_payment_status',
      'terminal-crypto-status',
    ],
  ])(
    'a published event with %s is answered 500 and says what differs, without its value',
    async (_, members, path, row) => {
      const webhooks = quietWebhooks().on('event.buy.credited.crypto', () => expect.unreachable('called'));
      await warningsDuring(async () => {
        const outcome = await webhooks.receive(delivery(buyCreditedBody(members)));
        expect(outcome).toMatchObject({ kind: 'unrecognized', error: { assumptions: [row] } });
        expect(String('error' in outcome && outcome.error)).toContain(path);
        expect(String('error' in outcome && outcome.error)).not.toContain('SETTLED');
      });
    },
  );

  it('neither onDelivery nor onError calls it a failed handler', async () => {
    const [onDelivery, onError] = [vi.fn(), vi.fn()];
    await warningsDuring(() =>
      createWebhooks({ credentials, onDelivery, onError }).receive(delivery(sellBody)),
    );
    expect(onDelivery.mock.calls).toMatchObject([
      [{ stage: 'receive', outcome: 'unrecognized', status: 500 }],
    ]);
    expect(onError).not.toHaveBeenCalled();
  });

  it('warnings stop after a hundred names, and events are still not acknowledged', async () => {
    const webhooks = quietWebhooks();
    const warnings = await warningsDuring(async () => {
      for (let index = 0; index < 150; index++) {
        expect(await webhooks.receive(delivery({ event_name: `made.up.${index}` }))).toMatchObject({
          kind: 'unrecognized',
        });
      }
    });
    expect(warnings).toHaveLength(100);
  });

  it('what is printed of a name holds nothing that a terminal obeys or the eye does not see', async () => {
    const event_name = `a\u001b[2J\u009b2J\u2028\u202eb${'x'.repeat(10_000)}`;
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    try {
      const failing = createWebhooks({ credentials }).onUnrecognized(() => Promise.reject(new Error('no')));
      await failing.receive(delivery({ event_name }));
      const warnings = await warningsDuring(() =>
        quietWebhooks()
          .onAny(() => {})
          .receive(delivery({ event_name })),
      );
      const printed = [logged.mock.calls[0]?.[0], warnings[0]?.message].map(String);
      for (const text of printed) {
        expect(text).toContain('"a');
        expect(text).not.toMatch(/[\p{Cc}\p{Cf}\u2028]/u);
        expect(text.length).toBeLessThan(500);
      }
    } finally {
      logged.mockRestore();
    }
  });
});

describe("onUnrecognized('ignore')", () => {
  it('acknowledges events of other names without a warning', async () => {
    const webhooks = quietWebhooks().onUnrecognized('ignore');
    const warnings = await warningsDuring(async () => {
      expect(await webhooks.receive(delivery(sellBody))).toMatchObject({ kind: 'ignored', status: 200 });
    });
    expect(warnings).toEqual([]);
  });

  it.each<[string, JsonObject]>([
    ['a published event that cannot be read', buyCreditedBody({ chain: 7 })],
    ['an event without a name', { partner_order_id: 'A-1' }],
  ])('does not mute %s', async (_, body) => {
    await warningsDuring(async () => {
      const outcome = await quietWebhooks().onUnrecognized('ignore').receive(delivery(body));
      expect(outcome).toMatchObject({ kind: 'unrecognized', status: 500 });
    });
  });
});
