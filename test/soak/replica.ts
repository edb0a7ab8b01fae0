import { once as onceEvent } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import { createKeyRing, ExchangeClient, MessengerClient, readEnvironment } from 'partner-exchange-sdk';
import { effectKey } from 'partner-exchange-sdk/events';
import { storeInbox } from 'partner-exchange-sdk/inbox';
import { createKeyRotation, type KeyRotation, storedKeys } from 'partner-exchange-sdk/keys';
import { createOrderJournal } from 'partner-exchange-sdk/orders';
import { createOtp } from 'partner-exchange-sdk/otp';
import { once, postgresStore, type RecordStore, redisStore, sqliteStore } from 'partner-exchange-sdk/store';
import { closeServer, createWebhooks } from 'partner-exchange-sdk/webhooks';
import pg from 'pg';
import { sendToMany } from '../../examples/support/send-to-many.ts';
import { listeningPort } from '../support/listening.ts';
import { numbersOf, orderOf, partnerOf, type ReplicaCalls, type ReplicaPlace } from './plan.ts';

/** One process of the soak: everything that a partner runs, over one store. It ends in order on SIGTERM. */

// Written by the parent.
const place = JSON.parse(process.argv[2] ?? '{}') as ReplicaPlace;
const { engine, callback, books } = place;
// Do not outlive it.
process.on('disconnect', () => process.exit());

const { store, close } = openStore();
const { deployment } = readEnvironment(process.env, {
  readOrderReply: ({ body }) => (Object(body).platform_order_ref ? 'accepted' : 'unknown'),
});
const ring = createKeyRing({ load: () => rotation.credentials() });
const exchange = new ExchangeClient({ deployment, credentials: ring, timeoutMs: 2_000 });
const rotation: KeyRotation = createKeyRotation({ exchange, storage: storedKeys({ store }) });
const messenger = new MessengerClient({ deployment, apiKey: place.apiKey, timeoutMs: 2_000 });
const journal = createOrderJournal({ exchange, store });
const inbox = storeInbox({ store });
const otp = createOtp({
  messenger,
  store,
  secrets: [place.secret],
  allowedPrefixes: ['+234'],
  message: ({ code }) => code,
});
const webhooks = createWebhooks({ deployment, credentials: ring, inbox, onError: () => {} })
  .onAny(journal.observe)
  .onUnrecognized(journal.observe)
  .on('event.buy.credited.crypto', async (event, context) => {
    await once(store, `credit/${effectKey(event, context)}`, async () => {
      await fetch(`${books}/${event.partner_order_id}`, { method: 'POST' });
    });
  });
const loop = journal.start({
  load: ({ partner_order_id: id }) => orderOf(id, callback),
  everyMs: 1_000,
});
const stopping = new AbortController();

const calls: ReplicaCalls = {
  async order({ id }) {
    const { state } = await journal.create(orderOf(id, callback));
    return { state };
  },
  abandon: ({ id }) => journal.settle(id, 'abandoned', 'The service does not have it.'),
  code: ({ to_phone }) => otp.issue({ to_phone, purpose: 'soak' }),
  check: ({ id, code }) => otp.check(id, code, { purpose: 'soak' }),
  async send({ name, first }) {
    const states: Record<string, string> = {};
    const sending = { messenger, store, name, message: name, numbers: numbersOf(first) };
    for await (const { to_phone, state } of sendToMany(sending)) {
      states[to_phone] = state;
      if (stopping.signal.aborted) break;
    }
    return states;
  },
  request: () => rotation.request(partnerOf(engine), { again: true }),
  receive: ({ keys }) => rotation.receive(keys),
  promote: () => rotation.promote(),
  async sample() {
    // What is left is in use, or leaks.
    globalThis.gc?.();
    return { heap: process.memoryUsage().heapUsed, open: (await inbox.health()).open };
  },
};

const server = createServer((request, response) => {
  if (request.url === '/events') return void webhooks.node(request, response);
  answer(request).then(
    (result) => response.end(JSON.stringify(result ?? {})),
    (error: unknown) => response.writeHead(503).end(String(error)),
  );
});

async function answer(request: IncomingMessage): Promise<unknown> {
  // The parent's own requests: a path is a name of the table, with what it takes.
  const call = calls[request.url?.slice(1) as keyof ReplicaCalls] as (given: unknown) => Promise<unknown>;
  return await call(await json(request));
}

process.send?.({ port: await listeningPort(server) });
await onceEvent(process, 'SIGTERM');
stopping.abort();
await loop.stop();
await closeServer(server, { inbox, timeoutMs: 10_000 });
await close();
process.disconnect();

function openStore(): { store: RecordStore; close(): Promise<void> } {
  if (engine === 'sqlite') {
    const store = sqliteStore({ path: join(place.address, 'partner.sqlite') });
    return { store, close: () => store.close() };
  }
  if (engine === 'redis') {
    const client = new Redis(place.address);
    const store = redisStore({ client });
    return { store, close: () => store.close().then(() => void client.disconnect()) };
  }
  const client = new pg.Pool({ connectionString: place.address });
  const store = postgresStore({ client });
  return { store, close: () => store.close().then(() => client.end()) };
}
