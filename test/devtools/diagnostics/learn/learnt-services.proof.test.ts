import { expect, it } from 'vitest';
import { ExchangeClient } from '../../../../src/client/exchange-client.ts';
import { type Deployment, defineDeployment } from '../../../../src/deployment/define-deployment.ts';
import { learn } from '../../../../src/devtools/diagnostics/learn/learn-from-samples.ts';
import { createOrderJournal } from '../../../../src/orders/order-journal.ts';
import { memoryStore } from '../../../../src/store/memory-store.ts';
import { createWebhooks } from '../../../../src/webhooks/create-webhooks.ts';
import { drawService, type ServiceDimension, serviceDimensions } from '../../../drawn/draw-service.ts';
import { partnerCredentials } from '../../../drawn/partner.ts';
import type { ServiceOptions } from '../../../drawn/service-traits.ts';
import { times } from '../../../support/repeat.ts';
import { order } from '../../sandbox/support.ts';
import { capture, serviceOf } from './capture.ts';

/** What a deployment file can settle, and what needs no setting. The rest needs a path, a function or a person. */
const learnable: readonly ServiceDimension[] = [
  ...(['construction', 'serialization', 'encoding', 'orderKey', 'keySeparator', 'wireNames'] as const),
  ...(['replies', 'replyStatus', 'duplicateOrders', 'oldKeys'] as const),
  ...(['extraMembers', 'repetition', 'callbackRetry', 'spelling', 'amounts'] as const),
];

/** An order from start to end: what became of it, and which events were handled. */
async function trade(options: ServiceOptions, learnt: Partial<Deployment<unknown>> | object) {
  const handled: string[] = [];
  let refused = 0;
  const sandbox = serviceOf({ ...options, whitelist: 'off' }, async (_, init) => {
    const { status } = await webhooks.receive(String(init?.body));
    // A repetition while the first is handled is answered 503.
    if (status !== 200 && status !== 503) refused++;
    return new Response(null, { status });
  });
  const { onboardingBaseUrl } = sandbox.deployment;
  const deployment = defineDeployment({ learnt, onboardingBaseUrl });
  const exchange = new ExchangeClient({
    deployment,
    credentials: partnerCredentials,
    fetch: sandbox.fetch,
    now: () => sandbox.clock.now(),
  });
  const journal = createOrderJournal({ exchange, store: memoryStore(), now: () => sandbox.clock.now() });
  const webhooks = createWebhooks({ credentials: partnerCredentials, deployment }).onAny(
    async (event, context) => {
      await journal.observe(event, context);
      if (!handled.includes(event.event_name)) handled.push(event.event_name);
    },
  );
  const created = await journal.create(order);
  const reply = created.error === undefined ? created.order.evidence : Object(created.error).outcome;
  await sandbox.idle();
  for (const step of ['fiat_received', 'credited'] as const) {
    await sandbox.advance(order.partner_order_id, step).catch(() => {});
    await sandbox.idle();
  }
  const state = (await journal.get(order.partner_order_id))?.state;
  await sandbox.close();
  return { reply, state, handled, refused };
}

const whole = {
  reply: 'reply',
  state: 'accepted',
  handled: ['event.buy.init', 'event.buy.received.fiat', 'event.buy.credited.crypto'],
  refused: 0,
};

it('client, journal and receiver work against drawn services with the file alone that was learnt of each', async () => {
  const outcomes: object[] = [];
  let failedBefore = 0;
  for (let seed = 0; seed < times(5, 20); seed++) {
    const asDocumented = serviceDimensions.filter((dimension) => !learnable.includes(dimension));
    const { options, differences } = drawService(`learnt ${seed}`, { asDocumented });
    const { deliveries, replies } = await capture(options, { days: 4 });
    const { file } = await learn({ deliveries, replies, credentials: partnerCredentials });
    const before = await trade(options, { format: file.format, overrides: [], rows: [] });
    if (JSON.stringify(before) !== JSON.stringify(whole)) failedBefore++;
    const after = await trade(options, JSON.parse(JSON.stringify(file)));
    if (JSON.stringify(after) !== JSON.stringify(whole)) outcomes.push({ seed, differences, after });
  }
  expect(outcomes).toEqual([]);
  // Otherwise there was nothing to learn.
  expect(failedBefore).toBeGreaterThan(times(2, 10));
}, 120_000);
