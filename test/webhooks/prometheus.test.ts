import { expect, it } from 'vitest';
import { prometheus } from '../../examples/support/prometheus.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import { credentials } from './deliveries.ts';

it('the health of an inbox is a text of Prometheus with the example, beside what the callbacks counted', async () => {
  const { onDelivery, text } = prometheus();
  const inbox = storeInbox({ store: memoryStore(), role: 'receiver' });
  const webhooks = createWebhooks({ credentials, inbox, onDelivery });
  await webhooks.receive('{"signature":"no","a\\"b":1}');
  onDelivery({ stage: 'handle', outcome: 'failed', code: 'handler_failed', attempt: 1, durationMs: 1_500 });
  onDelivery({ stage: 'handle', outcome: 'failed', code: 'handler_failed', attempt: 2, durationMs: 500 });
  const lines = text({ inbox: await inbox.health(), orders: { unknown: 2, oldestAgeMs: null } }).split('\n');
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
