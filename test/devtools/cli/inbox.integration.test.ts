import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HandlingOptions } from '../../../src/inbox/handling-options.ts';
import type { ManagedInbox } from '../../../src/inbox/inbox.ts';
import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { storeInbox } from '../../../src/inbox/store/store-inbox.ts';
import { postgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { redisStore } from '../../../src/store/redis/redis-store.ts';
import { describeWith, postgresUrl, redisUrl } from '../../store/servers.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { partnerExchange, type RunOptions } from './run-in-process.ts';
import { scratchFolder } from './support.ts';

const root = join(import.meta.dirname, '../../..');
const options: HandlingOptions = { maxAttempts: 1, retry: { firstDelayMs: 1 } };

/** Stores events whose handling fails, and waits until they are dead. @returns their digests */
async function fill(inbox: ManagedInbox, bodies: readonly string[]): Promise<string[]> {
  const handle = () => Promise.reject(new Error('The shop is closed'));
  inbox.attach?.({ hasHandlers: true, handle, report: () => {} });
  const digests = bodies.map((body) => createHash('sha256').update(body).digest('hex'));
  for (const [index, body] of bodies.entries()) {
    const digest = digests[index] ?? '';
    // Dead letters are listed by when they came: no two in one millisecond.
    for (const since = Date.now(); Date.now() === since; ) await nextTurn();
    await inbox.receive({ digest, name: 'event.buy.init', key: { index: 0 }, body }, handle);
  }
  await expect.poll(async () => (await inbox.counts()).dead, { timeout: 20_000 }).toBe(bodies.length);
  return digests;
}

describe('over a SQLite file, inbox', () => {
  async function deadLetters() {
    const cwd = scratchFolder();
    const inbox = sqliteInbox({ path: join(cwd, 'inbox.sqlite'), pollMs: 5, ...options });
    const [first = ''] = await fill(inbox, ['{"name":"Ada"}', '{"name":"Bayo"}']);
    await inbox.stop();
    const run = (args: readonly string[], more: RunOptions = {}) =>
      partnerExchange(['inbox', ...args, '--inbox', 'inbox.sqlite'], { cwd, now: Date.now, ...more });
    return { cwd, first, run };
  }

  it('list names them, without their bodies', async () => {
    const { first, run } = await deadLetters();
    const { code, stdout, stderr } = await run(['list']);
    expect(code).toBe(0);
    expect(stdout).toContain(`${first.slice(0, 12)} event.buy.init (1 attempt, received 20`);
    expect(stdout).toContain('The shop is closed');
    expect(stdout).not.toContain('Ada');
    expect(stderr).toBe('2 dead, 0 open.\n');
    const json = (await run(['list', '--format', 'json'])).stdout.split('\n')[0] ?? '';
    expect(JSON.parse(json)).toMatchObject({ digest: first, attempts: 1 });
  });

  it('discard --attack drops what an attack left, also what waits, and nothing else', async () => {
    const cwd = scratchFolder();
    const path = join(cwd, 'inbox.sqlite');
    const inbox = sqliteInbox({ path, pollMs: 5, ...options });
    const bodyOf = (partner_order_id: string) => JSON.stringify({ partner_order_id });
    const [kept = ''] = await fill(inbox, [bodyOf('A-1'), bodyOf('probe-7-0123abcd'), bodyOf('probe-1')]);
    await inbox.stop();
    const receiver = sqliteInbox({ path, role: 'receiver' });
    const body = bodyOf('probe-8-0123abcd-11');
    const digest = createHash('sha256').update(body).digest('hex');
    const waiting = { digest, name: 'event.buy.init', key: { index: 0 }, body };
    await receiver.receive(waiting, async () => 'handled');
    const args = ['inbox', 'discard', '--attack', '--inbox', 'inbox.sqlite'];
    const { code, stdout, stderr } = await partnerExchange(args, { cwd, now: Date.now });
    expect({ code, stderr, lines: stdout.split('\n').length - 1 }).toEqual({
      code: 0,
      stderr: '2 dropped.\n',
      lines: 2,
    });
    expect(await receiver.counts()).toEqual({ open: 0, dead: 2 });
    expect(await receiver.deadLetter(kept)).toBeDefined();
    await receiver.stop();
    const both = await partnerExchange([...args, '--all'], { cwd, now: Date.now });
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('give no digests') });
  });

  it('replay puts one back, or all', async () => {
    const { first, run } = await deadLetters();
    expect((await run(['replay', first.slice(0, 8)])).code).toBe(0);
    expect((await run(['list'])).stderr).toBe('1 dead, 1 open.\n');
    expect((await run(['replay', '--all'])).code).toBe(0);
    expect((await run(['list'])).stderr).toBe('0 dead, 2 open.\n');
  });

  it('discard asks, and drops', async () => {
    const { first, run } = await deadLetters();
    expect(await run(['discard', first])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--yes'),
    });
    const no = await run(['discard', '--all'], { isTerminal: true, confirm: async () => false });
    expect(no.code).toBe(130);
    expect((await run(['list'])).stderr).toBe('2 dead, 0 open.\n');
    expect((await run(['discard', first, '--yes'])).code).toBe(0);
    expect((await run(['list'])).stderr).toBe('1 dead, 0 open.\n');
  });

  it('exits with 1 at an unknown digest before anything is touched, and with 2 at a malformed one, or none', async () => {
    const { first, run } = await deadLetters();
    expect((await run(['replay', first, 'abcdef'])).code).toBe(1);
    expect((await run(['list'])).stderr).toBe('2 dead, 0 open.\n');
    expect((await run(['show', 'xyz'])).code).toBe(2);
    expect((await run(['replay'])).code).toBe(2);
    expect((await run(['discard', first, '--all', '--yes'])).code).toBe(2);
  });

  it('asks for more of a digest whose beginning two deliveries share', async () => {
    const cwd = scratchFolder();
    const inbox = sqliteInbox({ path: join(cwd, 'inbox.sqlite'), role: 'receiver' });
    const pair = ['b', 'c'].map((end) => 'a'.repeat(63) + end);
    for (const digest of pair)
      await inbox.receive({ digest, name: 'x', key: { index: 0 }, body: '{}' }, async () => 'handled');
    await inbox.stop();
    const show = (digest = '') =>
      partnerExchange(['inbox', 'show', digest, '--inbox', 'inbox.sqlite'], { cwd, now: Date.now });
    expect(await show('aaaaaa')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Several deliveries begin'),
    });
    expect(await show(pair[1])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`digest:   ${pair[1]}`),
    });
  });

  it('makes no file that is not there', async () => {
    const { cwd } = await deadLetters();
    const { code } = await partnerExchange(['inbox', 'list', '--inbox', 'none.sqlite'], { cwd });
    expect({ code, made: existsSync(join(cwd, 'none.sqlite')) }).toEqual({ code: 2, made: false });
  });

  it('says so where the file is something else, and makes no tables in it', async () => {
    const cwd = scratchFolder();
    const database = new DatabaseSync(join(cwd, 'other.sqlite'));
    database.exec('CREATE TABLE mine (v)');
    for (const args of [
      ['inbox', 'list', '--inbox', 'other.sqlite'],
      ['order', 'unsettled', '--journal', 'other.sqlite'],
    ]) {
      const { code, stderr } = await partnerExchange(args, { cwd });
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringMatching(/other\.sqlite has no table partner_/),
      });
    }
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    expect(tables).toEqual([{ name: 'mine' }]);
    database.close();
  });

  it.each([
    ['redis://127.0.0.1:1', 'the package ioredis, which'],
    ['postgres://127.0.0.1:1/x', 'the package pg, which'],
  ])('%s: says which package is missing', async (where, message) => {
    const args = ['inbox', 'list', '--inbox', where];
    const { code, stderr } = await partnerExchange(args, { cwd: scratchFolder() });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });

  it('a schema and a table are refused for a file', async () => {
    const { run } = await deadLetters();
    const { code, stderr } = await run(['list', '--schema', 'shop']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('are for a PostgreSQL') });
  });
});

/** A delivery that fails, one that is held, one that waits and one that is handled, as the commands tell of them. */
async function checkDeliveries(
  open: (given: HandlingOptions) => ManagedInbox,
  place: readonly string[],
  env: Record<string, string> = {},
  cwd = root,
): Promise<void> {
  const run = (...args: string[]) =>
    partnerExchange(['inbox', ...args, ...place], { cwd, env, now: Date.now });
  const inbox = open({ maxAttempts: 2, retry: { firstDelayMs: 1 }, concurrency: 4 });
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  onTestFinished(async () => {
    end.resolve();
    await inbox.stop();
  });
  const handle = async ({ name }: { name: string }) => {
    if (name === 'bad') throw new Error('The shop is closed');
    if (name !== 'held') return 'handled' as const;
    begun.resolve();
    await end.promise;
    return 'handled' as const;
  };
  inbox.attach?.({ hasHandlers: true, handle, report: () => {} });
  const digests: Record<string, string> = {};
  for (const name of ['bad', 'held', 'good']) {
    const digest = createHash('sha256').update(`${place}${name}`).digest('hex');
    digests[name] = digest;
    await inbox.receive({ digest, name, key: { index: 0 }, body: '{"name":"Ada"}' }, async () => 'handled');
  }
  await begun.promise;
  await expect.poll(() => inbox.counts(), { timeout: 20_000 }).toMatchObject({ open: 1, dead: 1 });
  const { bad = '', held = '', good = '' } = digests;

  const listed = await run('list');
  expect(listed.stdout).toContain(`${bad.slice(0, 12)} bad (2 attempts, received 20`);
  expect(listed.stdout).not.toContain('Ada');
  expect(listed.stderr).toBe('1 dead, 1 open.\n');

  const dead = (await run('show', bad.slice(0, 10))).stdout;
  expect(dead).toMatch(/attempts: 2\n.*received: 20.*\nreason: .*The shop is closed/);
  expect(dead).toContain(`next:     Mend the cause, then "inbox replay ${bad.slice(0, 12)}"`);
  expect(dead).toContain('{"name":"Ada"}');
  expect(JSON.parse((await run('show', bad, '--format', 'json')).stdout)).toMatchObject({
    digest: bad,
    state: 'dead',
    attempts: 2,
    reason: expect.stringContaining('The shop is closed'),
    body: '{"name":"Ada"}',
    next: expect.stringContaining('replay'),
  });

  const running = (await run('show', held)).stdout;
  expect(running).toMatch(/state: {4}held\n(.*\n)*until: {4}20/);
  expect(running).not.toContain('Ada');
  expect(JSON.parse((await run('show', held, '--format', 'json')).stdout)).toMatchObject({
    state: 'held',
    dueAt: expect.stringMatching(/^20/),
  });
  expect((await run('show', good)).stdout).toContain('state:    handled\nnext:     Nothing: it was handled');
  const unknown = await run('show', 'abcdef0123456789');
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no delivery abcdef') });
}

describe('inbox show shows a delivery,', () => {
  it('over a SQLite file', async () => {
    const cwd = scratchFolder();
    const open = (given: HandlingOptions) =>
      sqliteInbox({ path: join(cwd, 'inbox.sqlite'), pollMs: 5, ...given });
    await checkDeliveries(open, ['--inbox', 'inbox.sqlite'], {}, cwd);
  });
});

/** What is the same for every engine. */
async function checkEngine(inbox: ManagedInbox, place: readonly string[], env: Record<string, string>) {
  const left = JSON.stringify({ partner_order_id: 'probe-7-0123abcd' });
  const [first = ''] = await fill(inbox, ['{"name":"Ada"}', left]);
  const run = (args: readonly string[]) =>
    partnerExchange(['inbox', ...args, ...place], { cwd: root, env, now: Date.now });
  expect((await run(['discard', '--attack'])).stderr).toBe('1 dropped.\n');
  await inbox.quarantine?.keep({ digest: 'f'.repeat(64), body: '{}', partners: '' });
  expect((await run(['list'])).stderr).toBe('1 dead, 0 open. 1 in quarantine: nobody can verify them yet.\n');
  const kept = await inbox.quarantine?.list({ limit: 10 });
  await inbox.quarantine?.remove(kept?.map(({ digest }) => digest) ?? []);
  await inbox.stop();
  expect(await run(['list'])).toMatchObject({ code: 0, stdout: expect.stringContaining(first.slice(0, 12)) });
  expect((await run(['show', first])).stdout).toContain('{"name":"Ada"}');
  expect(await run(['discard', first, '--yes'])).toMatchObject({ code: 0 });
  expect(await run(['list'])).toMatchObject({ code: 0, stdout: '' });
}

describeWith('redis', 'inbox, a record store on Redis', () => {
  it('lists, shows and drops the deliveries of its prefix', { timeout: 30_000 }, async () => {
    const prefix = `pex_${randomBytes(5).toString('hex')}/`;
    const client = new Redis(redisUrl);
    onTestFinished(async () => {
      await client.quit();
    });
    const inbox = storeInbox({ store: redisStore({ client }), prefix, pollMs: 20, ...options });
    await checkEngine(inbox, ['--inbox', 'env:STORE', '--prefix', prefix], { STORE: redisUrl });
  });
});

describeWith('postgres', 'inbox, a record store on PostgreSQL', () => {
  /** A schema of its own, which is dropped when the test is over. */
  async function ownSchema() {
    const pool = new pg.Pool({ connectionString: postgresUrl });
    const schema = `pex_${randomBytes(5).toString('hex')}`;
    await pool.query(`CREATE SCHEMA ${schema}`);
    onTestFinished(async () => {
      await pool.query(`DROP SCHEMA ${schema} CASCADE`);
      await pool.end();
    });
    const tables = async () => {
      const query = 'SELECT tablename FROM pg_tables WHERE schemaname = $1';
      return (await pool.query(query, [schema])).rows.map(({ tablename }) => tablename);
    };
    return {
      pool,
      schema,
      tables,
      env: { STORE: postgresUrl },
      at: ['--inbox', 'env:STORE', '--schema', schema],
    };
  }

  it('lists, shows and drops in the table that is named', { timeout: 30_000 }, async () => {
    const { pool, schema, env, at } = await ownSchema();
    const store = postgresStore({ client: pool, schema, table: 'events' });
    const inbox = storeInbox({ store, prefix: 'shop/', pollMs: 20, ...options });
    await checkEngine(inbox, [...at, '--table', 'events', '--prefix', 'shop/'], env);
  });

  it('says that nothing was ever received where a table holds no deliveries', async () => {
    const { pool, schema, env, at } = await ownSchema();
    const store = postgresStore({ client: pool, schema });
    await store.transact(['orders:order:1'], (records) => records.set('orders:order:1', {}));
    const { code, stdout, stderr } = await partnerExchange(['inbox', 'list', ...at], { cwd: root, env });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('No delivery was ever received'),
    });
  });
});
