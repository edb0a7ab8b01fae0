import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import { StoreError } from '../../src/errors/errors.ts';
import { applyEvent, emptyTimeline, type OrderTimeline } from '../../src/events/order-timeline.ts';
import { ExchangeClient } from '../../src/exchange/exchange-client.ts';
import type { ManagedInbox } from '../../src/inbox/inbox.ts';
import { sqliteInbox } from '../../src/inbox/sqlite/sqlite-inbox.ts';
import type { JsonValue } from '../../src/internal/json.ts';
import { MessengerClient } from '../../src/messenger/messenger-client.ts';
import type { OrderJournal } from '../../src/orders/journal.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { createOtp, type Otp } from '../../src/otp/create-otp.ts';
import { createKeyRotation, type KeyRotation } from '../../src/rotation/create-key-rotation.ts';
import { storedKeys } from '../../src/rotation/stored-keys.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createWebhooks, type Webhooks } from '../../src/webhooks/create-webhooks.ts';
import { nextTurn } from '../support/next-turn.ts';
import { add } from './books.ts';
import { otpSettings } from './code-steps.ts';
import type { World } from './world.ts';

/** One process of the partner: it can be ended and started again, and what it has stored stays. */
export interface PartnerProcess {
  readonly journal: OrderJournal;
  readonly otp: Otp;
  readonly webhooks: Webhooks;
  readonly inbox: ManagedInbox;
  readonly rotation: KeyRotation;
  readonly store: RecordStore;
  readonly isAlive: () => boolean;
  /** Whether handlers are running, or their results are not written yet. */
  readonly isHandling: () => boolean;
  /** From now on nothing that it does reaches the store or the network. */
  readonly die: () => void;
  /** Ends it: with time for its handlers, or without. */
  readonly end: (how: 'stopped' | 'killed') => Promise<void>;
}

/** Where the shared books of the receivers are, in the partner's store. */
export const timelineKey = (id: string) => `timeline:${id}`;

export function startProcess(world: World): PartnerProcess {
  const { plan, sandbox, books, folder } = world;
  const { deployment } = sandbox;
  const { now } = sandbox.clock;
  let isAlive = true;
  const opened = world.sharedStore ?? sqliteStore({ path: `${folder}/records.sqlite`, now });
  const store = storeOf(opened, () => isAlive);
  const fetch = async (request: Request) => {
    if (!isAlive) throw connectionReset();
    const reply = await world.patientFetch(request);
    if (!isAlive) throw connectionReset();
    return reply;
  };

  const client = { deployment, fetch, now, retry: { firstDelayMs: 0, maxDelayMs: 0 } };
  const rotation: KeyRotation = createKeyRotation({
    exchange: { regenerateKeys: (...request) => exchange.regenerateKeys(...request) },
    storage: storedKeys({ store }),
    overlapMs: 7 * 86_400_000,
    now,
  });
  const ring = createKeyRing({ load: rotation.credentials, now, cooldownMs: 1_000, onError: () => {} });
  const credentials = plan.keys === 'static' ? world.credentials : ring;
  const exchange = new ExchangeClient({ ...client, credentials });
  const { duplicateIds } = plan;
  const journal = createOrderJournal({ exchange, store, duplicateIds, now, onStoreError: () => {} });
  const otp = createOtp({
    ...otpSettings,
    messenger: world.apiKeys.map((apiKey) => new MessengerClient({ ...client, apiKey })),
    store,
    secrets: ['secret-of-the-chaos-0123456789abcdef'],
    allowedPrefixes: ['+234'],
    now,
  });

  const inbox = sqliteInbox({
    path: `${folder}/inbox.sqlite`,
    retry: { firstDelayMs: 100, maxDelayMs: 1_000 },
    sleep: world.sleep,
    random: (bytes) => new Uint8Array(bytes).fill(128),
    now,
  });
  /** Deliveries whose handlers have begun, and whose result is not written yet. */
  const open = new Set<string>();
  const run = async (digest: string, effect: () => Promise<void>) => {
    open.add(digest);
    if (books.fails(digest, 'before')) throw new Error('not yet');
    await effect();
    // Every other one takes its time, so that a kill finds it running.
    for (let turns = digest.slice(2, 3) < '8' ? 1 : 30; turns > 0 && isAlive; turns--) await nextTurn();
    if (!isAlive) throw new Error('The process is dead.');
    if (books.fails(digest, 'after')) throw new Error('not yet');
    add(books.handled, digest);
  };
  const webhooks = createWebhooks({
    ...{ credentials, deployment, inbox },
    onError: () => {},
    onRefused: () => {},
    onDelivery: ({ stage, digest = '' }) => stage === 'handle' && open.delete(digest),
  }).onAny((event, context) =>
    run(context.digest, async () => {
      await journal.observe(event, context);
      const id = event.partner_order_id ?? '';
      await store.transact([timelineKey(id)], (records) => {
        // Sound: this is what was set.
        const before = records.get(timelineKey(id)) as OrderTimeline | undefined;
        // Sound: a timeline is plain data.
        const after = applyEvent(before ?? emptyTimeline(id), event) as unknown as JsonValue;
        records.set(timelineKey(id), after);
      });
      books.evident.add(id);
    }),
  );
  if (plan.unrecognized !== 'kept') {
    webhooks.onUnrecognized((event, context) =>
      run(context.digest, async () => {
        const { partner_order_id: id } = context.body;
        if (typeof id === 'string') books.evident.add(id);
        // With the event itself `observe` throws once it has its evidence: nobody has handled the rest.
        await journal.observe(plan.unrecognized === 'handled' ? { body: context.body } : event, context);
      }),
    );
  }

  return {
    ...{ journal, otp, webhooks, inbox, rotation, store },
    isAlive: () => isAlive,
    isHandling: () => open.size > 0,
    die: () => {
      isAlive = false;
    },
    async end(how) {
      if (how === 'killed') {
        isAlive = false;
        for (const digest of open) books.interrupted.add(digest);
      }
      const stopping = inbox.stop({ timeoutMs: how === 'killed' ? 0 : 10_000 });
      world.wake();
      await stopping;
      isAlive = false;
      if (world.sharedStore === undefined) await opened.close();
    },
  };
}

/** A store that a dead process cannot reach. */
function storeOf(store: RecordStore, isAlive: () => boolean): RecordStore {
  const reach = () => {
    if (!isAlive()) throw new StoreError('store_closed', 'The process is dead.');
    return store;
  };
  return {
    transact: async (keys, change) => await reach().transact(keys, change),
    list: async (options) => await reach().list(options),
    close: async () => {},
  };
}

export function connectionReset(): Error {
  return Object.assign(new TypeError('fetch failed'), {
    cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
  });
}
