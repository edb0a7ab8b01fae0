/**
 * For the operator: the shop of `nestjs-postgres/shop.ts` in two replicas behind a balancer, on a bad day. 200 purchases,
 * a replica that is killed, connections that are cut, and new keys. In the end each purchase that was paid is one order
 * of the service, and one credit.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { createKeyRing, ExchangeClient } from 'partner-exchange-sdk';
import { decimalLiteral } from 'partner-exchange-sdk/events';
import { aesGcm, createKeyRotation, type KeyRotation, storedKeys } from 'partner-exchange-sdk/keys';
import { createSandbox } from 'partner-exchange-sdk/sandbox';
import { postgresStore } from 'partner-exchange-sdk/store';
import pg from 'pg';
import { tables } from './nestjs-postgres/tables.ts';
import { startBalancer } from './support/balancer.ts';

const purchases = 200;
const buyers = 12;
const customers = ['ada', 'bayo', 'chidi', 'dayo', 'efe'];
const limitMs = 90_000;

const { DATABASE_URL } = process.env;
if (DATABASE_URL === undefined) {
  console.log('This example needs a PostgreSQL: DATABASE_URL=postgres://user:password@host:5432/database');
} else await runShop(DATABASE_URL);

async function runShop(database: string): Promise<void> {
  // In production the first schema of the search path will do.
  const schema = `shop_${randomBytes(6).toString('hex')}`;
  const address = new URL(database);
  address.searchParams.set('options', `-c search_path=${schema}`);
  const admin = new pg.Pool({ connectionString: address.href });
  admin.on('error', () => {});
  await admin.query(`CREATE SCHEMA ${schema}`);
  await admin.query(tables);
  await admin.query('INSERT INTO customers SELECT unnest($1::text[])', [customers]);

  // A service that makes a second order of a repeated id, and whose old keys die when new ones are asked for.
  const sandbox = createSandbox({
    whitelist: 'off',
    duplicateOrders: 'second',
    oldKeysExpire: 'request',
    callbackRetry: { maxAttempts: 100, firstDelayMs: 200, maxDelayMs: 1_000 },
  });
  const { deployment, close } = await sandbox.listen();
  const balancer = await startBalancer();

  // The operator's own program: it stores the keys that the replicas read.
  const ring = createKeyRing({ load: () => rotation.credentials() });
  const exchange = new ExchangeClient({ deployment, credentials: ring });
  const KEY_ENCRYPTION_KEY = randomBytes(32).toString('base64');
  const cipher = aesGcm({ keys: [{ id: '2026-11', key: KEY_ENCRYPTION_KEY }] });
  const storage = storedKeys({ store: postgresStore({ client: admin }), ...cipher });
  const rotation: KeyRotation = createKeyRotation({ exchange, storage });
  const identity = { partner_code: 'shop', email: 'dev@shop.example' };
  const openLink = () => sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
  await exchange.onboard(identity);
  await rotation.receive(openLink());

  const replicas: Replica[] = [];
  async function startReplica(): Promise<Replica> {
    const shopAddress = new URL(address);
    shopAddress.searchParams.set('application_name', schema);
    const replica = await startShop({
      DATABASE_URL: shopAddress.href,
      PUBLIC_URL: balancer.url,
      PORT: '0',
      KEY_ENCRYPTION_KEY,
      PARTNER_EXCHANGE_ONBOARDING_BASE_URL: deployment.onboardingBaseUrl,
      PARTNER_EXCHANGE_STAGING_URL: deployment.stagingUrl,
    });
    replicas.push(replica);
    balancer.targets.add(replica.url);
    return replica;
  }

  /** By the number of a purchase. */
  const troubles: Readonly<Record<number, () => Promise<void>>> = {
    async 50() {
      console.log('A replica is killed.');
      const [first] = replicas;
      first?.child.kill('SIGKILL');
      balancer.targets.delete(first?.url ?? '');
      await startReplica();
    },
    async 100() {
      console.log('New keys are asked for: the old ones are dead.');
      await rotation.request(identity);
      await pause(2_000);
      await rotation.receive(openLink());
      await rotation.promote();
      console.log('The new keys are stored.');
    },
    async 150() {
      console.log('All connections are cut.');
      balancer.cut();
      const ofShop = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1';
      await admin.query(ofShop, [schema]);
    },
  };

  let next = 1;
  async function buyNext(): Promise<void> {
    for (let number = next++; number <= purchases; number = next++)
      await Promise.all([troubles[number]?.(), buy(number)]);
  }

  async function buy(number: number): Promise<void> {
    const purchase = {
      id: `P-${number}`,
      customer: customers[number % customers.length],
      fiat_amount: `${1_000 + number}.50`,
      address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
    };
    // Without an answer, the same purchase again.
    while (!(await post('purchases', purchase))) await pause(200);
  }

  /** Whether it was answered 2xx. */
  async function post(path: string, body: object): Promise<boolean> {
    const headers = { 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(10_000);
    const init = { method: 'POST', headers, body: JSON.stringify(body), signal };
    const answer = await fetch(`${balancer.url}/${path}`, init).catch(() => undefined);
    return answer?.ok ?? false;
  }

  const paid = new Set<string>();
  /** Whoever has ordered pays; the service reports each step. */
  function pay(): void {
    for (const { platform_order_ref: order } of sandbox.orders.filter(
      (each) => !paid.has(each.platform_order_ref),
    )) {
      paid.add(order);
      void sandbox.play(order, paid.size % 10 === 0 ? 'events_repeated' : 'happy');
    }
  }

  /** A person looks at the service for each order of which nobody knows whether it has it. */
  async function decide(): Promise<void> {
    const { rows } = await admin.query(`SELECT id FROM purchases WHERE state = 'unknown'`);
    for (const { id } of rows) {
      // If it has the order, its events will say so.
      if (sandbox.orders.some((order) => order.partner_order_id === id)) continue;
      console.log('Nobody has', id);
      await post(`purchases/${id}/settle`, { decision: 'abandoned', note: 'Not in their dashboard.' });
    }
  }

  async function openPurchases(): Promise<number> {
    const open = `SELECT count(*) FROM purchases WHERE state NOT IN ('credited', 'abandoned')`;
    return Number((await admin.query(open)).rows[0].count);
  }

  /** The sandbox, the purchases and the balances agree. */
  async function compare(): Promise<void> {
    const ordered = sandbox.orders.map((order) => order.partner_order_id).sort();
    const { rows: credited } = await admin.query(
      `SELECT purchase, amount::text FROM credits JOIN purchases ON id = purchase WHERE state = 'credited'`,
    );
    assert.deepEqual(credited.map(({ purchase }) => purchase).sort(), ordered);
    assert.equal(new Set(ordered).size, ordered.length);
    const sent = new Map(
      sandbox.deliveries
        .filter(({ name }) => name === 'event.buy.credited.crypto')
        .map(({ partner_order_id, body }) => [
          partner_order_id,
          decimalLiteral(body, 'crypto_amount_to_receive'),
        ]),
    );
    for (const { purchase, amount } of credited) assert.equal(Number(amount), Number(sent.get(purchase)));
    const { rows: wrong } = await admin.query(
      `SELECT customers.id FROM customers WHERE balance <> (SELECT sum(amount) FROM credits
       JOIN purchases ON purchases.id = purchase WHERE customer = customers.id)`,
    );
    assert.deepEqual(wrong, []);
    console.log(
      `${credited.length} orders, each of them credited once; ${purchases - credited.length} abandoned.`,
    );
  }

  try {
    await Promise.all([startReplica(), startReplica()]);
    const deadline = performance.now() + limitMs;
    let isBought = false;
    const buying = Promise.all(Array.from({ length: buyers }, buyNext)).then(() => {
      isBought = true;
    });
    while (!isBought || (await openPurchases()) > 0) {
      await Promise.race([pause(200), isBought ? pause(200) : buying]);
      if (performance.now() > deadline) {
        const { rows } = await admin.query(`SELECT id, state FROM purchases WHERE state <> 'credited'`);
        throw new Error(`Still open: ${JSON.stringify(rows)}`);
      }
      pay();
      await decide();
    }
    await compare();
    console.log(await (await fetch(`${balancer.url}/metrics`)).text());
    const living = replicas.slice(1);
    for (const { child } of living) child.kill('SIGTERM');
    await Promise.all(living.map(({ ended }) => ended));
    assert.deepEqual(
      living.map(({ printed }) => printed.at(-1)),
      ['stopped', 'stopped'],
    );
  } finally {
    for (const { child } of replicas) child.kill('SIGKILL');
    await Promise.all(replicas.map(({ ended }) => ended));
    balancer.close();
    await close();
    await admin.query(`DROP SCHEMA ${schema} CASCADE`);
    await admin.end();
  }
}

type Replica = Awaited<ReturnType<typeof startShop>>;

async function startShop(env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['--import', './compile.ts', 'shop.ts'], {
    cwd: join(import.meta.dirname, 'nestjs-postgres'),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const printed: string[] = [];
  const lines = createInterface(child.stdout).on('line', (line) => printed.push(line));
  await Promise.race([once(lines, 'line'), ended]);
  const [url] = printed;
  if (url === undefined) throw new Error('The shop did not start.');
  return { child, ended, printed, url };
}
