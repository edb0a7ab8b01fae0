import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { DeliveryReport } from '../../src/webhooks/receive-outcome.ts';
import { buyInitBody } from '../support/bodies.ts';
import { nextTurn } from '../support/next-turn.ts';
import { delivery, gate, quietWebhooks } from './deliveries.ts';
import { rawConnection, send, serve } from './http/server.ts';
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

  it('reports the status of every answer', async () => {
    const { reports, webhooks } = observed();
    await post(webhooks, { body: sent });
    await post(webhooks, { body: sent.replace('A-1001', 'A-1002') });
    await post(webhooks, { body: '' });
    expect(reports.map(({ outcome, status, code }) => [outcome, status, code])).toEqual([
      ['ignored', 200, undefined],
      ['refused', 401, 'signature_mismatch'],
      ['refused', 400, 'body_not_json'],
    ]);
  });
});

describe('onDelivery, over node:http', () => {
  it('reports a body that does not arrive, with how long it was waited for', async () => {
    // real time: nothing ends before it: a busy machine only makes it later.
    const { reports, webhooks } = observed({ bodyTimeoutMs: 50 });
    await using server = await serve(webhooks.node);
    const connection = rawConnection(server.port);
    await connection.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{');
    await connection.received().catch(() => {});
    expect(reports).toEqual([refusal(408, 'body_timeout')]);
    expect(reports[0]?.durationMs).toBeGreaterThan(40);
  });

  it('reports a body that is broken off', async () => {
    const { reports, told, webhooks } = observed();
    const begun = gate();
    await using server = await serve((request, response) => {
      begun.open();
      return webhooks.node(request, response);
    });
    const connection = rawConnection(server.port);
    await connection.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{');
    await begun.opened;
    connection.abort();
    await told;
    await nextTurn();
    expect(reports).toEqual([refusal(400, 'body_unreadable')]);
  });

  it('reports a body that something else has parsed', async () => {
    const { reports, webhooks } = observed();
    await using server = await serve((request, response) => {
      request.resume().on('end', () => webhooks.node(Object.assign(request, { body: {} }), response));
    });
    expect((await send(server.port, { body: sent })).status).toBe(500);
    expect(reports).toEqual([refusal(500, 'raw_body_required')]);
  });
});

describe('onDelivery, over Request objects', () => {
  it('reports a body that is broken off', async () => {
    const { reports, webhooks } = observed();
    const body = new ReadableStream({
      pull: (controller) => controller.error(new Error('connection reset')),
    });
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' };
    await webhooks.fetch(new Request('https://partner.example/callback', init));
    expect(reports).toEqual([refusal(400, 'body_unreadable')]);
  });
});
