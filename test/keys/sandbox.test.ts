import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import type { Sandbox } from '../../src/devtools/sandbox/sandbox.ts';
import { isRequestError } from '../../src/errors/errors.ts';
import { createKeyRotation, type KeyRotation } from '../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import { order, partner } from '../devtools/sandbox/support.ts';

/**
 * The service, and a partner with two processes, each with a ring of its own over one storage: one creates orders, the
 * other receives events, and gives what it could not verify to its webhooks once more when it has the new keys.
 */
async function setUp(oldKeysExpire: 'request' | 'link') {
  const clock = { time: 1_700_000_000_000 };
  const now = () => clock.time;
  const sandbox: Sandbox = createSandbox({
    oldKeysExpire,
    now,
    fetch: async (input, init) => await webhooks.fetch(new Request(input, init)),
  });
  const { deployment } = sandbox;
  const statuses: number[] = [];
  const fetch = async (request: Request) => {
    const response = await sandbox.fetch(request);
    statuses.push(response.status);
    return response;
  };
  const storage = storedKeys({ store: memoryStore({ now }) });
  const ring = createKeyRing({ load: () => rotation.credentials(), now });
  const exchange = new ExchangeClient({ deployment, credentials: ring, fetch, now, maxAttempts: 1 });
  const rotation: KeyRotation = createKeyRotation({ exchange, storage, now });

  const receiverRotation = createKeyRotation({ storage, now });
  const receiverRing = createKeyRing({ load: receiverRotation.credentials, now });
  const handled: string[] = [];
  const refused: (string | Uint8Array)[] = [];
  const webhooks = createWebhooks({
    deployment,
    credentials: receiverRing,
    onRefused: ({ rawBody }) => refused.push(rawBody),
  }).onAny((event) => {
    handled.push(`${event.partner_order_id} ${event.event_name}`);
  });

  await exchange.onboard(partner);
  await rotation.receive(sandbox.openLink(sandbox.emails.at(-1)?.link ?? ''));
  await exchange.whitelistIp();
  let orders = 0;
  return {
    ...{ sandbox, clock, ring, rotation, receiverRing, webhooks, handled, refused, statuses },
    /** Creates an order, as a program does that goes on after a refusal: with the same order, later. */
    async place(): Promise<'created' | 'refused'> {
      try {
        await exchange.createOrder({ ...order, partner_order_id: `A-${orders + 1}` });
        orders += 1;
        return 'created';
      } catch (error) {
        if (isRequestError(error) && error.outcome === 'refused') return 'refused';
        throw error;
      } finally {
        await sandbox.idle();
      }
    },
    openLink: () => sandbox.openLink(sandbox.emails.at(-1)?.link ?? ''),
    /** After the cool-down of the rings, which never end by themselves here. */
    coolDown() {
      clock.time += 30_000;
    },
  };
}

/** Whether every order has one init event that was handled, and no order is there twice. */
function expectNothingLost({ sandbox, handled }: Awaited<ReturnType<typeof setUp>>, orders: number): void {
  expect(sandbox.orders.map(({ partner_order_id }) => partner_order_id)).toEqual(
    Array.from({ length: orders }, (_, index) => `A-${index + 1}`),
  );
  expect(handled.filter((name) => name.endsWith('event.buy.init')).sort()).toEqual(
    Array.from({ length: orders }, (_, index) => `A-${index + 1} event.buy.init`).sort(),
  );
}

describe.each(['request', 'link'] as const)('old keys that die at the %s', (oldKeysExpire) => {
  it('lose no order and no event, whatever happens between the steps of a rotation', async () => {
    const world = await setUp(oldKeysExpire);
    const { sandbox, rotation, receiverRing, ring, refused, webhooks, coolDown } = world;
    expect(await world.place()).toBe('created');

    await rotation.request(partner);
    // A refused order may be sent again: nobody has acted on it.
    const whileAwaited = await world.place();
    expect(whileAwaited).toBe(oldKeysExpire === 'request' ? 'refused' : 'created');
    const keys = world.openLink();
    expect(await world.place()).toBe('refused');
    // An event of an order from before, signed with the keys that nobody here knows yet.
    await sandbox.advance('A-1', 'fiat_received');
    expect(refused.length).toBeGreaterThan(0);

    await rotation.receive(keys);
    coolDown();
    expect(await world.place()).toBe('created');
    // What was refused meanwhile.
    await receiverRing.reload();
    for (const body of refused.splice(0)) expect((await webhooks.receive(body)).status).toBe(200);

    await rotation.promote();
    expect(await world.place()).toBe('created');
    await ring.reload();
    expect(await world.place()).toBe('created');
    expect((await rotation.status()).step).toBe('idle');

    expectNothingLost(world, sandbox.orders.length);
    expect(world.handled).toContain('A-1 event.buy.received.fiat');
    // An event that was signed before the rotation comes once more, to a receiver that has read the keys anew.
    await receiverRing.reload();
    const old = sandbox.deliveries.find(({ name }) => name === 'event.buy.init');
    expect((await sandbox.redeliver(old?.id ?? '')).status).toBe(200);
    expectNothingLost(world, sandbox.orders.length);
  });
});
