import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { buyInitBody, hmacHex, signedText } from '../support/bodies.ts';
import { credentials, delivery, quietWebhooks, unsignedText } from './deliveries.ts';

const order = (id: string) => delivery(buyInitBody({ partner_order_id: id }));

/** Webhooks, and the orders they have handled. */
function counting(options: WebhooksOptions = {}) {
  const handled: string[] = [];
  const webhooks = quietWebhooks(options).on('event.buy.init', (event) => {
    handled.push(event.partner_order_id);
  });
  return { handled, webhooks };
}

describe('a delivery that comes again', () => {
  it('is handled once, however often', async () => {
    const { handled, webhooks } = counting();
    for (let time = 0; time < 5; time++) await webhooks.receive(order('A'));
    expect(handled).toEqual(['A']);
  });

  it('is a duplicate though it is signed with the other generation of keys', async () => {
    const renewed = { ...credentials, merchantSecretKey: 'sk_merchant_new' };
    const { handled, webhooks } = counting({ credentials: [renewed, credentials] });
    const body = buyInitBody({ partner_order_id: 'A' });
    const first = await webhooks.receive(delivery(body));
    const second = await webhooks.receive(delivery(body, 'sk_merchant_newsk_partner_test1'));
    expect([first, second]).toMatchObject([
      { kind: 'handled', key: { index: 1 } },
      { kind: 'duplicate', key: { index: 0 } },
    ]);
    expect(handled).toEqual(['A']);
  });

  it('is a duplicate signed with the white space around it, and without', async () => {
    const { handled, webhooks } = counting();
    const text = unsignedText(buyInitBody({ partner_order_id: 'A' }));
    const bodies = [`${text}\n`, `\uFEFF${text}`, text].map((signed) => {
      const [before = '', behind = ''] = signed.split(text);
      return `${before}${signedText(text, hmacHex(signed))}${behind}`;
    });
    const kinds = [];
    for (const body of bodies) kinds.push((await webhooks.receive(body)).kind);
    expect(kinds).toEqual(['handled', 'duplicate', 'duplicate']);
    expect(handled).toEqual(['A']);
  });

  it('is a duplicate for 30 days, and then handled again', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { webhooks } = counting();
    await webhooks.receive(order('A'));
    vi.setSystemTime(Date.now() + 30 * 86_400_000 - 1);
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    vi.setSystemTime(Date.now() + 1);
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'handled' });
  });

  it('of which a hundred come at once is handled once, and the others are told to come again', async () => {
    const { handled, webhooks } = counting();
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => webhooks.receive(order('A'))));
    expect(outcomes.filter(({ kind }) => kind === 'handled')).toHaveLength(1);
    expect(outcomes.every(({ kind }) => ['handled', 'busy', 'duplicate'].includes(kind))).toBe(true);
    expect(handled).toEqual(['A']);
  });
});

describe('the digest of a delivery', () => {
  it('stays what it has always been, so that a stored one is found again', async () => {
    const text = '{"event_name":"event.buy.third_party_error","partner_order_id":"A-1"}';
    const outcome = await quietWebhooks().receive(signedText(text));
    // No partner is named, so its length is 0: printf 0:%s "$text" | sha256sum
    expect(outcome).toHaveProperty(
      'digest',
      'a3bc4a719482b6684c51254a991586fb52864270165b751a4fa5fcaa3f4fb2c5',
    );
  });
});

describe('the memory', () => {
  it('knows the newest 10,000 deliveries, and no more than twice as many', async () => {
    const { webhooks } = counting();
    const ids = Array.from({ length: 20_001 }, (_, index) => `order ${index}`);
    for (const id of ids) await webhooks.receive(order(id));
    expect(await webhooks.receive(order('order 10001'))).toMatchObject({ kind: 'duplicate' });
    expect(await webhooks.receive(order('order 0'))).toMatchObject({ kind: 'handled' });
  });
});
