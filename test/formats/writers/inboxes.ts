import type { HandlingOptions } from '../../../src/inbox/handling-options.ts';
import { recordQuarantine } from '../../../src/inbox/quarantine/record-quarantine.ts';
import { queueInbox } from '../../../src/inbox/queue/queue-inbox.ts';
import { storeInbox } from '../../../src/inbox/store/store-inbox.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import { thisProcess } from '../../../src/store/process-identity.ts';
import { quarantineOptions } from '../../inbox/quarantine/quarantine-for-tests.ts';
import { dumpRecords } from '../dumps.ts';
import { eventOf, receiverOn, requestOf, until, writtenAt } from '../subjects.ts';

const forever = new Promise<never>(() => {});

/**
 * Leaves one delivery in each state, each named after its order: `handled`, `dead`, `dead-alone` (it lost a lease
 * before), `failed` (once), `alone` (lost a lease, and failed alone), `leased` and `waiting`.
 */
export async function storeInboxRecords() {
  const clock = { now: writtenAt };
  const store = memoryStore({ now: () => clock.now });
  const open = (options: HandlingOptions) => storeInbox({ store, pollMs: 10, ...options });
  const options = { now: () => clock.now, random: (bytes: number) => new Uint8Array(bytes), maxAttempts: 2 };

  /** As if its process had died: another one takes it over after its lease, and its handler fails there. */
  async function strand(id: string, maxAttempts: number): Promise<void> {
    const died = open(options);
    const first = receiverOn({ inbox: died }, () => forever);
    await first.webhooks.fetch(requestOf(id));
    await until(() => first.contexts.has(id));
    clock.now += 600_000;
    const next = open({ ...options, maxAttempts });
    const second = receiverOn({ inbox: next }, () => Promise.reject(new Error('no such order')));
    await until(() => second.reports.length > 0);
    await Promise.all([died, next].map((inbox) => inbox.stop({ timeoutMs: 0 })));
  }

  await strand('dead-alone', 1);
  const inbox = open(options);
  const receiver = receiverOn({ inbox }, (id) => {
    if (id !== 'handled') throw new Error(`no such order: ${id}`);
  });
  const outcomes = (outcome: string) =>
    receiver.reports.filter((report) => report.outcome === outcome).length;
  for (const id of ['handled', 'dead']) await receiver.webhooks.fetch(requestOf(id));
  await until(() => outcomes('handled') === 1 && outcomes('failed') === 1);
  clock.now += 600_000;
  await until(() => outcomes('dead') === 1);
  await receiver.webhooks.fetch(requestOf('failed'));
  await until(() => outcomes('failed') === 2);
  await inbox.stop();

  // The clock goes on, so what failed would be tried again: it is due later.
  clock.now -= 600_000;
  await strand('alone', 2);

  const last = open({ ...options, concurrency: 1 });
  const hanging = receiverOn({ inbox: last }, () => forever);
  await hanging.webhooks.fetch(requestOf('leased'));
  await until(() => hanging.contexts.has('leased'));
  await hanging.webhooks.fetch(requestOf('waiting'));
  const records = await dumpRecords(store);
  await last.stop({ timeoutMs: 0 });
  return records;
}

/** The messages, and what the guard knows of them: `waiting`, `failed` once, `handled`, and `leased`. */
export async function queueInboxMessages() {
  const now = () => writtenAt;
  const store = memoryStore({ now });
  const messages: unknown[] = [];
  const inbox = queueInbox({ send: async (message) => messages.push(message), store, now });
  const { webhooks, contexts } = receiverOn({ inbox }, (id) => {
    if (id === 'failed') throw new Error('no such order');
    return id === 'leased' ? forever : undefined;
  });
  for (const id of ['waiting', 'failed', 'handled', 'leased']) await webhooks.fetch(requestOf(id));
  await inbox.handleMessage(messages[1]);
  await inbox.handleMessage(messages[2]);
  void inbox.handleMessage(messages[3]);
  await until(() => contexts.has('leased'));
  const records = await dumpRecords(store);
  // On this machine the process that wrote the fixture has ended.
  const elsewhere = JSON.stringify(records).replaceAll(thisProcess().space, 'another machine');
  return { messages, records: JSON.parse(elsewhere) };
}

/** Two bodies that no key fits yet. */
export async function quarantineRecords() {
  const store = memoryStore({ now: () => writtenAt });
  const options = { ...quarantineOptions, now: () => writtenAt };
  const quarantine = recordQuarantine(store, options);
  for (const [index, id] of ['first', 'second'].entries())
    await quarantine.keep({
      digest: String(index).repeat(64),
      body: eventOf(id),
      partners: 'p',
    });
  return await dumpRecords(store);
}
