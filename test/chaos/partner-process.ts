import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { MessengerClient } from '../../src/client/messenger-client.ts';
import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import type { KeyRing } from '../../src/credentials/key-ring.ts';
import type { ManagedInbox } from '../../src/inbox/inbox.ts';
import type { QueueInbox } from '../../src/inbox/queue/queue-inbox.ts';
import type { StoreInbox } from '../../src/inbox/store/store-inbox.ts';
import { createKeyRotation, type KeyRotation } from '../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import type { OrderJournal } from '../../src/orders/journal-types.ts';
import type { OrderLoop } from '../../src/orders/loop-options.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { createOtp, type Otp } from '../../src/otp/create-otp.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Webhooks } from '../../src/webhooks/create-webhooks.ts';
import { settings as otpSettings } from './code-steps.ts';
import { Machine } from './machine.ts';
import { clientFetch } from './network.ts';
import { inFormOf } from './newer-form.ts';
import { orderOf } from './order-steps.ts';
import { claimMs, type Version } from './plan.ts';
import { startReceiver } from './receiver.ts';
import { remoteStore } from './remote-store.ts';
import { type PartnerName, partnerNames, type World } from './world.ts';

/** One process of the partner: it can be ended and started again, and what it has stored stays. */
export interface PartnerProcess {
  readonly machine: Machine;
  readonly version: Version;
  readonly isReceiver: boolean;
  readonly webhooks: Webhooks;
  readonly inbox: ManagedInbox | StoreInbox | QueueInbox;
  readonly otp: Otp;
  readonly store: RecordStore;
  readonly partners: Readonly<
    Record<PartnerName, { journal: OrderJournal; rotation: KeyRotation; ring: KeyRing }>
  >;
  /** Ends it as a deployment does. */
  readonly stop: (timeoutMs: number) => Promise<'drained' | 'cut-off'>;
}

export function startProcess(world: World, version: Version, isReceiver: boolean): PartnerProcess {
  const { simulation, plan } = world;
  const name = `P${world.processNumber++}`;
  const machine = new Machine(name, {
    clock: plan.inbox === 'sqlite' ? world.hostClock : world.drawClock(name),
    bornAt: simulation.time,
    canBeDisturbed: true,
  });
  simulation.log(`${machine.name} starts: ${JSON.stringify(version)}`);
  return simulation.within(machine, () => buildProcess(world, machine, { version, isReceiver }));
}

function buildProcess(
  world: World,
  machine: Machine,
  { version, isReceiver }: { version: Version; isReceiver: boolean },
): PartnerProcess {
  const { plan, sandbox, books, folder, simulation } = world;
  const { deployment } = sandbox;
  const { overlapMs, cooldownMs, timeoutMs } = version;
  const isLocal = plan.inbox === 'sqlite';
  const store = isLocal
    ? sqliteStore({ path: `${folder}/records.sqlite` })
    : inFormOf(version, world, remoteStore(world, machine, world.storeServer));
  const leaseMs = claimMs(plan);
  // A request ends before its lease does.
  const totalTimeoutMs = Math.min(90_000, leaseMs - 5_000);
  const client = { deployment, fetch: clientFetch(world, machine), timeoutMs, totalTimeoutMs };

  const partners = Object.fromEntries(
    partnerNames.map((name) => {
      const storage = storedKeys({ store, key: `keys-${name}` });
      const rotation: KeyRotation = createKeyRotation({
        exchange: { regenerateKeys: (...request) => exchange.regenerateKeys(...request) },
        storage,
        overlapMs,
      });
      const ring = createKeyRing({ load: rotation.credentials, cooldownMs, onError: () => {} });
      const credentials = plan.keys === 'ring' ? ring : world.credentials[name];
      const exchange = new ExchangeClient({ ...client, credentials });
      const { duplicateIds } = plan;
      const prefix = `orders-${name}:`;
      const quiet = { onMismatch: () => {} };
      const journal = createOrderJournal({ exchange, store, duplicateIds, prefix, leaseMs, ...quiet });
      return [name, { journal, rotation, ring }];
    }),
    // Sound: each name has an entry.
  ) as PartnerProcess['partners'];

  const otp = createOtp({
    ...otpSettings,
    messenger: new MessengerClient({ ...client, apiKey: world.apiKey }),
    store,
    secrets: ['secret-of-the-chaos-0123456789abcdef'],
    allowedPrefixes: ['+234'],
  });

  const { inbox, webhooks } = startReceiver(world, machine, { version, isReceiver, store, partners });
  const loops = startLoops();

  /** They send what `create` could not send. */
  function startLoops(): OrderLoop[] {
    if (plan.ordering !== 'loop') return [];
    return partnerNames.slice(0, plan.partners).map((name) =>
      partners[name].journal.start({
        load: ({ partner_order_id: id }) => orderOf(id, books.rows.get(id) ?? books.amounts.get(id) ?? ''),
        everyMs: 3_000,
        onUnknown: ({ partner_order_id: id }) => void books.handedOver.add(id),
        onError: () => {},
      }),
    );
  }

  return {
    ...{ machine, version, isReceiver, webhooks, inbox, otp, store, partners },
    stop: (timeoutMs) =>
      simulation
        .within(machine, async () => {
          const [end = 'drained'] = await Promise.all([
            inbox.stop({ timeoutMs }),
            ...loops.map((loop) => loop.stop()),
          ]);
          await store.close();
          return end;
        })
        .catch((error: unknown) => {
          if (machine.isAlive) throw error;
          return 'cut-off';
        }),
  };
}
