import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import type { KeyRing } from '../../src/credentials/key-ring.ts';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import { isOrderError } from '../../src/errors/errors.ts';
import { effectKey } from '../../src/events/effect-key.ts';
import type { OrderEvent } from '../../src/events/order-event.ts';
import { applyEvent, emptyTimeline, type OrderTimeline } from '../../src/events/order-timeline.ts';
import { ExchangeClient } from '../../src/exchange/exchange-client.ts';
import type { Inbox, ManagedInbox } from '../../src/inbox/inbox.ts';
import { type QueueInbox, queueInbox } from '../../src/inbox/queue/queue-inbox.ts';
import { openSqliteInbox } from '../../src/inbox/sqlite/sqlite-inbox.ts';
import { openStoreInbox, type StoreInbox } from '../../src/inbox/store/store-inbox.ts';
import type { JsonValue } from '../../src/internal/json.ts';
import { MessengerClient } from '../../src/messenger/messenger-client.ts';
import type { OrderJournal } from '../../src/orders/journal.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { createOtp, type Otp } from '../../src/otp/create-otp.ts';
import { createKeyRotation, type KeyRotation } from '../../src/rotation/create-key-rotation.ts';
import { keyFile } from '../../src/rotation/key-file.ts';
import { storedKeys } from '../../src/rotation/stored-keys.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createWebhooks, type Webhooks } from '../../src/webhooks/create-webhooks.ts';
import { settings as otpSettings } from './code-steps.ts';
import { Machine } from './machine.ts';
import { clientFetch } from './network.ts';
import type { Version } from './plan.ts';
import { remoteStore } from './remote-store.ts';
import { dayOne } from './simulation.ts';
import { type PartnerName, partnerNames, type World } from './world.ts';

/** One process of the partner: it can be ended and started again, and what it has stored stays. */
export interface PartnerProcess {
  readonly machine: Machine;
  readonly version: Version;
  readonly isReceiver: boolean;
  readonly webhooks: Webhooks;
  readonly inbox: ManagedInbox | StoreInbox | QueueInbox;
  readonly otp: Otp;
  readonly messengers: readonly MessengerClient[];
  readonly store: RecordStore;
  readonly partners: Readonly<
    Record<PartnerName, { journal: OrderJournal; rotation: KeyRotation; ring: KeyRing }>
  >;
  /** Ends it as a deployment does. */
  readonly stop: (timeoutMs: number) => Promise<'drained' | 'cut-off'>;
}

/** Where the shared books of the receivers are, in the partner's store. */
export const timelineKey = (id: string) => `timeline:${id}`;

export function startProcess(world: World, version: Version, isReceiver: boolean): PartnerProcess {
  const { simulation, plan } = world;
  const name = `P${world.processNumber++}`;
  const machine = new Machine(name, {
    clock: plan.inbox === 'sqlite' ? world.hostClock : world.drawClock(name),
    bornAt: simulation.time,
    dayOne,
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
  const { overlapMs, timeoutMs } = version;
  const isLocal = plan.inbox === 'sqlite';
  const store = isLocal
    ? sqliteStore({ path: `${folder}/records.sqlite` })
    : remoteStore(world, machine, world.storeServer);
  const client = { deployment, fetch: clientFetch(world, machine), timeoutMs };

  const partners = Object.fromEntries(
    partnerNames.map((name) => {
      const record = storedKeys({ store, key: `keys-${name}` });
      const storage = plan.keyStorage === 'file' ? keyFile({ path: `${folder}/keys-${name}.json` }) : record;
      const rotation: KeyRotation = createKeyRotation({
        exchange: { regenerateKeys: (...request) => exchange.regenerateKeys(...request) },
        storage,
        overlapMs,
      });
      const ring = createKeyRing({ load: rotation.credentials, cooldownMs: 1_000, onError: () => {} });
      const credentials = plan.keys === 'ring' ? ring : world.credentials[name];
      const exchange = new ExchangeClient({ ...client, credentials });
      const { duplicateIds } = plan;
      const prefix = `orders-${name}:`;
      const quiet = { onStoreError: () => {}, onMismatch: () => {} };
      const journal = createOrderJournal({ exchange, store, duplicateIds, prefix, ...quiet });
      return [name, { journal, rotation, ring }];
    }),
    // Sound: each name has an entry.
  ) as PartnerProcess['partners'];

  const messengers = world.apiKeys.map((apiKey) => new MessengerClient({ ...client, apiKey }));
  const otp = createOtp({
    ...otpSettings,
    messenger: messengers,
    store,
    secrets: ['secret-of-the-chaos-0123456789abcdef'],
    allowedPrefixes: ['+234'],
  });

  const { timeLimitMs, maxAttempts, concurrency, rememberMs, pollMs } = version;
  const handling = { timeLimitMs, maxAttempts, rememberMs, onStoreError: () => {} };
  const retry = { firstDelayMs: 500, maxDelayMs: 20_000 };
  const role = isReceiver ? 'receiver' : 'both';
  const inbox = (() => {
    switch (plan.inbox) {
      case 'sqlite':
        return openSqliteInbox(
          { ...handling, concurrency, pollMs, retry, role, path: `${folder}/inbox.sqlite` },
          world.viewFrom(machine),
        );
      case 'store':
        return openStoreInbox(
          { ...handling, concurrency, pollMs, retry, role, store },
          world.viewFrom(machine),
        );
      case 'drain':
        return openStoreInbox(
          { ...handling, concurrency, pollMs, retry, role: 'drain', store },
          world.viewFrom(machine),
        );
      case 'queue':
        return queueInbox({
          ...handling,
          role,
          store,
          send: (message) => world.broker.send(machine, message),
        });
    }
  })();

  const expected = (owner: string | undefined) =>
    owner === undefined ? 'a' : partnerNames.find((name) => world.credentials[name].partnerId === owner);

  const webhooks = createWebhooks({
    ...{ deployment, inbox: noting(inbox), credentials: credentialsOf() },
    onError: () => {},
    onRefused: () => {},
    onDelivery: ({ stage, outcome, digest = '', code }) => {
      simulation.log(`${stage} ${outcome} ${digest.slice(0, 8)} ${code ?? ''}`);
      if (stage === 'handle') books.reported(digest, outcome, machine);
      world.noteDelivery(stage, outcome, code);
    },
  });
  if (!isReceiver) {
    webhooks.onAny((event, context) =>
      world.handle(machine, { context, version }, async () => {
        const partner = expected(context.key.partnerId) ?? 'a';
        const { journal } = partners[partner];
        await observe(journal, event, context);
        const id = event.partner_order_id ?? '';
        if (!plan.isReshaped && !id.startsWith(partner))
          books.breach(`An event of ${id} came under the name of partner ${partner}.`);
        await store.transact([timelineKey(id)], (records) => {
          // Sound: this is what was set.
          const before = records.get(timelineKey(id)) as OrderTimeline | undefined;
          // Sound: a timeline is plain data.
          const after = applyEvent(before ?? emptyTimeline(id), event) as unknown as JsonValue;
          records.set(timelineKey(id), after);
        });
        await guardedEffect(event, context);
        books.evident.add(id);
      }),
    );
    if (plan.unrecognized !== 'kept') {
      webhooks.onUnrecognized((event, context) =>
        world.handle(machine, { context, version }, async () => {
          const { journal } = partners[expected(context.key.partnerId) ?? 'a'];
          const { partner_order_id: id } = context.body;
          if (typeof id === 'string') books.evident.add(id);
          // With the event itself `observe` throws once it has its evidence: nobody has handled the rest.
          await journal.observe(plan.unrecognized === 'handled' ? { body: context.body } : event, context);
        }),
      );
    }
  }

  async function observe(journal: OrderJournal, ...[event, context]: Parameters<OrderJournal['observe']>) {
    const note = () => books.compared.add(context?.digest ?? '');
    try {
      const { result } = await journal.observe(event, context);
      if (result !== 'unknown_order' && result !== 'other_partner') note();
    } catch (error) {
      if (isOrderError(error)) note();
      throw error;
    }
  }

  /** So that the books know the digest of a text. */
  function noting<Kept extends Inbox>(kept: Kept): Kept {
    return {
      ...kept,
      receive: (delivery, handled) => {
        books.digests.set(delivery.body, delivery.digest);
        return kept.receive(delivery, handled);
      },
    };
  }

  function credentialsOf() {
    const { a, b } = world.credentials;
    if (plan.keys === 'static') return plan.partners === 2 ? [a, b] : a;
    if (plan.keys === 'ring') return partners.a.ring;
    // Looked up for each delivery: a database that is away means 503.
    return async ({ url = '' }: { url?: string | undefined }): Promise<PartnerCredentials> => {
      await store.list({ prefix: 'keys-', limit: 1 });
      return plan.partners === 2 && url.endsWith('/b') ? b : a;
    };
  }

  /** Written in one transaction with its guard, as the pages advise. */
  async function guardedEffect(event: OrderEvent, context: Parameters<typeof effectKey>[1]): Promise<void> {
    const key = effectKey(event, context);
    if (key === undefined) return;
    const done = `done:${key}`;
    await store.transact([done, 'ledger'], (records) => {
      if (records.get(done) !== undefined) return;
      records.set(done, true);
      records.set('ledger', Number(records.get('ledger') ?? 0) + 1);
    });
    books.effects.add(key);
  }

  return {
    ...{ machine, version, isReceiver, webhooks, inbox, otp, messengers, store, partners },
    stop: (timeoutMs) =>
      simulation
        .within(machine, async () => {
          const end = await inbox.stop({ timeoutMs });
          await store.close();
          return end;
        })
        .catch((error: unknown) => {
          if (machine.isAlive) throw error;
          return 'cut-off';
        }),
  };
}
