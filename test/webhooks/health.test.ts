import { expect, it } from 'vitest';
import { prometheus } from '../../examples/support/prometheus.ts';
import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import { buyInitBody } from '../support/bodies.ts';
import { credentials, delivery, quietWebhooks } from './deliveries.ts';

const nothing = { open: 0, dead: 0, quarantined: 0, oldestAgeMs: null };

it('knows nothing of keys and inbox without a ring and an inbox', async () => {
  const webhooks = createWebhooks({ credentials });
  expect(await webhooks.health()).toEqual({ lastEventAgeMs: null, keys: null, inbox: null });
});

it('has the age of the last authentic event, which a forgery does not change', async () => {
  const webhooks = quietWebhooks({ inbox: storeInbox({ store: memoryStore(), role: 'receiver' }) });
  const startedAt = performance.now();
  await webhooks.receive(delivery(buyInitBody(), 'forged'));
  expect((await webhooks.health()).lastEventAgeMs).toBeNull();
  await webhooks.receive(delivery(buyInitBody()));
  const { lastEventAgeMs, inbox } = await webhooks.health();
  expect(lastEventAgeMs).toBeGreaterThanOrEqual(0);
  expect(lastEventAgeMs).toBeLessThanOrEqual(performance.now() - startedAt + 1);
  expect(inbox).toMatchObject({ open: 1, dead: 0, quarantined: 0 });
});

it('has the age of the keys of a ring, and says when they cannot be read and when new ones are awaited', async () => {
  const clock = { now: 1_000 };
  let isDown = false;
  const ring = createKeyRing({
    load: () => {
      if (isDown) throw new Error('down');
      return { signing: credentials, verifying: [credentials], awaited: true };
    },
    now: () => clock.now,
    onError: () => {},
  });
  const webhooks = createWebhooks({ credentials: ring });
  const keys = async () => (await webhooks.health()).keys;
  expect(await keys()).toEqual({ ageMs: null, isFailing: false, isAwaiting: false });
  await ring.reload();
  clock.now += 7_000;
  expect(await keys()).toEqual({ ageMs: 7_000, isFailing: false, isAwaiting: true });
  isDown = true;
  await ring.reload().catch(() => {});
  expect(await keys()).toEqual({ ageMs: 7_000, isFailing: true, isAwaiting: true });
});

it('rejects while the store of the inbox does not answer', async () => {
  const store = memoryStore();
  const down = { ...store, list: () => Promise.reject(new Error('down')) };
  const webhooks = createWebhooks({ credentials, inbox: storeInbox({ store: down, role: 'receiver' }) });
  await expect(webhooks.health()).rejects.toMatchObject({ code: 'store_unavailable' });
});

it('is a text of Prometheus with the example, beside what the callbacks counted', async () => {
  const { onDelivery, text } = prometheus();
  const inbox = storeInbox({ store: memoryStore(), role: 'receiver' });
  const webhooks = createWebhooks({ credentials, inbox, onDelivery });
  expect(await inbox.health()).toEqual(nothing);
  await webhooks.receive('{"signature":"no","a\\"b":1}');
  onDelivery({ stage: 'handle', outcome: 'failed', code: 'handler_failed', attempt: 1, durationMs: 1_500 });
  onDelivery({ stage: 'handle', outcome: 'failed', code: 'handler_failed', attempt: 2, durationMs: 500 });
  const lines = text({ ...(await webhooks.health()), orders: { unknown: 2, oldestAgeMs: null } }).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      '# TYPE partner_exchange_inbox_open gauge',
      'partner_exchange_inbox_open 0',
      'partner_exchange_orders_unknown 2',
      '# TYPE partner_exchange_deliveries_total counter',
      'partner_exchange_deliveries_total{stage="handle",outcome="failed",code="handler_failed"} 2',
      'partner_exchange_delivery_seconds_total{stage="handle",outcome="failed"} 2',
    ]),
  );
  // What nobody knows is no figure.
  expect(lines.filter((line) => line.includes('oldest_age_ms'))).toEqual([]);
  for (const line of lines.filter((one) => one !== '' && !one.startsWith('# TYPE ')))
    expect(line).toMatch(/^[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?\d+(\.\d+)?(e-?\d+)?$/);
});
