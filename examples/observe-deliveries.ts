/**
 * For the operator of a webhook handler: every delivery in OpenTelemetry metrics, with its outcome, its duration and its
 * wait in the inbox. The instruments are in `support/delivery-metrics.ts`.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { sqliteInbox } from 'partner-exchange-sdk/inbox';
import { signBody, signingKey } from 'partner-exchange-sdk/signature';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import { deliveryMetrics } from './support/delivery-metrics.ts';
import { credentials, signedEvent } from './support/signed-events.ts';

// Yours has an exporter that sends, for example to a collector.
const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const provider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
const meter = provider.getMeter('partner-exchange-sdk');

const folder = mkdtempSync(join(tmpdir(), 'observe-deliveries-'));
const inbox = sqliteInbox({
  path: join(folder, 'inbox.sqlite'),
  maxAttempts: 2,
  retry: { firstDelayMs: 50 },
});
const onDelivery = deliveryMetrics(meter, inbox);
const webhooks = createWebhooks({ credentials, inbox, onDelivery, onError: () => {} })
  .on('event.buy.credited.crypto', () => {})
  .on('event.buy.third_party_error', () => Promise.reject(new Error('the mail server is down')));

// What the service would post, and what somebody else would.
const credited = signedEvent();
const failing = signed('event.buy.third_party_error');
const unknown = [signed('event.sell.init'), signed(`event.${Date.now()}`)];
const forged = credited.replace('A-1001', 'A-1002');
for (const body of [credited, credited, failing, ...unknown, forged, '{}']) await webhooks.receive(body);
while ((await inbox.counts()).open > 0) await pause(20);

await provider.forceFlush();
const deliveries = totals('partner_exchange.deliveries');
for (const [labels, count] of Object.entries(deliveries).sort()) console.log(labels.padEnd(48), count);

const received = {
  'receive stored event.buy.credited.crypto': 1,
  'receive duplicate event.buy.credited.crypto': 1,
  'receive stored event.buy.third_party_error': 1,
  'receive stored other': 2,
  'receive refused signature_mismatch': 1,
  'receive refused signature_missing': 1,
};
const retried = { 'handle failed event.buy.third_party_error handler_failed': 1 };
const done = {
  'handle handled event.buy.credited.crypto': 1,
  // A dead letter each, for a person to read: no handler takes another name.
  'handle unrecognized other event_unrecognized': 2,
  'handle dead event.buy.third_party_error handler_failed': 1,
};
assert.deepEqual(deliveries, { ...received, ...retried, ...done });
assert.deepEqual(totals('partner_exchange.delivery.duration'), deliveries);
assert.deepEqual(totals('partner_exchange.inbox.wait_time'), { ...retried, ...done });
assert.deepEqual(totals('partner_exchange.inbox.attempts'), done);
assert.deepEqual(totals('partner_exchange.inbox.deliveries'), { open: 0, dead: 3 });

// The inbox first, so that the last export has what its handlers did; it cannot be counted any more.
await inbox.stop();
await provider.shutdown();
assert.deepEqual(totals('partner_exchange.deliveries'), deliveries);
assert.deepEqual(totals('partner_exchange.inbox.count_failures'), { '': 1 });
rmSync(folder, { recursive: true });

function signed(name: string): string {
  return signBody({ event_name: name }, { key: signingKey(credentials, 'order') }).text;
}

/** The counts of the newest export, by labels. */
function totals(instrument: string): Record<string, number> {
  const metrics = exporter
    .getMetrics()
    .at(-1)
    ?.scopeMetrics.flatMap((scope) => scope.metrics);
  const counts: Record<string, number> = {};
  for (const point of metrics?.find(({ descriptor }) => descriptor.name === instrument)?.dataPoints ?? []) {
    const { attributes, value } = point;
    counts[Object.values(attributes).join(' ')] = typeof value === 'number' ? value : value.count;
  }
  return counts;
}
