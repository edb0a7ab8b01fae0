import { DatabaseSync } from 'node:sqlite';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import { isInboxError, isOnceError, isOrderError } from '../../src/errors/errors.ts';
import { effectKey } from '../../src/events/effect-key.ts';
import { orderEventNames } from '../../src/events/event-names.ts';
import type { OrderEvent } from '../../src/events/order-event.ts';
import { applyEvent, emptyTimeline, type OrderTimeline } from '../../src/events/order-timeline.ts';
import { memoryInbox } from '../../src/inbox/memory-inbox.ts';
import { queueInbox } from '../../src/inbox/queue/queue-inbox.ts';
import { openSqliteInbox } from '../../src/inbox/sqlite/sqlite-inbox.ts';
import { openStoreInbox } from '../../src/inbox/store/store-inbox.ts';
import type { JsonValue } from '../../src/internal/json.ts';
import type { OrderJournal } from '../../src/orders/journal-types.ts';
import { once } from '../../src/store/once.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import type { EventContext } from '../../src/webhooks/handlers.ts';
import type { Machine } from './machine.ts';
import type { PartnerProcess } from './partner-process.ts';
import { partnerNames, type World } from './world.ts';

/** Where the shared books of the receivers are, in the partner's store. */
export const timelineKey = (id: string) => `timeline:${id}`;

/** The part of a process that takes and handles events. */
export function startReceiver(
  world: World,
  machine: Machine,
  process: Pick<PartnerProcess, 'version' | 'isReceiver' | 'store' | 'partners'>,
): Pick<PartnerProcess, 'webhooks' | 'inbox'> {
  const { plan, sandbox, books, simulation } = world;
  const { version, isReceiver, store, partners } = process;
  const inbox = openInbox(world, machine, process);
  const ledger = plan.effects === 'marked' ? openLedger(world) : undefined;

  const webhooks = createWebhooks({
    ...{ deployment: sandbox.deployment, credentials: credentialsOf() },
    inbox: {
      ...inbox,
      receive: (delivery, handled) => {
        books.identify(delivery);
        return inbox.receive(delivery, handled);
      },
    },
    // A long member in an awkward spelling has more than the 64 KiB of the default.
    maxBodyBytes: 500_000,
    onError: () => {},
    onRefused: () => {},
    onDelivery: ({ stage, outcome, digest = '', code }) => {
      simulation.log(`${stage} ${outcome} ${digest.slice(0, 8)} ${code ?? ''}`);
      if (stage === 'handle') books.reported(digest, { outcome, code, machine });
      world.count(`${stage} ${outcome}`);
    },
  });
  if (isReceiver) return { webhooks, inbox };

  const partnerOf = (context: EventContext) =>
    partnerNames.find((name) => world.credentials[name].partnerId === context.key.partnerId) ?? 'a';
  const onEvent = (event: OrderEvent, context: EventContext) =>
    world.handle(machine, { context, version }, async () => {
      const partner = partnerOf(context);
      await observe(partners[partner].journal, event, context);
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
      await sendMail(event, context);
      books.evident.add(id);
      return await ledger?.enter(context);
    });
  // The version before this one knows no refunds yet.
  if (version.isFormer)
    for (const name of orderEventNames.filter((each) => each !== 'buy.event.close'))
      webhooks.on(name, onEvent);
  else webhooks.onAny(onEvent);
  if (plan.unrecognized !== 'kept') {
    webhooks.onUnrecognized((event, context) =>
      world.handle(machine, { context, version }, async () => {
        const { journal } = partners[partnerOf(context)];
        const { partner_order_id: id } = context.body;
        const note = () => void (typeof id === 'string' && books.evident.add(id));
        try {
          await journal.observe(plan.unrecognized === 'handled' ? context.body : event, context);
          note();
        } catch (error) {
          // With the event itself `observe` throws once it has its evidence: nobody has handled the rest.
          if (isInboxError(error) || isOrderError(error)) note();
          throw error;
        }
        return await ledger?.enter(context);
      }),
    );
  }
  return { webhooks, inbox };

  async function observe(journal: OrderJournal, event: OrderEvent, context: EventContext) {
    const note = () => books.compared.add(context.digest);
    try {
      const { result } = await journal.observe(event, context);
      if (result !== 'unknown_order' && result !== 'other_partner') note();
    } catch (error) {
      if (isOrderError(error)) note();
      throw error;
    }
  }

  /** An effect elsewhere, at most once for its key. */
  async function sendMail(event: OrderEvent, context: EventContext): Promise<void> {
    const key = effectKey(event, context);
    if (key === undefined) return;
    const { digest } = context;
    const send = async () => {
      await simulation.delay(20, machine);
      if (digest[5] === '0' && books.mails.get(key) === undefined && books.fails(digest, 'mail'))
        throw new Error('The mail was not sent.');
      books.mails.set(key, (books.mails.get(key) ?? 0) + 1);
      if (digest[5] === '1') throw new Error('No reply.');
    };
    const outcomeOf = (error: unknown) => (String(error).includes('not sent') ? 'not-sent' : 'unknown');
    try {
      await once(store, `mail/${key}`, send, { outcomeOf });
      books.mailed.add(key);
    } catch (error) {
      // A person looks whether it was sent.
      if (!isOnceError(error) || error.code !== 'unknown') throw error;
      world.count('nobody knew whether a mail was sent');
    }
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
}

function openInbox(
  world: World,
  machine: Machine,
  { version, isReceiver, store }: Pick<PartnerProcess, 'version' | 'isReceiver' | 'store'>,
): PartnerProcess['inbox'] {
  const { plan, folder } = world;
  const { timeLimitMs, maxAttempts, concurrency, rememberMs, pollMs, storeTimeoutMs } = version;
  const handling = { timeLimitMs, maxAttempts, rememberMs, onStoreError: () => {} };
  const remote = { store, storeTimeoutMs };
  const working = { ...handling, concurrency, pollMs, retry: { firstDelayMs: 500, maxDelayMs: 20_000 } };
  const role = isReceiver ? 'receiver' : 'both';
  const processes = world.viewFrom(machine);
  switch (plan.inbox) {
    case 'memory':
      return memoryInbox({ timeLimitMs, maxAttempts, rememberMs });
    case 'sqlite':
      return openSqliteInbox({ ...working, role, path: inboxFile(folder) }, processes);
    case 'store':
      return openStoreInbox({ ...working, role, ...remote }, processes);
    case 'drain':
      return openStoreInbox({ ...working, role: 'drain', ...remote }, processes);
    case 'queue':
      return queueInbox({
        ...{ ...handling, ...remote, role },
        send: (message) => world.broker.send(machine, message),
      });
  }
}

const inboxFile = (folder: string) => `${folder}/inbox.sqlite`;

/** The partner's own table in the file of the inbox: an entry is written in one transaction with the end of its event. */
function openLedger({ folder }: World) {
  const database = new DatabaseSync(inboxFile(folder));
  database.exec('CREATE TABLE IF NOT EXISTS ledger (digest TEXT)');
  const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')];
  const records = sqliteStore({ database });
  return {
    async enter({ digest, handledIn }: EventContext): Promise<'marked'> {
      begin.run();
      try {
        database.prepare('INSERT INTO ledger VALUES (?)').run(digest);
        await handledIn(records);
        commit.run();
        return 'marked';
      } finally {
        if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
      }
    },
  };
}

/** How often each event is in the ledger. */
export function readLedger({ folder }: World): Map<string, number> {
  const database = new DatabaseSync(inboxFile(folder));
  const rows = database.prepare('SELECT digest, count(*) AS entries FROM ledger GROUP BY digest').all();
  database.close();
  return new Map(rows.map(({ digest, entries }) => [String(digest), Number(entries)]));
}
