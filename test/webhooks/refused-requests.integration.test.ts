import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { DeliveryReport } from '../../src/webhooks/receive-outcome.ts';
import { buyInitBody } from '../support/bodies.ts';
import { delivery, gate, quietWebhooks } from './deliveries.ts';
import { describeTransports } from './http/transports.ts';

const sent = delivery(buyInitBody());

function observed(options: { maxBodyBytes?: number; bodyTimeoutMs?: number } = {}) {
  const reports: DeliveryReport[] = [];
  const told = gate();
  const onDelivery = (report: DeliveryReport) => {
    reports.push(report);
    told.open();
  };
  return { reports, told: told.opened, webhooks: quietWebhooks({ onDelivery, ...options }) };
}

function refusal(status: number, code: string) {
  return { stage: 'receive', outcome: 'refused', status, code, durationMs: expect.any(Number) };
}

describeTransports('onDelivery', (post) => {
  it('reports what is refused without a look at its signature, once', async () => {
    const { reports, webhooks } = observed({ maxBodyBytes: 2_000 });
    await post(webhooks, { method: 'GET' });
    await post(webhooks, { method: 'HEAD' });
    await post(webhooks, { headers: { 'content-encoding': 'gzip' }, body: gzipSync(sent) });
    await post(webhooks, { body: 'x'.repeat(2_001) });
    await post(webhooks, { body: [Buffer.alloc(1_500, ' '), Buffer.alloc(1_500, ' ')] });
    expect(reports).toEqual([
      refusal(405, 'method_not_allowed'),
      refusal(405, 'method_not_allowed'),
      refusal(415, 'unsupported_media_type'),
      refusal(413, 'body_too_large'),
      refusal(413, 'body_too_large'),
    ]);
  });
});
