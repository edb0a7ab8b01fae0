import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import express from 'express';
import fastify from 'fastify';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { tables } from '../../../../examples/shop/tables.ts';
import { ExchangeClient } from '../../../../src/client/exchange-client.ts';
import { createKeyRing } from '../../../../src/credentials/create-key-ring.ts';
import { defineDeployment } from '../../../../src/deployment/define-deployment.ts';
import type { AttackOptions } from '../../../../src/devtools/diagnostics/attack/attack-options.ts';
import { attackReceiver } from '../../../../src/devtools/diagnostics/attack/attack-receiver.ts';
import { effectKey } from '../../../../src/events/effect-key.ts';
import type { ManagedInbox } from '../../../../src/inbox/inbox.ts';
import { sqliteInbox } from '../../../../src/inbox/sqlite/sqlite-inbox.ts';
import { storeInbox } from '../../../../src/inbox/store/store-inbox.ts';
import { createKeyRotation } from '../../../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../../../src/keys/stored-keys.ts';
import { refusedEvent } from '../../../../src/orders/named-order.ts';
import { createOrderJournal } from '../../../../src/orders/order-journal.ts';
import { postgresStore } from '../../../../src/store/postgres/postgres-store.ts';
import { sqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts';
import { createWebhooks, type Webhooks } from '../../../../src/webhooks/create-webhooks.ts';
import { fastifyPlugin } from '../../../../src/webhooks/fastify-plugin.ts';
import { lambdaHandler } from '../../../../src/webhooks/lambda-handler.ts';
import { generation } from '../../../credentials/keys.ts';
import { describeWith, postgresUrl, run } from '../../../store/servers.ts';
import { type SnippetRun, startSnippet } from '../../../support/doc-snippets.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { credentials } from '../../../webhooks/deliveries.ts';
import { listen, type Mounted, mountFetch, mountServer } from '../../../webhooks/http/frameworks/mount.ts';
import { mountNest } from '../../../webhooks/http/frameworks/mount-nest.ts';

/*
 * The receivers of our own guides, as they stand there: the attack has nothing to report. `our-receivers` has every
 * framework, and `npm run test:languages` every language.
 */

// Hundreds of deliveries each: a busy machine takes many times as long.
vi.setConfig({ testTimeout: 180_000 });

const { partnerPublicKey, partnerSecretKey, merchantSecretKey = '' } = credentials;
const env = {
  PARTNER_PUBLIC_KEY: partnerPublicKey,
  PARTNER_SECRET_KEY: partnerSecretKey,
  MERCHANT_SECRET_KEY: merchantSecretKey,
};

async function expectNothing(url: string, options: Partial<AttackOptions> = {}) {
  const { findings, results } = await attackReceiver(url, { credentials, quick: true, ...options });
  expect(findings).toEqual([]);
  expect(results.filter(({ verdict }) => verdict === 'ok').length).toBeGreaterThan(45);
}

/** How often an event of the order is a dead letter. */
async function deadLettersOf(inbox: ManagedInbox, id: string): Promise<number> {
  const letters = await inbox.deadLetters({ withBody: true, limit: 1000 });
  return letters.filter(({ body = '' }) => body.includes(`"${id}"`)).length;
}

describe('attackReceiver has nothing to report of the program of the guide', () => {
  async function start(page: string, { folder, ...own }: Pick<SnippetRun, 'folder'> & Partial<SnippetRun>) {
    const child = startSnippet({
      page: `docs/guides/${page}`,
      folder,
      env,
      ...own,
      replaced: {
        'listen(3000)': "listen(0, '127.0.0.1', function () { console.log(this.address().port); })",
        ...own.replaced,
      },
    });
    const lines = createInterface({ input: child.stdout ?? expect.unreachable() })[Symbol.asyncIterator]();
    const port = (await lines.next()).value;
    child.stdout?.resume();
    return `http://127.0.0.1:${port}/orders`;
  }

  it('receive-events: SQLite inbox, effects guarded by their keys', async () => {
    const folder = scratchFolder();
    const url = await start('receive-events.md', { folder });
    const shop = new DatabaseSync(join(folder, 'shop.sqlite'), { readOnly: true, timeout: 5000 });
    const counted = shop.prepare('SELECT count(*) AS times FROM credited WHERE order_id = ?');
    const inbox = sqliteInbox({ path: join(folder, 'inbox.sqlite'), role: 'receiver' });
    onTestFinished(async () => {
      shop.close();
      await inbox.stop();
    });
    await expectNothing(url, {
      handled: async (id) => Number(counted.get(id)?.times) + (await deadLettersOf(inbox, id)),
    });
  });

  it.each(['production.md', 'kyc-and-refund.md', 'move-from-own-code.md'])('%s', async (page) => {
    await expectNothing(await start(page, { folder: scratchFolder() }));
  });

  it('keys: a ring that reads a store', async () => {
    const folder = scratchFolder();
    const path = join(folder, 'keys.sqlite');
    const store = sqliteStore({ path });
    onTestFinished(() => store.close());
    await createKeyRotation({ storage: storedKeys({ store }) }).receive(credentials);
    const url = await start('keys.md', {
      folder,
      mark: 'createKeyRing({ load: credentials })',
      replaced: { '/var/lib/shop/keys.sqlite': path },
    });
    await expectNothing(url);
  });

  it('keys: many partners, each at a path of its own', async () => {
    const url = await start('keys.md', { folder: scratchFolder(), mark: 'platform.mts' });
    await expectNothing(`${url}/P-1`, { credentials: generation('P-1') });
  });
});

describeWith('postgres', 'attackReceiver has nothing to report of an inbox in PostgreSQL and', () => {
  const order = { partner_order_id: 'A-1001', buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP' };
  let made = 0;

  /** The parts of docs/guides/shop.md: its tables, a key ring that waits for keys, and the journal. */
  async function openShop(role: 'both' | 'drain' = 'both') {
    const schema = `${run}_attack_${++made}`;
    const pool = new pg.Pool({ connectionString: postgresUrl, options: `-c search_path=${schema}` });
    await pool.query(`CREATE SCHEMA ${schema}`);
    await pool.query(tables);
    await pool.query('INSERT INTO customers (phone) VALUES ($1)', ['+2348012345678']);
    const { partner_order_id: id, buyer_crypto_address: address } = order;
    await pool.query('INSERT INTO purchases VALUES ($1, $2, 10, $3)', [id, '+2348012345678', address]);
    const store = postgresStore({ client: pool });
    const inbox = storeInbox({ store, role });
    const awaited = async () => ({ signing: credentials, verifying: [credentials], awaited: true });
    const ring = createKeyRing({ load: awaited });
    const deployment = defineDeployment({ onboardingBaseUrl: 'https://onboarding.example' });
    const journal = createOrderJournal({ exchange: new ExchangeClient({ deployment, credentials }), store });
    await journal.prepare({
      ...order,
      fiat_amount: '10',
      fiat_currency: 'NGN',
      chain: 'usdt-trc20',
      partner_callback_url: 'http://127.0.0.1:3000/orders',
    });
    const webhooks = createWebhooks({ credentials: ring, inbox, onError: () => {} })
      .onAny(async (event, context) => {
        const { result } = await journal.observe(event, context);
        if (result === 'unknown_order' || result === 'other_partner') throw refusedEvent(event, result);
      })
      .onUnrecognized(journal.observe)
      .on('event.buy.credited.crypto', async (event, context) => {
        const effect = effectKey(event, context);
        const amount = context.decimal('crypto_amount_to_receive');
        if (effect === undefined || amount === undefined) throw new Error('no order or no amount');
        const values = [effect, event.partner_order_id, amount];
        await pool.query('INSERT INTO effects VALUES ($1, $2, $3) ON CONFLICT (effect) DO NOTHING', values);
      });
    onTestFinished(async () => {
      await inbox.stop();
      await store.close();
      await pool.query(`DROP SCHEMA ${schema} CASCADE`);
      await pool.end();
    });
    const handled = async (orderId: string) => {
      const { rowCount } = await pool.query('SELECT 1 FROM effects WHERE purchase = $1', [orderId]);
      return (rowCount ?? 0) + (await deadLettersOf(inbox, orderId));
    };
    return { webhooks, handled, inbox };
  }

  const mounts: Readonly<Record<string, (webhooks: Webhooks) => Promise<Mounted>>> = {
    Express(webhooks) {
      const app = express();
      app.all('/', webhooks.node);
      app.use(express.json());
      return listen(app);
    },
    async Fastify(webhooks) {
      const app = fastify();
      await app.register(fastifyPlugin(webhooks, { path: '/' }));
      await app.ready();
      return mountServer(app.server);
    },
    NestJS: (webhooks) => mountNest(webhooks, { rawBody: true }),
  };

  it.each(Object.entries(mounts))('%s, with effects that need an order', async (name, mount) => {
    const { webhooks, handled } = await openShop();
    const { port, close } = await mount(webhooks);
    onTestFinished(close);
    // Behind all of them the same code acts.
    await expectNothing(`http://127.0.0.1:${port}/`, name === 'Express' ? { order, handled } : {});
  });

  it('a function of a cloud, which drains on a schedule', async () => {
    const { webhooks } = await openShop('drain');
    const handle = lambdaHandler(webhooks);
    const { port, close } = await mountFetch(async (request) => {
      const { statusCode, headers, body } = await handle({
        requestContext: { http: { method: request.method } },
        headers: Object.fromEntries(request.headers),
        body: Buffer.from(await request.arrayBuffer()).toString('base64'),
        isBase64Encoded: true,
      });
      return new Response(body, { status: statusCode, headers: headers ?? {} });
    });
    onTestFinished(close);
    await expectNothing(`http://127.0.0.1:${port}/`);
  });
});
