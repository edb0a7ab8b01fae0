/**
 * For the operator who follows an order through several processes: one OpenTelemetry trace from `createOrder` to the
 * handler of its event, over a durable inbox. `support/connect-traces.ts` makes spans of the tracing channels.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { context, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { ExchangeClient } from 'partner-exchange-sdk';
import { sqliteInbox } from 'partner-exchange-sdk/inbox';
import { createSandbox } from 'partner-exchange-sdk/sandbox';
import { createWebhooks, type Webhooks } from 'partner-exchange-sdk/webhooks';
import { connectTraces, contextManager, traceparentOf } from './support/connect-traces.ts';

// Yours has an exporter that sends, for example to a collector.
const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
context.setGlobalContextManager(contextManager);
const tracer = provider.getTracer('partner-exchange-sdk');
connectTraces(tracer);

let webhooks: Webhooks | undefined;
const sandbox = createSandbox({
  // The sandbox posts its event from within the call. It passes the trace on, as any traced service does.
  async fetch(input, init) {
    const request = new Request(input, init);
    const span = trace.getActiveSpan();
    if (span !== undefined) request.headers.set('traceparent', traceparentOf(span));
    return (await webhooks?.fetch(request)) ?? new Response(null, { status: 404 });
  },
});
const { deployment, fetch } = sandbox;
await new ExchangeClient({ deployment, fetch }).onboard({ partner_code: 'acme', email: 'dev@acme.example' });
const credentials = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');

const folder = mkdtempSync(join(tmpdir(), 'observe-traces-'));
const inbox = sqliteInbox({ path: join(folder, 'inbox.sqlite') });
webhooks = createWebhooks({ credentials, deployment, inbox }).onAny(async () => {
  // A span of your own, in the handler.
  await tracer.startActiveSpan('ship', async (span) => span.end());
});
const exchange = new ExchangeClient({ deployment, credentials, fetch });
await exchange.whitelistIp();
exporter.reset();

await tracer.startActiveSpan('checkout', async (span) => {
  await exchange.createOrder({
    partner_order_id: 'A-1',
    fiat_amount: '15000.50',
    fiat_currency: 'NGN',
    chain: 'usdt-trc20',
    buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
    partner_callback_url: 'https://partner.example/orders',
  });
  span.end();
});
await sandbox.idle();
while ((await inbox.counts()).open > 0) await pause(20);
await inbox.stop();
rmSync(folder, { recursive: true });

const spans = exporter.getFinishedSpans();
const path = (id: string | undefined): string[] => {
  const span = spans.find((one) => one.spanContext().spanId === id);
  return span === undefined ? [] : [...path(span.parentSpanContext?.spanId), span.name];
};
for (const span of spans) console.log(path(span.spanContext().spanId).join(' > '), span.attributes);

assert.equal(new Set(spans.map((span) => span.spanContext().traceId)).size, 1);
const shipped = spans.find(({ name }) => name === 'ship');
const handled = 'handle event.buy.init';
assert.deepEqual(path(shipped?.spanContext().spanId), [
  'checkout',
  'createOrder',
  'receive event',
  handled,
  'ship',
]);
