/**
 * A shop that sells crypto, in any number of replicas over one PostgreSQL. Nothing here knows a framework:
 * express.ts, fastify.ts and nestjs.ts mount it.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import { createKeyRing, ExchangeClient, MessengerClient, readEnvironment } from 'partner-exchange-sdk';
import { storeInbox } from 'partner-exchange-sdk/inbox';
import { aesGcm, createKeyRotation, storedKeys } from 'partner-exchange-sdk/keys';
import { createOrderJournal, type OrderLoop } from 'partner-exchange-sdk/orders';
import { createOtp } from 'partner-exchange-sdk/otp';
import { postgresStore } from 'partner-exchange-sdk/store';
import { closeServer, createWebhooks } from 'partner-exchange-sdk/webhooks';
import * as z from 'zod';
import { prometheus } from '../support/prometheus.ts';
import { openDatabase, orderOf, type Purchase } from './database.ts';
import { handleEvents } from './events.ts';
import { parse, ShopError } from './shop-error.ts';
import { createSignIn } from './sign-in.ts';

const purchaseRequest = z.object({
  id: z.string().regex(/^[\w-]{1,40}$/),
  fiat_amount: z.string().regex(/^\d{1,9}(\.\d{1,2})?$/),
  address: z.string().max(128),
});

const decision = z.object({
  decision: z.enum(['accepted', 'abandoned', 'rejected']),
  note: z.string().min(1),
  events: z.array(z.string()).optional(),
});

export type Shop = ReturnType<typeof openShop>;

export function openShop(env: NodeJS.ProcessEnv = process.env) {
  const {
    PUBLIC_URL = 'http://127.0.0.1:3000',
    KEY_ENCRYPTION_KEY = '',
    OTP_SECRET = '',
    OPERATOR_TOKEN = '',
  } = env;
  const database = openDatabase(env.DATABASE_URL);
  const store = postgresStore({ client: database.pool });
  const metrics = prometheus();
  const { deployment, apiKey } = readEnvironment(env, {
    // By this sign your service accepts an order: find it out at staging.
    readOrderReply: ({ body }) => (Object(body).platform_order_ref ? 'accepted' : 'unknown'),
  });
  const cipher = aesGcm({ keys: [{ id: '2026-11', key: KEY_ENCRYPTION_KEY }] });
  const rotation = createKeyRotation({ storage: storedKeys({ store, ...cipher }) });
  const credentials = createKeyRing({ load: rotation.credentials });

  const exchange = new ExchangeClient({
    deployment,
    credentials,
    timeoutMs: 3_000,
    totalTimeoutMs: 4_000,
    onResponse: metrics.onResponse,
  });
  const journal = createOrderJournal({
    exchange,
    store,
    leaseMs: 5_000,
    onSettled: database.writeState,
    onMismatch: ({ partner_order_id }) =>
      database.writeHeld(partner_order_id, 'An event names another address.'),
  });
  const inbox = storeInbox({ store, timeLimitMs: 5_000 });
  const webhooks = createWebhooks({ deployment, credentials, inbox, onDelivery: metrics.onDelivery });
  handleEvents(webhooks, { database, journal });
  const otp = createOtp({
    messenger: new MessengerClient({ deployment, apiKey }),
    store,
    secrets: [OTP_SECRET],
    allowedPrefixes: ['+234'],
  });
  let loop: OrderLoop | undefined;

  return {
    webhooks,
    ...createSignIn({ otp, database }),

    /** Buys. A buyer who got no answer sends the same purchase again, with the same id. */
    async buy(phone: string, body: unknown): Promise<object> {
      const purchase = parse(purchaseRequest, body);
      const row = await database.inTransaction(async (client) => {
        const { rowCount: isNew } = await client.query(
          'INSERT INTO purchases (id, phone, fiat_amount, address) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
          [purchase.id, phone, purchase.fiat_amount, purchase.address],
        );
        const { rows } = await client.query<Purchase>('SELECT * FROM purchases WHERE id = $1', [purchase.id]);
        // Sound: it was there, or has just been written.
        const stored = rows[0] as Purchase;
        const isSame =
          stored.phone === phone &&
          stored.fiat_amount === purchase.fiat_amount &&
          stored.address === purchase.address;
        if (!isSame) throw new ShopError(409, 'This id stands for another purchase.');
        // The row and the intent are committed together: if this process dies now, a loop sends the order.
        if (isNew) await journal.prepare(orderOf(stored, PUBLIC_URL), { store: postgresStore({ client }) });
        return stored;
      });
      const { order, reply } = await journal.create(orderOf(row, PUBLIC_URL));
      await database.writeState(order);
      // The first event says it again, should this reply be lost.
      const { payer_into_account: account, payment_link } = reply ?? {};
      if (account || payment_link) await database.writePayInto(row.id, { ...account, payment_link });
      return this.purchase(phone, row.id);
    },

    /** The purchase, as its buyer may see it: what to do next, and where to pay. */
    async purchase(phone: string, id: string): Promise<object> {
      const purchase = await database.readPurchase(id);
      if (purchase?.phone !== phone) throw new ShopError(404, 'There is no such purchase.');
      const { state, pay_into, held, ended } = purchase;
      return { id, state, pay_into, held, ended };
    },

    /** Takes the decision of the person who has looked at the service. */
    async settle(authorization: string | undefined, id: string, body: unknown): Promise<void> {
      if (OPERATOR_TOKEN === '' || !isSameText(authorization ?? '', `Bearer ${OPERATOR_TOKEN}`))
        throw new ShopError(403, 'For operators alone.');
      const { decision: decided, note, events } = parse(decision, body);
      await journal.settle(id, decided, note, { events });
    },

    /** Tells whether the store answers. What is unhealthy about orders and events is for alerts, not for the balancer. */
    async health(): Promise<object> {
      return { inbox: await inbox.health(), orders: await journal.health() };
    },

    async metrics(): Promise<string> {
      return metrics.text(await this.health());
    },

    /** Sends in the background what is prepared or has to wait (429), and hands over what needs a person. */
    start(): void {
      loop = journal.start({
        load: async ({ partner_order_id }) => {
          const purchase = await database.readPurchase(partner_order_id);
          if (purchase === undefined) throw new Error(`There is no purchase ${partner_order_id}.`);
          return orderOf(purchase, PUBLIC_URL);
        },
        // Prices of this shop hold for half a minute. A person looks at what is open then, or unknown for two seconds.
        maxAgeMs: 30_000,
        evidenceWithinMs: 2_000,
        onUnknown: async (order, reason) => {
          console.error(`A person looks at the service for ${order.partner_order_id}: ${reason}`);
          await database.writeState({ ...order, state: 'unknown' });
        },
        onError: (error) => console.error('Orders:', error instanceof Error ? error.message : error),
      });
    },

    /** SIGTERM: no more orders, then no more requests and events. Close the framework after it, then `end`. */
    async stop(server: Server): Promise<void> {
      await loop?.stop();
      await closeServer(server, { inbox, timeoutMs: 10_000 });
    },

    /** The database last. */
    async end(): Promise<void> {
      await store.close();
      await database.pool.end();
    },
  };
}

function isSameText(text: string, expected: string): boolean {
  const hashOf = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(hashOf(text), hashOf(expected));
}
