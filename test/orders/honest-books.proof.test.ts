import { expect, it } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import { orderScenarios } from '../../src/devtools/sandbox/service/order-scenarios.ts';
import { seededRandom } from '../../src/devtools/sandbox/settings/seeded-random.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import { times } from '../support/repeat.ts';
import { order } from './service.ts';

const hour = 3_600_000;

/** From EIP-55. */
const evmAddress = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

/** Everything that a service may do with the events of an order, and still be right. */
const harmless = [
  'duplicate',
  'concurrent_duplicate',
  'before_reply',
  'extra_members',
  'awkward_spelling',
] as const;

/** The scenarios after which `reconcile` has something to say. */
const findable = ['credited_then_closed', 'refunded_then_credited', 'events_lost'];
const honest = Object.entries(orderScenarios).filter(([name]) => !findable.includes(name));

const books = times(100, 1_000);

/** Two partners over one store, whose orders share two addresses. */
async function playBook(seed: string) {
  const random = seededRandom(seed, 'book');
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random.fraction() * items.length)];
    if (item === undefined) throw new Error('Nothing to pick from.');
    return item;
  };
  const clock = { now: 1_700_000_000_000 };
  const receivers = new Map<string, ReturnType<typeof createWebhooks>>();
  const sandbox = createSandbox({
    seed,
    whitelist: 'off',
    fetch: async (input, init) => {
      const request = new Request(input, init);
      return (
        (await receivers.get(new URL(request.url).pathname)?.fetch(request)) ??
        new Response(null, { status: 404 })
      );
    },
  });
  const { deployment, fetch, faults } = sandbox;
  const store = memoryStore({ now: () => clock.now });
  const found: unknown[] = [];
  let events = 0;
  for (const name of ['acme', 'other']) {
    await new ExchangeClient({ deployment, fetch }).onboard({
      partner_code: name,
      email: `dev@${name}.example`,
    });
    const { link = '' } = sandbox.emails.at(-1) ?? {};
    const credentials = sandbox.openLink(link);
    const exchange = new ExchangeClient({ deployment, fetch, credentials });
    const journal = createOrderJournal({ exchange, store, prefix: `${name}:`, now: () => clock.now });
    receivers.set(
      `/${name}`,
      createWebhooks({ credentials, deployment }).onAny(async (event, context) => {
        events++;
        await journal.observe(event, context);
      }),
    );
    const ids = Array.from(
      { length: 1 + Math.floor(random.fraction() * 4) },
      (_, index) => `${name}-${index}`,
    );
    for (const id of ids) {
      const chain = pick(['usdt-trc20', 'usdc-matic']);
      const address =
        chain === 'usdt-trc20' ? order.buyer_crypto_address : pick([evmAddress, evmAddress.toLowerCase()]);
      if (random.chance(0.5)) faults.plan('event.buy.init', pick(harmless));
      await journal.create({
        ...order,
        partner_order_id: id,
        chain,
        buyer_crypto_address: address,
        fiat_amount: pick(['15000.50', '1', '0.10', '250000', '99999999.99']),
        partner_callback_url: `https://partner.example/${name}`,
      });
      clock.now += Math.floor(random.fraction() * hour);
    }
    await sandbox.idle();
    for (const id of ids) {
      const [scenario] = pick(honest);
      for (const event of [
        'event.buy.received.fiat',
        'event.buy.credited.crypto',
        'buy.event.close',
      ] as const)
        if (random.chance(0.3)) faults.plan(event, pick(harmless));
      // Sound: the keys of the table.
      await sandbox.play(id, scenario as keyof typeof orderScenarios);
      faults.clear();
      clock.now += Math.floor(random.fraction() * hour);
    }
    await sandbox.idle();
    clock.now += 2 * hour;
    for await (const finding of journal.reconcile({ since: 0 })) found.push(finding);
    const statement = ids.map((id) => ({ id }));
    for await (const finding of journal.reconcile({ since: 0, statement })) found.push(finding);
  }
  return { found, events };
}

it(`reconcile finds nothing in ${books} honest books`, { timeout: 300_000 }, async () => {
  let events = 0;
  for (let index = 0; index < books; index++) {
    const book = await playBook(`honest ${index}`);
    expect({ index, found: book.found }).toEqual({ index, found: [] });
    events += book.events;
  }
  // Each order has at least an event of its beginning, of its payment and of its end.
  expect(events).toBeGreaterThan(3 * 2 * books);
});
