/** To take into your project: what `onDelivery` reports, and what is in the inbox, as OpenTelemetry metrics. */
import type { Attributes, Meter } from '@opentelemetry/api';
import { orderEventNames } from 'partner-exchange-sdk/events';
import type { ManagedInbox } from 'partner-exchange-sdk/inbox';
import type { DeliveryReport } from 'partner-exchange-sdk/webhooks';

/** Makes the instruments; what it returns is the `onDelivery` that feeds them. */
export function deliveryMetrics(meter: Meter, inbox: ManagedInbox): (report: DeliveryReport) => void {
  const deliveries = meter.createCounter('partner_exchange.deliveries', { unit: '{delivery}' });
  const duration = meter.createHistogram('partner_exchange.delivery.duration', {
    unit: 's',
    // From a forgery that is refused to a handler that is cut off after its 60 seconds.
    advice: { explicitBucketBoundaries: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] },
  });
  const waiting = meter.createHistogram('partner_exchange.inbox.wait_time', {
    unit: 's',
    // From a handler that is free at once to an attempt hours later.
    advice: { explicitBucketBoundaries: [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 900, 3600, 14_400] },
  });
  const attempts = meter.createHistogram('partner_exchange.inbox.attempts', {
    unit: '{attempt}',
    advice: { explicitBucketBoundaries: [1, 2, 3, 4, 5, 6, 7, 8] },
  });
  observeCounts(meter, inbox);

  return (report) => {
    const attributes = attributesOf(report);
    const { outcome, durationMs, waitedMs, attempt } = report;
    deliveries.add(1, attributes);
    if (durationMs !== undefined) duration.record(durationMs / 1000, attributes);
    if (waitedMs !== undefined) waiting.record(waitedMs / 1000, attributes);
    // How many it took in the end.
    if (attempt !== undefined && outcome !== 'failed') attempts.record(attempt, attributes);
  };
}

function observeCounts(meter: Meter, inbox: ManagedInbox): void {
  const failures = meter.createCounter('partner_exchange.inbox.count_failures', { unit: '{failure}' });
  // Not to be added up: all processes that share a store count the same deliveries.
  const gauge = meter.createObservableGauge('partner_exchange.inbox.deliveries', { unit: '{delivery}' });
  gauge.addCallback(async (result) => {
    try {
      const { open, dead } = await inbox.counts();
      result.observe(open, { 'partner_exchange.inbox.state': 'open' });
      result.observe(dead, { 'partner_exchange.inbox.state': 'dead' });
    } catch {
      // The SDK goes on exporting the last counts: this says that they are old.
      failures.add(1);
    }
  });
}

/**
 * The labels: a conventional name where there is one. Each combination is a time series for good, so only what has
 * few values, and never the digest.
 */
function attributesOf({ stage, outcome, name, code }: DeliveryReport): Attributes {
  const attributes: Attributes = { 'partner_exchange.stage': stage, 'partner_exchange.outcome': outcome };
  if (name !== undefined) {
    // An authentic event may have any name.
    const published = orderEventNames.some((known) => known === name);
    attributes['partner_exchange.event.name'] = published ? name : 'other';
  }
  if (code !== undefined) attributes['error.type'] = code;
  return attributes;
}
