import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Queue, Worker } from 'bullmq';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bullmqInbox } from '../../src/inbox/bullmq/bullmq-inbox.ts';
import type { HandlingOptions } from '../../src/inbox/handling-options.ts';
import type { ManagedInbox } from '../../src/inbox/inbox.ts';
import { pgBossInbox } from '../../src/inbox/pg-boss/pg-boss-inbox.ts';
import { sqliteInbox } from '../../src/inbox/sqlite/sqlite-inbox.ts';
import { startBoss } from '../inbox/engines.ts';
import { describeWith, postgresUrl, redisUrl } from '../store/servers.ts';
import { nextTurn } from '../support/next-turn.ts';
import { partnerExchange, type RunOptions } from './run-in-process.ts';
import { scratchFolder } from './support.ts';

const root = join(import.meta.dirname, '..', '..');
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

describe('inbox, a SQLite file', () => {
  async function deadLetters() {
    const cwd = scratchFolder();
    const inbox = sqliteInbox({ path: join(cwd, 'inbox.sqlite'), pollMs: 5, ...options });
    const [first = '', second = ''] = await fill(inbox, ['{"name":"Ada"}', '{"name":"Bayo"}']);
    await inbox.stop();
    const run = (args: readonly string[], more: RunOptions = {}) =>
      partnerExchange(['inbox', ...args, '--inbox', 'inbox.sqlite'], { cwd, now: Date.now, ...more });
    return { cwd, first, second, run };
  }

  it('list names them, without their bodies', async () => {
    const { first, run } = await deadLetters();
    const { code, stdout, stderr } = await run(['list']);
    expect(code).toBe(0);
    expect(stdout).toContain(`${first.slice(0, 12)} event.buy.init (1 attempt, received 20`);
    expect(stdout).toContain('The shop is closed');
    expect(stdout).not.toContain('Ada');
    expect(stderr).toBe('2 dead, 0 open.\n');
    const json = await run(['list', '--format', 'json', '--limit', '1']);
    expect(JSON.parse(json.stdout)).toMatchObject({ digest: first, attempts: 1 });
  });

  it('show adds the body', async () => {
    const { second, run } = await deadLetters();
    const { stdout } = await run(['show', second.slice(0, 10)]);
    expect(stdout).toContain(`digest:   ${second}`);
    expect(stdout).toContain('{"name":"Bayo"}');
    expect(JSON.parse((await run(['show', second, '--format', 'json'])).stdout).body).toBe('{"name":"Bayo"}');
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

  it('an unknown digest exits with 1 before anything is touched; a malformed one, or none, with 2', async () => {
    const { first, run } = await deadLetters();
    expect((await run(['replay', first, 'abcdef'])).code).toBe(1);
    expect((await run(['list'])).stderr).toBe('2 dead, 0 open.\n');
    expect((await run(['show', 'xyz'])).code).toBe(2);
    expect((await run(['replay'])).code).toBe(2);
    expect((await run(['discard', first, '--all', '--yes'])).code).toBe(2);
  });

  it('a file that is not there is not made', async () => {
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
    ['redis://127.0.0.1:1', 'bullmq'],
    ['postgres://127.0.0.1:1/x', 'pg-boss'],
  ])('%s: says which package is missing', async (where, name) => {
    const args = ['inbox', 'list', '--inbox', where, '--queue', 'q'];
    const { code, stderr } = await partnerExchange(args, { cwd: scratchFolder() });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`npm install ${name}`) });
  });
});

/** What is the same for every engine. */
async function checkEngine(inbox: ManagedInbox, place: readonly string[], env: Record<string, string>) {
  const [first = ''] = await fill(inbox, ['{"name":"Ada"}']);
  const run = (args: readonly string[]) =>
    partnerExchange(['inbox', ...args, ...place], { cwd: root, env, now: Date.now });
  await inbox.quarantine?.keep({ digest: 'f'.repeat(64), body: '{}', partners: '', share: '00' });
  expect((await run(['list'])).stderr).toBe('1 dead, 0 open. 1 in quarantine: nobody can verify them yet.\n');
  const kept = await inbox.quarantine?.list({ limit: 10 });
  await inbox.quarantine?.remove(kept?.map(({ id }) => id) ?? []);
  await inbox.stop();
  expect(await run(['list'])).toMatchObject({ code: 0, stdout: expect.stringContaining(first.slice(0, 12)) });
  expect((await run(['show', first])).stdout).toContain('{"name":"Ada"}');
  expect(await run(['discard', first, '--yes'])).toMatchObject({ code: 0 });
  expect(await run(['list'])).toMatchObject({ code: 0, stdout: '' });
}

describeWith('redis', 'inbox, a BullMQ queue', () => {
  it('lists, shows and drops', { timeout: 30_000 }, async () => {
    const name = `pex_${randomBytes(5).toString('hex')}`;
    const connection = { url: redisUrl, maxRetriesPerRequest: null };
    const queue = new Queue(name, { connection });
    onTestFinished(async () => {
      await queue.obliterate({ force: true });
      await queue.close();
    });
    const inbox = bullmqInbox({
      queue,
      createWorker: (worker, processor, more) => new Worker(worker, processor, { ...more, connection }),
      ...options,
    });
    await checkEngine(inbox, ['--inbox', 'env:STORE', '--queue', name], { STORE: redisUrl });
  });
});

describeWith('postgres', 'inbox, a pg-boss', () => {
  it('lists, shows and drops, and makes no queue', { timeout: 60_000 }, async () => {
    const schema = `pex_${randomBytes(5).toString('hex')}`;
    const boss = await startBoss(schema);
    onTestFinished(async () => {
      await boss.getDb().executeSql(`DROP SCHEMA ${schema} CASCADE`);
      await boss.stop({ graceful: false });
    });
    const place = ['--inbox', 'env:STORE', '--schema', schema];
    const env = { STORE: postgresUrl };
    await checkEngine(pgBossInbox({ boss, pollMs: 50, ...options }), place, env);
    const elsewhere = ['inbox', 'list', '--inbox', 'env:STORE', '--schema', `${schema}_none`];
    const wrong = await partnerExchange(elsewhere, { cwd: root, env });
    expect(wrong.stderr).toContain(`no tables of pg-boss in the schema ${schema}_none: check the address`);
    expect(wrong.code).toBe(2);
    const args = ['inbox', 'list', ...place, '--queue', 'nowhere'];
    const { code, stderr } = await partnerExchange(args, { cwd: root, env });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('no queue nowhere') });
  });
});
