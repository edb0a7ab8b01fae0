/**
 * For the operator: two replicas of the shop on a bad day (`node bad-day.ts express`). Buyers who repeat themselves, a
 * service that loses replies, refuses for want of patience, and repeats, swaps, forges and falsifies events; a replica
 * that is killed, connections that are cut, new keys. In the end each purchase that was paid is one order of the
 * service and one credit, each refund one refund, and what is wrong waits for a person.
 */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { decimalLiteral } from 'partner-exchange-sdk/events';
import { frameworks, type Ground, openGround } from './ground.ts';

const purchases = 80;
const buyers = 12;
const phones = ['+2348010000001', '+2348010000002', '+2348010000003', '+2348010000004'];
const limitMs = 90_000;
/** An order whose events name another address than the buyer's. */
const falsified = 'P-33';

const { DATABASE_URL } = process.env;
const framework = frameworks.find((name) => name === process.argv[2]);
if (framework === undefined) throw new Error(`The frameworks are ${frameworks.join(', ')}.`);
if (DATABASE_URL === undefined) {
  console.log('This example needs a PostgreSQL: DATABASE_URL=postgres://user:password@host:5432/database');
} else {
  const ground = await openGround(framework, {
    database: DATABASE_URL,
    sandbox: {
      whitelist: 'off',
      // A second order of a repeated id is made, and old keys die when new ones are asked for.
      duplicateOrders: 'second',
      oldKeysExpire: 'request',
      callbackRetry: { maxAttempts: 100, firstDelayMs: 200, maxDelayMs: 1_000 },
      event: (body) =>
        body.partner_order_id === falsified
          ? { ...body, buyer_crypto_address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' }
          : body,
    },
  });
  try {
    await runDay(ground);
  } finally {
    await ground.close();
  }
}

async function runDay({ sandbox, admin, url, operatorToken, ...ground }: Ground): Promise<void> {
  await Promise.all([ground.startReplica(), ground.startReplica()]);
  const tokens = await Promise.all(phones.map(signIn));

  const { faults } = sandbox;
  faults.plan('createOrder', 'reply_lost', { rate: 0.03 });
  faults.plan('createOrder', { kind: 'too_many_requests', when: 'before' }, { rate: 0.05 });
  for (const kind of ['duplicate', 'reorder', 'drop', 'forged', 'tampered'] as const)
    faults.plan('event', kind, { rate: 0.05 });

  /** Troubles by the number of the purchase that meets them. */
  const troubles: Readonly<Record<number, () => Promise<void>>> = {
    async 20() {
      console.log('A replica is killed.');
      ground.killReplica();
      await ground.startReplica();
    },
    async 40() {
      console.log('New keys are asked for: the old ones are dead.');
      await ground.requestKeys();
      await pause(2_000);
      await ground.receiveKeys();
      console.log('The new keys are stored.');
    },
    async 60() {
      console.log('All connections are cut.');
      await ground.cutConnections();
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
      fiat_amount: `${1_000 + number}.50`,
      address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
    };
    const token = tokens[number % tokens.length];
    // Without an answer, the same purchase again.
    while ((await post('purchases', purchase, token)) === undefined) await pause(200);
  }

  async function signIn(phone: string): Promise<string> {
    const { id } = await posted('codes', { phone });
    const message = sandbox.messages.findLast(({ to_phone }) => to_phone === phone)?.message ?? '';
    const { token } = await posted('sessions', { id, code: /\d{6}/.exec(message)?.[0] });
    return String(token);
  }

  async function posted(path: string, body: object): Promise<Record<string, unknown>> {
    const answer = await post(path, body);
    if (answer === undefined) throw new Error(`${path} was not answered.`);
    return answer;
  }

  /** The JSON of a 2xx; `undefined` without one. */
  async function post(path: string, body: object, token = ''): Promise<Record<string, unknown> | undefined> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const signal = AbortSignal.timeout(10_000);
    const answer = await fetch(`${url}/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal,
    })
      .then(async (response) => (response.ok ? await response.text() : undefined))
      .catch(() => undefined);
    return answer === undefined ? undefined : answer === '' ? {} : JSON.parse(answer);
  }

  const played = new Set<string>();
  /** Buyers pay; the service reports each step. One purchase in ten is refunded. */
  function pay(): void {
    for (const { platform_order_ref: order } of sandbox.orders) {
      if (played.has(order)) continue;
      played.add(order);
      void sandbox.play(order, played.size % 10 === 0 ? 'kyc_then_refund' : 'happy');
    }
  }

  /** Posts the events again of orders that have not ended: faults may have dropped the last one. */
  async function repeatEvents(): Promise<void> {
    const { rows } = await admin.query<{ id: string }>('SELECT id FROM purchases WHERE ended IS NULL');
    const open = new Set(rows.map(({ id }) => id));
    for (const { id, partner_order_id, postedAt } of sandbox.deliveries)
      if (open.has(partner_order_id) && postedAt === undefined) await sandbox.redeliver(id);
  }

  /** A person looks at the service for each order that it may have or not. */
  async function decide(): Promise<void> {
    const { rows } = await admin.query(`SELECT id FROM purchases WHERE state = 'unknown'`);
    for (const { id } of rows) {
      // If it has the order, its events will say so.
      if (sandbox.orders.some((order) => order.partner_order_id === id)) continue;
      console.log('The service does not have', id);
      const note = 'Not in their dashboard.';
      await post(`purchases/${id}/settle`, { decision: 'abandoned', note }, operatorToken);
    }
  }

  async function openPurchases(): Promise<number> {
    const open = `SELECT count(*) FROM purchases WHERE ended IS NULL AND state <> 'abandoned' AND id <> $1`;
    return Number((await admin.query(open, [falsified])).rows[0].count);
  }

  const deadline = performance.now() + limitMs;
  let isBought = false;
  const buying = Promise.all(Array.from({ length: buyers }, buyNext)).then(() => {
    isBought = true;
    // The service behaves from now on, so that the day can end.
    faults.clear();
  });
  while (!isBought || (await openPurchases()) > 0) {
    await Promise.race([pause(500), isBought ? pause(500) : buying]);
    if (performance.now() > deadline) {
      const { rows } = await admin.query('SELECT id, state, held FROM purchases WHERE ended IS NULL');
      const health = await (await fetch(`${url}/health/ready`)).text();
      throw new Error(`Still open: ${JSON.stringify(rows)}; health: ${health}`);
    }
    pay();
    await decide();
    if (isBought) await repeatEvents();
  }
  await compare();
  console.log(await (await fetch(`${url}/metrics`)).text());
  assert.deepEqual(await ground.stopReplicas(), ['stopped', 'stopped']);

  /** The service, the purchases and the balances agree. */
  async function compare(): Promise<void> {
    const ordered = sandbox.orders.map(({ partner_order_id }) => partner_order_id);
    assert.equal(new Set(ordered).size, ordered.length, 'no order twice');
    const { rows: ended } = await admin.query<{ purchase: string; ended: string; amount: string }>(
      'SELECT purchase, ended, amount::text FROM effects JOIN purchases ON id = purchase',
    );
    assert.deepEqual(
      ended.map(({ purchase }) => purchase).sort(),
      ordered.filter((id) => id !== falsified).sort(),
      'each order ends once, none is missing',
    );
    const reported = new Map(
      sandbox.deliveries
        .filter(({ name }) => name === 'event.buy.credited.crypto')
        .map(({ partner_order_id, body }) => [
          partner_order_id,
          decimalLiteral(body, 'crypto_amount_to_receive'),
        ]),
    );
    for (const { purchase, ended: ending, amount } of ended)
      if (ending === 'credited') assert.equal(Number(amount), Number(reported.get(purchase)));
    const { rows: wrong } = await admin.query(
      `SELECT phone FROM customers WHERE balance <> coalesce((SELECT sum(amount) FROM effects JOIN purchases ON id = purchase
       WHERE purchases.phone = customers.phone AND ended = 'credited'), 0)`,
    );
    assert.deepEqual(wrong, [], 'each balance is the sum of its credits');
    const { rows: suspected } = await admin.query(
      'SELECT held FROM purchases WHERE id = $1 AND ended IS NULL',
      [falsified],
    );
    assert.match(suspected[0].held, /another address/, 'nobody is paid at an address that was not ordered');
    const credited = ended.filter((purchase) => purchase.ended === 'credited').length;
    console.log(
      `${framework}: ${ordered.length} orders, none twice; ${credited} credits and ${ended.length - credited} refunds, each once; one event with another address refused; ${purchases - ordered.length} abandoned.`,
    );
  }
}
