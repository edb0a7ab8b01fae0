import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../../src/client/exchange-client.ts';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import { type OrderScenario, orderScenarios } from '../../../src/devtools/sandbox/service/order-scenarios.ts';
import { isRequestError } from '../../../src/errors/errors.ts';
import { applyEvent, emptyTimeline, type OrderTimeline } from '../../../src/events/order-timeline.ts';
import { createWebhooks, type Webhooks } from '../../../src/webhooks/create-webhooks.ts';
import { planFaults } from '../../support/fault-rates.ts';
import { hostileFaults } from '../../support/hostile-faults.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { onboarded, order } from './support.ts';

/** Scenarios whose events all come. */
const scenarios = Object.keys(orderScenarios).filter((name) => name !== 'events_lost');

/** Orders under everything at once, until nothing is outstanding. */
async function session(seed: number) {
  let webhooks: Webhooks | undefined;
  const sandbox = createSandbox({
    seed,
    clock: 'manual',
    callbackRetry: { maxAttempts: 10 },
    fetch: async (input, init) =>
      (await webhooks?.fetch(new Request(input, init))) ?? new Response(null, { status: 404 }),
  });
  const credentials = await onboarded(sandbox);
  const timelines = new Map<string, OrderTimeline>();
  const effects = new Map<string, number>();
  const failed = new Set<string>();
  const { deployment, fetch } = sandbox;
  webhooks = createWebhooks({ credentials, deployment, onRefused: () => {}, onError: () => {} })
    .onAny(async (event, { digest }) => {
      await nextTurn();
      // Fails the first time for one event in four: the service has to bring it again.
      if (digest < '4' && !failed.has(digest)) {
        failed.add(digest);
        throw new Error('not yet');
      }
      effects.set(digest, (effects.get(digest) ?? 0) + 1);
      const id = event.partner_order_id ?? '';
      timelines.set(id, applyEvent(timelines.get(id) ?? emptyTimeline(id), event));
    })
    .onUnrecognized(() => {});
  const exchange = new ExchangeClient({
    deployment,
    credentials,
    fetch,
    retry: { firstDelayMs: 1, maxDelayMs: 2 },
  });
  // A pause in a reply would wait for a clock that nobody moves meanwhile.
  planFaults(sandbox.faults, hostileFaults);
  sandbox.faults.plan('request', 'trickle', { rate: 0 });
  const told = new Map<string, string>();
  for (let index = 0; index < 12; index++) {
    const partner_order_id = `A-${index}`;
    const outcome = await exchange.createOrder({ ...order, partner_order_id }).then(
      () => 'created',
      (error: unknown) => (isRequestError(error) ? error.outcome : String(error)),
    );
    told.set(partner_order_id, outcome);
  }
  for (const { partner_order_id } of sandbox.orders) {
    const scenario = scenarios[Number(partner_order_id.slice(2)) % scenarios.length] ?? 'happy';
    // Sound: the names are those of the table.
    await sandbox.play(partner_order_id, scenario as OrderScenario);
  }
  await sandbox.idle();
  await sandbox.clock.drain();
  await sandbox.idle();
  return { sandbox, timelines, effects, told };
}

describe('under everything at once', () => {
  it.each(Array.from({ length: 8 }, (_, seed) => [seed]))(
    'no event is lost or handled twice, with seed %d',
    async (seed) => {
      const { sandbox, timelines, effects, told } = await session(seed);
      const report = sandbox.trace.text({ last: 1000 });
      expect([...timelines.keys()].sort(), report).toEqual(
        sandbox.orders.map(({ partner_order_id }) => partner_order_id).sort(),
      );
      expect(
        [...effects.values()].every((count) => count === 1),
        report,
      ).toBe(true);
      for (const { partner_order_id } of sandbox.orders) {
        const genuine = sandbox.deliveries.filter(
          (one) =>
            one.partner_order_id === partner_order_id &&
            !one.faults.some((fault) => ['forged', 'tampered', 'unfamiliar_name'].includes(fault)),
        );
        expect(
          genuine.every(({ attempts }) => attempts > 0),
          report,
        ).toBe(true);
        const names = new Set(genuine.map(({ name }) => name));
        expect(new Set(timelines.get(partner_order_id)?.seen), report).toEqual(names);
      }
      // What the client was told holds: no order where it was refused, one where it was created.
      for (const [id, outcome] of told) {
        const exists = timelines.has(id);
        if (outcome === 'created') expect(exists, `${id} ${report}`).toBe(true);
        if (outcome === 'not-sent') expect(exists, `${id} ${report}`).toBe(false);
      }
    },
  );
});
