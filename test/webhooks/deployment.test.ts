import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type DeploymentOptions, defineDeployment } from '../../src/deployment/define-deployment.ts';
import type { OrderEvent } from '../../src/events/order-event.ts';
import { defaultScheme } from '../../src/signature/signature-scheme.ts';
import { buyCreditedBody, buyInitBody, orderKey } from '../support/bodies.ts';
import { delivery, quietWebhooks } from './deliveries.ts';

function deployment(options: Partial<DeploymentOptions>) {
  return defineDeployment({
    onboardingBaseUrl: 'https://onboarding.example',
    stagingUrl: 'https://staging.example',
    messengerBaseUrl: 'https://messenger.example',
    ...options,
  });
}

describe('a deployment with a status of its own', () => {
  it('has its credit handled with the published status, and no other', async () => {
    const eventStatuses = { 'event.buy.credited.crypto': { crypto_payment_status: ['SETTLED'] } };
    const seen: unknown[] = [];
    const webhooks = quietWebhooks({ deployment: deployment({ eventStatuses }) }).on(
      'event.buy.credited.crypto',
      (event, { body }) => void seen.push([event.crypto_payment_status, body.crypto_payment_status]),
    );
    const credited = (status: string) => delivery(buyCreditedBody({ crypto_payment_status: status }));
    expect(await webhooks.receive(credited('SETTLED'))).toMatchObject({ kind: 'handled' });
    expect(await webhooks.receive(credited('FAILED'))).toMatchObject({ kind: 'unrecognized', status: 500 });
    expect(seen).toEqual([['PAID', 'SETTLED']]);
  });
});

describe('a deployment that signs the sorted text', () => {
  const options = { deployment: deployment({ signature: { ...defaultScheme, serialization: 'sorted' } }) };
  const text = '{"amount":10,"event_name":"event.sell.init"}';
  const signature = createHmac('sha512', orderKey).update(text).digest('hex');

  it('may send it in any order and spelling, and all of these are one delivery', async () => {
    let calls = 0;
    const webhooks = quietWebhooks(options).onUnrecognized(() => {
      calls++;
    });
    for (const sent of [
      `{"event_name":"event.sell.init","signature":"${signature}","amount":10.0}`,
      `{ "amount" : 1e1, "event_name" : "event.sell.init", "signature" : "${signature}" }`,
    ]) {
      expect(await webhooks.receive(sent)).toMatchObject({ status: 200 });
    }
    expect(calls).toBe(1);
  });
});

describe('a deployment with names of its own', () => {
  const options = { deployment: deployment({ wireNames: { platform_order_ref: 'acme_order_ref' } }) };
  const { platform_order_ref, ...rest } = buyInitBody();
  const own = { ...rest, acme_order_ref: 'ref-9' };

  async function handled(body: Parameters<typeof delivery>[0]): Promise<OrderEvent> {
    let seen: OrderEvent | undefined;
    const webhooks = quietWebhooks(options).onAny((event) => {
      seen = event;
    });
    expect(await webhooks.receive(delivery(body))).toMatchObject({ kind: 'handled' });
    if (seen === undefined) throw new Error('No handler was called.');
    return seen;
  }

  it('loses neither when it sends both', async () => {
    const event = await handled({ ...own, platform_order_ref: 'ref-8' });
    expect(event).toMatchObject({ platform_order_ref: 'ref-8', acme_order_ref: 'ref-9' });
  });
});
