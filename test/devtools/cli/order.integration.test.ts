import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ExchangeClient } from '../../../src/client/exchange-client.ts';
import { defineDeployment } from '../../../src/deployment/define-deployment.ts';
import { createOrderJournal } from '../../../src/orders/order-journal.ts';
import { postgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { root } from '../../../tools/checks/entries.ts';
import { bases } from '../../deployment/bases.ts';
import { describeWith, postgresUrl, run } from '../../store/servers.ts';
import { buyCreditedBody, buyInitBody } from '../../support/bodies.ts';
import { startServer } from '../../support/local-server.ts';
import { startChild } from './child.ts';
import { partnerExchange, type RunOptions } from './run-in-process.ts';
import { partnerService } from './service.ts';
import { order as anyOrder, filesIn, keys, keysFile } from './support.ts';

const order = { ...anyOrder, partner_order_id: 'A-1001' };
const journal = ['--journal', 'orders.sqlite'];
const create = ['order', 'create', 'order.json', ...journal];

/** A whitelisted partner with an order in a file. */
async function partner() {
  const { sandbox, options, credentials } = await partnerService({ fetch: async () => new Response() });
  const cwd = filesIn({ 'order.json': JSON.stringify(order) });
  /** Of the orders that were posted. */
  const bodies: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.url.includes('CreateOrder')) bodies.push(await request.clone().text());
    return await sandbox.fetch(request);
  };
  const env = {
    ...options.env,
    PARTNER_PUBLIC_KEY: credentials.partnerPublicKey,
    PARTNER_SECRET_KEY: credentials.partnerSecretKey,
    MERCHANT_SECRET_KEY: credentials.merchantSecretKey,
    PARTNER_ID: credentials.partnerId,
  };
  const run = (args: readonly string[], more: RunOptions = {}) =>
    partnerExchange(args, { cwd, fetch, env, ...more });
  return { sandbox, cwd, run, bodies, posted: () => bodies.length };
}

describe('order create', () => {
  it('shows the body and asks; a no sends nothing and writes nothing', async () => {
    const { cwd, run, posted } = await partner();
    const confirm = async () => false;
    const { code, stderr } = await run(create, { isTerminal: true, confirm });
    expect({ code, posted: posted(), made: existsSync(join(cwd, 'orders.sqlite')) }).toEqual({
      code: 130,
      posted: 0,
      made: false,
    });
    expect(stderr).toContain('\n  "partner_order_id": "A-1001",\n');
    expect(stderr).toMatch(/POST .*http/);
  });

  it('creates it once, however often it is run', async () => {
    const { cwd, run, posted } = await partner();
    const first = await run(create, { isTerminal: true, confirm: async () => true });
    expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/accepted.*A-1001 \(1 request,/) });
    expect(first.stderr).toContain('The journal orders.sqlite is new.');
    if (process.platform !== 'win32') {
      expect(statSync(join(cwd, 'orders.sqlite')).mode & 0o777).toBe(0o600);
    }
    const second = await run([...create, '--yes', '--format', 'json']);
    expect(second.code).toBe(0);
    expect(JSON.parse(second.stdout)).toMatchObject({ order: { state: 'accepted', attempts: 1 } });
    expect(posted()).toBe(1);
  });

  it('needs --yes where nobody can be asked: without a terminal, or when stdin is the order', async () => {
    const { run, posted } = await partner();
    expect(await run(create)).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    const stdin = JSON.stringify(order);
    const piped = ['order', 'create', ...journal];
    expect(await run(piped, { stdin, isTerminal: true })).toMatchObject({ code: 2 });
    expect(await run([...piped, '--yes'], { stdin })).toMatchObject({ code: 0 });
    expect(posted()).toBe(1);
  });

  it('exits with 3 after an unknown outcome and says what to do; then nothing is sent', async () => {
    const { sandbox, run, posted } = await partner();
    sandbox.faults.plan('createOrder', 'reply_lost');
    for (const attempt of [1, 2]) {
      const { code, stderr } = await run([...create, '--yes']);
      expect({ attempt, code, posted: posted() }).toEqual({ attempt, code: 3, posted: 1 });
      expect(stderr).toContain('partner-exchange order settle A-1001 accepted');
    }
    const json = await run([...create, '--yes', '--format', 'json']);
    expect(json.stderr).toContain('"code":"outcome_unknown"');
  });

  it('exits with 1 after a refusal', async () => {
    const { run } = await partner();
    const fetch = async () => Response.json({ message: 'No such chain' }, { status: 400 });
    const { code, stderr } = await run([...create, '--yes'], { fetch });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('No such chain') });
    expect(stderr).not.toContain('settle');
    const again = await run([...create, '--yes'], { fetch });
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('as it is with the option `again`.'),
    });
  });

  it('--save keeps the whole reply, of which the text shows no link', async () => {
    const { cwd, run } = await partner();
    expect((await run([...create, '--yes', '--save', 'reply.json'])).code).toBe(0);
    const path = join(cwd, 'reply.json');
    expect(Object.keys(JSON.parse(readFileSync(path, 'utf8'))).length).toBeGreaterThan(0);
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
    const again = await run([...create, '--yes', '--save', 'second.json']);
    expect({ code: again.code, made: existsSync(join(cwd, 'second.json')) }).toEqual({
      code: 0,
      made: false,
    });
  });

  it.each([
    ['leaves no file behind a refusal', 400, false],
    ['keeps the reply about an order that may be placed', 500, true],
  ])('--save %s', async (_, status, isKept) => {
    const { cwd, run } = await partner();
    const fetch = async () => Response.json({ message: 'No such chain' }, { status });
    const { code } = await run([...create, '--yes', '--save', 'reply.json'], { fetch });
    expect([code, existsSync(join(cwd, 'reply.json'))]).toEqual([isKept ? 3 : 1, isKept]);
  });

  it('shows what is wrong with the order before anything is asked or written', async () => {
    const { cwd, run } = await partner();
    writeFileSync(join(cwd, 'order.json'), JSON.stringify({ ...order, fiat_amount: 'much' }));
    // Asking would fail this test.
    const { code, stderr } = await run(create, { isTerminal: true });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('fiat_amount') });
    expect(existsSync(join(cwd, 'orders.sqlite'))).toBe(false);
  });
});

describe.skipIf(process.platform === 'win32')('order create, stopped by Ctrl-C', { timeout: 60_000 }, () => {
  /** A service that takes orders and never answers. */
  async function silentService() {
    const server = await startServer(() => {});
    const env = { ...keys, PARTNER_EXCHANGE_ONBOARDING_BASE_URL: server.url };
    return { server, env, cwd: filesIn({ 'order.json': JSON.stringify(order) }) };
  }

  it('while the order is under way, ends with 3 and what to do, and never sends it again', async () => {
    const { server, env, cwd } = await silentService();
    const child = startChild([...create, '--yes'], { env, cwd });
    await expect.poll(() => server.requests.length, { timeout: 20_000 }).toBe(1);
    child.process.kill('SIGINT');
    const stopped = await child.ended;
    expect(stopped.code).toBe(3);
    expect(stopped.stderr).toContain('partner-exchange order settle A-1001 accepted');
    const listed = await partnerExchange(['order', 'unsettled', ...journal, '--format', 'json'], { cwd });
    expect(JSON.parse(listed.stdout)).toMatchObject({ partner_order_id: 'A-1001', state: 'unknown' });
    expect((await partnerExchange([...create, '--yes'], { env, cwd, fetch })).code).toBe(3);
    expect(server.requests).toHaveLength(1);
  });
});

describe('order unsettled and settle', () => {
  it('list what is unknown until a person settles it', async () => {
    const { sandbox, run } = await partner();
    sandbox.faults.plan('createOrder', 'reply_lost');
    await run([...create, '--yes']);
    const env = {};
    const listed = await run(['order', 'unsettled', ...journal, '--format', 'json'], { env });
    expect(listed.code).toBe(0);
    expect(JSON.parse(listed.stdout)).toMatchObject({ partner_order_id: 'A-1001', state: 'unknown' });
    const settle = ['order', 'settle', 'A-1001', 'accepted', '--note', 'seen', ...journal];
    expect(await run(settle, { env })).toMatchObject({ code: 0, stdout: expect.stringMatching(/^accepted/) });
    expect(await run(settle.with(3, 'abandoned'), { env })).toMatchObject({ code: 1 });
    expect(await run(settle.with(2, 'A-9'), { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not in the journal. Check the id'),
    });
    expect(await run(['order', 'unsettled', ...journal], { env })).toMatchObject({
      stdout: '',
      stderr: 'Nothing is unsettled.\n',
    });
  });

  it('list an accepted order whose event has not come in an hour, and say so', async () => {
    const { cwd, run } = await partner();
    const at = Date.UTC(2026, 0, 2);
    const store = sqliteStore({ path: join(cwd, 'orders.sqlite'), now: () => at });
    await run([...create, '--yes'], { now: () => at });
    const prepareOrder = () => Promise.reject(new Error());
    const other = { ...order, partner_order_id: 'A-2' };
    writeFileSync(join(cwd, 'order.json'), JSON.stringify(other));
    await run([...create, '--yes'], { now: () => at });
    await createOrderJournal({ exchange: { prepareOrder }, store, now: () => at }).observe(other);
    await store.close();
    const listed = await run(['order', 'unsettled', ...journal], { now: () => at + 3_600_000 });
    expect(listed.stdout).toMatch(
      /^accepted {2}A-1001 \(.*\): no event of it since 2026-01-02T00:00:00.000Z\n$/,
    );
  });

  it('list and show what an event says otherwise, and what to do', async () => {
    const { cwd, run } = await partner();
    await run([...create, '--yes']);
    const store = sqliteStore({ path: join(cwd, 'orders.sqlite') });
    const prepareOrder = () => Promise.reject(new Error());
    const { observe } = createOrderJournal({ exchange: { prepareOrder }, store, onMismatch: () => {} });
    const elsewhere = 'TTZW3rKNFSK4L4tWqMosLsdd8EkBhEKGG2';
    await observe(buyInitBody({ chain: 'usdc\u001b[2J' })).catch(() => {});
    await observe(buyCreditedBody({ buyer_crypto_address: elsewhere })).catch(() => {});
    await store.close();
    const listed = await run(['order', 'list', '--attention', ...journal]);
    expect(listed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^accepted .*A-1001/),
      stderr: '1 order.\n',
    });
    const shown = await run(['order', 'show', 'A-1001', ...journal]);
    expect(shown.stdout).toContain('ordered: 15000.50 NGN on usdt-trc20');
    expect(shown.stdout).toMatch(/event\.buy\.init .*differs: chain usdc\\u001b\[2J instead of usdt-trc20/);
    expect(shown.stdout).toMatch(/event\.buy\.credited\.crypto .*differs: buyer_crypto_address/);
    expect(shown.stdout).toContain('Look at the service');
    expect(await run(['order', 'show', 'A-9', ...journal])).toMatchObject({ code: 1 });

    const reconcile = ['order', 'reconcile', '--since', '1d', ...journal];
    const found = await run([...reconcile, '--format', 'json']);
    expect(found.code).toBe(1);
    expect(JSON.parse(found.stdout)).toMatchObject({ kind: 'mismatch', partner_order_id: 'A-1001' });
    writeFileSync(join(cwd, 'orders.csv'), 'Order,Paid\nA-1001,7\n=cmd(),1\n');
    const statement = ['--statement', 'orders.csv', '--column', 'id=Order', '--column', 'amount=Paid'];
    const compared = await run([...reconcile, ...statement]);
    expect(compared.stdout.match(/^\w+ \S+/gm)).toEqual([
      'amount_differs A-1001',
      'only_in_statement =cmd():',
      'mismatch A-1001',
    ]);
    expect(await run([...reconcile, '--column', 'Order'])).toMatchObject({ code: 2 });
    expect(await run([...reconcile, '--statement', 'none.csv'])).toMatchObject({ code: 2 });
    expect(await run(reconcile.with(3, 'soon'))).toMatchObject({ code: 2 });
  });

  it('print the digests of differing events, and decide about those that are named alone', async () => {
    const { cwd, run } = await partner();
    await run([...create, '--yes']);
    const store = sqliteStore({ path: join(cwd, 'orders.sqlite') });
    const prepareOrder = () => Promise.reject(new Error());
    const { observe } = createOrderJournal({ exchange: { prepareOrder }, store, onMismatch: () => {} });
    const digests = ['a'.repeat(64), 'b'.repeat(64)];
    const body = buyCreditedBody({ buyer_crypto_address: 'TTZW3rKNFSK4L4tWqMosLsdd8EkBhEKGG2' });
    for (const digest of digests) await observe(body, { digest }).catch(() => {});
    await store.close();
    const settle = (...args: string[]) =>
      run(['order', 'settle', 'A-1001', ...args, '--note', 'seen', ...journal]);
    const refused = await settle('accepted');
    expect(refused.code).toBe(1);
    for (const digest of digests) expect(refused.stderr).toContain(digest);
    expect(await settle('rejected')).toMatchObject({ code: 2 });
    expect(await settle('accepted', '--event', 'c'.repeat(64))).toMatchObject({ code: 1 });
    expect(await settle('accepted', '--event', digests[0] ?? '')).toMatchObject({ code: 0 });
    const shown = await run(['order', 'show', 'A-1001', ...journal]);
    expect(shown.stdout).toContain(`(${digests[0]}): differs: buyer_crypto_address; accepted: seen`);
    expect(shown.stdout).toContain('--event <digest>');
    expect(await settle('rejected', '--event', digests[1] ?? '')).toMatchObject({ code: 0 });
    expect((await run(['order', 'list', '--attention', ...journal])).stdout).toBe('');
  });

  it('make no journal that is not there', async () => {
    const { cwd, run } = await partner();
    for (const args of [['unsettled'], ['settle', 'A-1', 'accepted', '--note', 'x']]) {
      const { code, stderr } = await run(['order', ...args, '--journal', 'none.sqlite']);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('no none.sqlite') });
    }
    expect(existsSync(join(cwd, 'none.sqlite'))).toBe(false);
  });
});

it.each(['"redis://:s3cretpass@127.0.0.1:1"', `\${S3CRETPASS}`, 'undefined'])(
  'a journal whose variable holds what a tool has left is refused by its name, and not shown: %s',
  async (STORE) => {
    const options = { env: { STORE }, cwd: filesIn({}) };
    const refused = await partnerExchange(
      ['order', 'unsettled', '--journal', 'env:STORE', '--debug'],
      options,
    );
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The value of the variable STORE '),
    });
    expect(refused.stdout + refused.stderr).not.toMatch(/s3cretpass/i);
  },
);

describeWith('postgres', 'order unsettled and order settle, on a PostgreSQL', () => {
  it('read the journal of a schema, a table and a prefix, and say so where there is none', async () => {
    const pool = new pg.Pool({ connectionString: postgresUrl });
    const schema = `${run}_journal`;
    await pool.query(`CREATE SCHEMA ${schema}`);
    onTestFinished(async () => {
      await pool.query(`DROP SCHEMA ${schema} CASCADE`);
      await pool.end();
    });
    const store = postgresStore({ client: pool, schema, table: 'journal' });
    const exchange = new ExchangeClient({ deployment: defineDeployment(bases), credentials: keysFile });
    await createOrderJournal({ exchange, store, prefix: 'ng:' }).prepare(order);
    const unsettled = (...more: string[]) => {
      const place = ['--journal', 'env:STORE', '--schema', schema, '--table', 'journal', ...more];
      return partnerExchange(['order', 'unsettled', ...place], { cwd: root, env: { STORE: postgresUrl } });
    };
    expect(await unsettled('--prefix', 'ng:')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('A-1'),
      stderr: '1 unsettled.\n',
    });
    const elsewhere = await unsettled();
    expect(elsewhere).toMatchObject({ code: 1, stdout: '' });
    expect(elsewhere.stderr).toContain('No order was ever written into this journal');
    expect(elsewhere.stderr).not.toContain('Nothing is unsettled');
  });
});
