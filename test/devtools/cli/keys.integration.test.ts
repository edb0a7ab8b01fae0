import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { plainCredentials } from '../../../src/credentials/define-credentials.ts';
import { createKeyRotation } from '../../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../../src/keys/stored-keys.ts';
import { redisStore } from '../../../src/store/redis/redis-store.ts';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { describeWith, postgresUrl, redisUrl, run } from '../../store/servers.ts';
import { skipped } from '../../support/skipped.ts';
import { partnerExchange, type RunOptions } from './run-in-process.ts';
import { partnerService } from './service.ts';
import { scratchFolder } from './support.ts';

const file = ['--keys', 'keys.sqlite'];
const request = ['keys', 'request', ...file, '--email', 'dev@acme.example'];

/** A partner whose first keys are in a SQLite file. */
async function partner() {
  const { sandbox, options, credentials: first } = await partnerService();
  const cwd = scratchFolder();
  const newKeys = () => sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
  const run = (args: readonly string[], more: RunOptions = {}) =>
    partnerExchange(args, { ...options, cwd, now: Date.now, ...more });
  const receive = (keys: object) =>
    run(['keys', 'receive', ...file, '--format', 'json'], { stdin: JSON.stringify(keys) });
  const status = async () => JSON.parse((await run(['keys', 'status', ...file, '--format', 'json'])).stdout);
  expect(await receive(first)).toMatchObject({ code: 0 });
  return { sandbox, cwd, run, receive, status, newKeys, first };
}

/** The keys in the file of a folder. */
function keysIn(cwd: string) {
  const store = sqliteStore({ path: join(cwd, 'keys.sqlite') });
  onTestFinished(() => store.close());
  return createKeyRotation({ storage: storedKeys({ store }) });
}

const servers = [
  ['postgres', postgresUrl],
  ['redis', redisUrl],
] as const;
for (const [server, url] of servers)
  describeWith(server, `keys in ${server}`, () => {
    const record = `${run}_keys`;
    const table = server === 'postgres' ? ['--table', `${run}_keys_cli`] : [];
    const where = ['--keys', 'env:STORE', '--record', record, ...table];
    afterAll(async () => {
      if (server === 'redis') {
        const client = new Redis(redisUrl);
        await redisStore({ client }).transact([record], (records) => records.delete(record));
        await client.quit();
        return;
      }
      const client = new pg.Client({ connectionString: postgresUrl });
      await client.connect();
      await client.query(`DROP TABLE IF EXISTS ${run}_keys_cli`);
      await client.end();
    });

    it('are received, asked for, replaced and promoted as in a file', async () => {
      const { sandbox, options, credentials: first } = await partnerService();
      const env = { ...options.env, STORE: url };
      const cwd = join(import.meta.dirname, '../../..');
      const command = (args: readonly string[], stdin = '') =>
        partnerExchange(args, { ...options, env, cwd, now: Date.now, stdin });
      if (server === 'postgres')
        expect(await command(['keys', 'status', ...where])).toMatchObject({
          code: 2,
          stderr: expect.stringContaining('There is no table'),
        });
      const received = await command(['keys', 'receive', ...where], JSON.stringify(first));
      expect(received).toMatchObject({ code: 0, stderr: expect.stringContaining(where.join(' ')) });
      expect(await command(['keys', 'request', ...where, '--email', 'dev@acme.example'])).toMatchObject({
        code: 0,
      });
      const second = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
      expect(await command(['keys', 'receive', ...where], JSON.stringify(second))).toMatchObject({ code: 0 });
      expect(await command(['keys', 'promote', ...where])).toMatchObject({ code: 0 });
      expect(await command(['keys', 'status', ...where])).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^idle: .*\n {2}2 signing .*\n {2}1 replaced/),
      });
    });
  });

describe('keys', () => {
  it('exits with 1 at a file that is no database, and leaves it as it is', async () => {
    const { cwd, run } = await partner();
    const bare = join(cwd, 'bare.json');
    writeFileSync(bare, '{"partnerPublicKey":"pk_partner_1"}'.padEnd(200), { mode: 0o600 });
    for (const step of ['status', 'promote', 'receive']) {
      const { code, stderr } = await run(['keys', step, '--keys', 'bare.json'], { stdin: '{}' });
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringContaining('The file of the record store cannot be used now.'),
      });
    }
    expect(readFileSync(bare, 'utf8').trim()).toBe('{"partnerPublicKey":"pk_partner_1"}');
  });

  it.runIf(process.geteuid?.() === 0)('refuses a file of another user, and leaves it as it is', async () => {
    const { cwd, run, first } = await partner();
    const theirs = join(cwd, 'theirs.sqlite');
    copyFileSync(join(cwd, 'keys.sqlite'), theirs);
    chmodSync(theirs, 0o600);
    chownSync(theirs, 1234, 1234);
    const before = readFileSync(theirs);
    const steps = [['sign'], ['keys', 'receive'], ['keys', 'promote']];
    for (const args of steps) {
      const ended = await run([...args, '--keys', 'theirs.sqlite'], { stdin: JSON.stringify(first) });
      expect(ended.code).not.toBe(0);
      expect(ended.stderr).toMatch(/a file of your own|of another user/);
    }
    expect(statSync(theirs)).toMatchObject({ uid: 1234, mode: 0o100600 });
    expect(readFileSync(theirs).equals(before)).toBe(true);
  });

  it('replaces the keys, step by step, in a private file', async () => {
    const { cwd, run, receive, status, newKeys, first } = await partner();
    if (process.platform !== 'win32') expect(statSync(join(cwd, 'keys.sqlite')).mode & 0o777).toBe(0o600);
    expect(await status()).toMatchObject({ step: 'idle', keys: [{ generation: 1, role: 'signing' }] });

    const asked = await run(request);
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^accepted with status 200/) });
    expect(asked.stderr).toContain('keys receive --keys keys.sqlite');
    expect((await status()).step).toBe('requested');

    const second = newKeys();
    const received = await receive(second);
    expect(JSON.parse(received.stdout)).toMatchObject({ step: 'received', keys: [{}, { role: 'pending' }] });
    expect(received.stdout + received.stderr).not.toContain(second.partnerSecretKey);
    expect(received.stderr).toContain('keys promote --keys keys.sqlite');

    expect((await run(['keys', 'promote', ...file])).code).toBe(0);
    const { stdout } = await run(['keys', 'status', ...file]);
    expect(stdout).toMatch(
      /^idle: nothing is under way\n {2}2 signing .*\n {2}1 replaced .*verifies until .*\n$/,
    );
    const { verifying } = await keysIn(cwd).credentials();
    expect(verifying.map((keys) => keys.partnerSecretKey)).toEqual([
      second.partnerSecretKey,
      first.partnerSecretKey,
    ]);
  });

  it('never asks twice by itself, and exits with 3 when the first may have got there', async () => {
    const { sandbox, run, status } = await partner();
    sandbox.faults.plan('regenerateKeys', 'reply_lost');
    expect((await run(request)).code).toBe(3);
    const mails = sandbox.emails.length;
    expect((await status()).step).toBe('unknown');
    const second = await run(request);
    expect(second.code).toBe(3);
    expect(second.stderr).toContain('if none came, ask again (option `again`)');
    expect(sandbox.emails).toHaveLength(mails);
  });

  it('writes a file that --keys of other commands reads: the current keys sign, all verify', async () => {
    const { run, receive, newKeys } = await partner();
    const old = await run(['sign', ...file], { stdin: '{"a":1}' });
    await run(request);
    await receive(newKeys());
    expect(await run(['sign', ...file], { stdin: '{"a":1}' })).toEqual(old);
    await run(['keys', 'promote', ...file]);
    const now = await run(['sign', ...file], { stdin: '{"a":1}' });
    expect(now.stdout).not.toBe(old.stdout);
    for (const { stdout } of [old, now]) {
      expect(await run(['verify', ...file], { stdin: stdout })).toMatchObject({ code: 0 });
    }
    const learnt = await run(['learn', ...file], { stdin: now.stdout });
    expect(learnt.stdout).toMatch(/^proven +signature-construction/m);
  });

  it('makes no store that is not there by request, promote or status', async () => {
    const { cwd, run } = await partner();
    for (const args of [['request', '--email', 'a@b.example'], ['promote'], ['status']]) {
      const { code, stdout, stderr } = await run(['keys', ...args, '--keys', 'none.sqlite']);
      expect({ code, stdout, stderr }).toEqual({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('There is no none.sqlite'),
      });
    }
    expect(readdirSync(cwd)).toEqual(['keys.sqlite']);
  });

  it('reads the store from a variable, and makes no file with its name', async () => {
    const { cwd, run, first } = await partner();
    const env = { SHOP_KEYS: 'shop.sqlite' };
    const keys = ['--keys', 'env:SHOP_KEYS'];
    const received = await run(['keys', 'receive', ...keys], { env, stdin: JSON.stringify(first) });
    expect(received).toMatchObject({ code: 0, stderr: expect.stringContaining('--keys env:SHOP_KEYS') });
    expect(await run(['keys', 'status', ...keys], { env })).toMatchObject({ code: 0 });
    for (const unset of ['env:DATABASE_URL', 'env:']) {
      const ended = await run(['keys', 'receive', '--keys', unset], { stdin: JSON.stringify(first) });
      expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('is not set') });
    }
    expect(readdirSync(cwd).sort()).toEqual(['keys.sqlite', 'shop.sqlite']);
  });

  it('keeps the keys of several partners in one store, each in a record of its own', async () => {
    const { run, first } = await partner();
    const acme = [...file, '--record', 'keys-acme'];
    const stdin = JSON.stringify({ ...first, partnerPublicKey: 'pk_partner_of_acme' });
    expect(await run(['keys', 'promote', ...acme])).toMatchObject({ code: 2 });
    const received = await run(['keys', 'receive', ...acme], { stdin });
    expect(received).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('keys request --keys keys.sqlite --record keys-acme'),
    });
  });

  it('refuses keys that are not keys, unseen, and changes nothing', async () => {
    const { cwd, receive } = await partner();
    const before = await keysIn(cwd).status();
    const secret = 'not-a-key-but-secret-all-the-same';
    const { code, stdout, stderr } = await receive({ partnerPublicKey: 'pk', partnerSecretKey: secret });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toContain(secret);
    expect(await keysIn(cwd).status()).toEqual(before);
  });

  it(
    'says that a folder cannot be written before it asks for the keys',
    skipped(
      (process.platform === 'win32' && 'Windows has no such modes') ||
        (process.getuid?.() === 0 && 'root may write everywhere'),
    ),
    async () => {
      const { cwd, run } = await partner();
      mkdirSync(join(cwd, 'locked'));
      chmodSync(join(cwd, 'locked'), 0o500);
      const args = ['keys', 'receive', '--keys', 'locked/keys.sqlite'];
      const { code } = await run(args, { isTerminal: true });
      // Asking would fail this test.
      expect(code).toBe(1);
    },
  );
});

it('keys receive on a terminal asks for each key, hidden, and an empty answer leaves it out', async () => {
  const cwd = scratchFolder();
  const answers: Readonly<Record<string, string>> = {
    'Public key': 'pk_partner_typed',
    'Secret key': 'sk_partner_typed_by_hand',
    'Partner ID': 'P-1',
  };
  const askHidden = async (question: string) => answers[question.replace(/ \(.*/, '')] ?? '';
  const args = ['keys', 'receive', ...file];
  const { code, stdout, stderr } = await partnerExchange(args, { cwd, isTerminal: true, askHidden });
  expect(code).toBe(0);
  expect(stdout + stderr).not.toContain('typed');
  expect(plainCredentials((await keysIn(cwd).credentials()).signing)).toEqual({
    partnerPublicKey: 'pk_partner_typed',
    partnerSecretKey: 'sk_partner_typed_by_hand',
    partnerId: 'P-1',
  });
});
