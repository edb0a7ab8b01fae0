import { describe, expect, it, onTestFinished } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import type { Sandbox } from '../../src/devtools/sandbox/sandbox.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { sleep } from '../../src/internal/backoff.ts';
import { createKeyRotation, type KeyRotation } from '../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import { order, partner } from '../devtools/sandbox/support.ts';
import { storeKinds } from '../store/store-kinds.ts';
import { some } from '../support/repeat.ts';

const rotations = 10;
const ordersAtOnce = 4;
const lastSteps = ['fiat_received', 'credited'] as const;

/** Of the clock that only the test moves: nothing here is late on a slow machine. */
const longMs = 10 * 86_400_000;
// real time: the pace of orders, which nothing waits for.
const pace = (_: number, signal: AbortSignal) => sleep(20, signal);

/** A service that posts each event once, and a partner with two replicas and an operator, each with a ring of its own. */
async function setUp(open: (now: () => number) => RecordStore, { oldKeysExpire, status }: Service) {
  const clock = { now: 1_700_000_000_000 };
  const now = () => clock.now;
  const store = open(now);
  const storage = storedKeys({ store });
  let posts = 0;
  const answers: number[] = [];
  const sandbox: Sandbox = createSandbox({
    ...{ oldKeysExpire, now, whitelist: 'off', duplicateOrders: 'second', callbackRetry: { maxAttempts: 1 } },
    reply: (reply, operation) =>
      operation === 'createOrder' && reply.status === 401 ? { ...reply, status } : reply,
    async fetch(input, init) {
      const replica = replicas[posts++ % replicas.length];
      const answer = (await replica?.webhooks.fetch(new Request(input, init))) ?? expect.unreachable();
      answers.push(answer.status);
      return answer;
    },
  });
  const { deployment, fetch } = sandbox;
  const handled: string[] = [];
  const handedOver: string[] = [];

  function startReplica() {
    const ring = createKeyRing({ load: createKeyRotation({ storage, now }).credentials, now });
    const exchange = new ExchangeClient({ deployment, credentials: ring, fetch, maxAttempts: 1 });
    const journal = createOrderJournal({ exchange, store, leaseMs: longMs, now });
    const inbox = storeInbox({ store, timeLimitMs: 86_400_000, now, sleep: pace });
    const webhooks = createWebhooks({ deployment, credentials: ring, inbox }).onAny(
      async (event, context) => {
        await journal.observe(event, context);
        handled.push(`${event.partner_order_id} ${event.event_name}`);
      },
    );
    const loop = journal.start({
      load: ({ partner_order_id }) => ({ ...order, partner_order_id }),
      onUnknown: ({ partner_order_id }, reason) => handedOver.push(`${partner_order_id} ${reason}`),
      onError: () => {},
      maxAgeMs: longMs,
      sleep: pace,
    });
    onTestFinished(async () => {
      await loop.stop();
      await inbox.stop();
    });
    return { journal, webhooks };
  }

  const ring = createKeyRing({ load: () => rotation.credentials(), now });
  const exchange = new ExchangeClient({ deployment, credentials: ring, fetch, maxAttempts: 1 });
  const rotation: KeyRotation = createKeyRotation({ exchange, storage, now });
  const openLink = () => sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
  await exchange.onboard(partner);
  await rotation.receive(openLink());
  const replicas = [startReplica(), startReplica()];
  return { sandbox, clock, rotation, ring, openLink, replicas, handled, handedOver, answers };
}

interface Service {
  readonly oldKeysExpire: 'request' | 'link';
  /** Its answer to an order under dead keys. */
  readonly status: 401 | 403;
}

const services: Service[] = [
  { oldKeysExpire: 'request', status: 403 },
  { oldKeysExpire: 'request', status: 401 },
  { oldKeysExpire: 'link', status: 401 },
  { oldKeysExpire: 'link', status: 403 },
];
const durable = storeKinds().filter(({ name }) => name === 'sqliteStore' || name === 'postgresStore');
const table = some(
  durable.flatMap((kind) => services.map((service) => ({ ...kind, ...service }))),
  4,
);

describe('ten rotations under load, for two replicas and a service that posts each event once', () => {
  it.each(table)(
    'lose no order and no event: $name, old keys die at the $oldKeysExpire, $status',
    async ({ open, ...service }) => {
      const world = await setUp(open, service);
      const { sandbox, clock, rotation, ring, replicas, handled, answers } = world;
      const ordered: string[] = [];
      const states: string[] = [];
      const advanced = new Map<string, number>();

      async function placeOrder(): Promise<void> {
        const partner_order_id = `A-${ordered.length}`;
        ordered.push(partner_order_id);
        const replica = replicas[ordered.length % replicas.length];
        const result = await replica?.journal.create({ ...order, partner_order_id });
        states.push(result?.state ?? '');
      }

      /** Moves some orders on, each by one step, and posts its event. */
      async function advance(most: number): Promise<void> {
        const stepOf = (ref: string) => lastSteps[advanced.get(ref) ?? 0];
        const refs = sandbox.orders.map(({ platform_order_ref }) => platform_order_ref);
        const moving = refs.filter((ref) => stepOf(ref) !== undefined).slice(0, most);
        await Promise.all(
          moving.map(async (ref) => {
            const step = stepOf(ref) ?? expect.unreachable();
            advanced.set(ref, (advanced.get(ref) ?? 0) + 1);
            await sandbox.advance(ref, step);
          }),
        );
      }

      /** Orders and events meet each step of a rotation while it is taken, and afterwards. */
      async function during(step?: () => unknown): Promise<void> {
        const orders = Array.from({ length: ordersAtOnce }, placeOrder);
        await Promise.all([step?.(), ...orders, advance(ordersAtOnce)]);
        await Promise.all([placeOrder(), advance(ordersAtOnce)]);
        // Within the cool-down of a ring, mostly.
        clock.now += 700;
      }

      for (let round = 0; round < rotations; round++) {
        await during(() => rotation.request(partner));
        let keys: ReturnType<typeof world.openLink> | undefined;
        await during(() => {
          keys = world.openLink();
        });
        await during(() => keys && rotation.receive(keys));
        await during(async () => {
          await rotation.promote();
          await ring.reload();
        });
        clock.now += 5_000;
      }

      const patient = { timeout: 60_000, interval: 50 };
      const unsettled = async () => {
        clock.now += 1_000;
        return await replicas[0]?.journal.unsettled();
      };
      await expect.poll(unsettled, patient).toEqual([]);
      expect(sandbox.orders.map(({ partner_order_id }) => partner_order_id).toSorted()).toEqual(
        ordered.toSorted(),
      );
      for (const id of ordered) {
        const known = await replicas[1]?.journal.get(id);
        expect(known).toMatchObject({ state: 'accepted' });
        expect(known?.contradiction).toBeUndefined();
      }
      expect(world.handedOver).toEqual([]);

      for (const _ of lastSteps) await advance(ordered.length);
      await sandbox.idle();
      const sent = sandbox.deliveries.map(({ partner_order_id, name }) => `${partner_order_id} ${name}`);
      expect(sent).toHaveLength(ordered.length * (1 + lastSteps.length));
      await expect.poll(() => new Set(handled).size, patient).toBe(sent.length);
      expect(handled.toSorted()).toEqual(sent.toSorted());
      // The rotations were felt: orders had to wait, and events came before their keys.
      expect(new Set(states)).toEqual(new Set(['accepted', 'waiting']));
      expect(new Set(answers)).toEqual(new Set([200, 503]));
    },
    180_000,
  );
});
