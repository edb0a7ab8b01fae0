import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { skipped } from '../../support/skipped.ts';
import { startChild } from './child.ts';
import { hasTerminals } from './interactive-shell.ts';
import { partnerExchange, type RunOptions } from './run-in-process.ts';
import { partnerService } from './service.ts';
import { scratchFolder } from './support.ts';

const file = ['--keys', 'keys.json'];
const request = ['keys', 'request', ...file, '--email', 'dev@acme.example'];

/** A partner whose first keys are in the key file. */
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

describe('keys', () => {
  it.skipIf(process.platform === 'win32')(
    'exits with 2 at a key file that others can read, or that is none, and leaves it as it is',
    async () => {
      const { cwd, run } = await partner();
      chmodSync(join(cwd, 'keys.json'), 0o644);
      expect(await run(['keys', 'status', ...file])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('0600'),
      });
      writeFileSync(join(cwd, 'none.json'), '{}', { mode: 0o600 });
      expect(await run(['keys', 'promote', '--keys', 'none.json'])).toMatchObject({ code: 2 });
      expect(readFileSync(join(cwd, 'none.json'), 'utf8')).toBe('{}');
    },
  );

  it.skipIf(process.platform === 'win32')('says at once that a FIFO is no key file', async () => {
    const { cwd, run } = await partner();
    spawnSync('mkfifo', [join(cwd, 'pipe.json')]);
    for (const args of [['sign'], ['keys', 'status'], ['keys', 'receive']]) {
      const { code, stderr } = await run([...args, '--keys', 'pipe.json'], { stdin: '{"a":1}' });
      expect([code, stderr]).toEqual([args[0] === 'sign' ? 2 : 1, expect.stringContaining('not a file')]);
    }
  });

  it.runIf(process.geteuid?.() === 0)(
    'exits with 2 at a key file of another user, and leaves it as it is',
    async () => {
      const { cwd, run, first } = await partner();
      const theirs = join(cwd, 'theirs.json');
      writeFileSync(theirs, JSON.stringify(first), { mode: 0o600 });
      chownSync(theirs, 1234, 1234);
      const steps = [
        ['sign'],
        ['keys', 'status'],
        ['keys', 'receive'],
        ['keys', 'promote'],
        ['keys', 'request', '--email', 'a@b.example'],
      ];
      for (const args of steps) {
        const ended = await run([...args, '--keys', 'theirs.json'], { stdin: JSON.stringify(first) });
        expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('belongs to another user') });
      }
      expect(statSync(theirs)).toMatchObject({ uid: 1234, mode: 0o100600 });
      expect(readFileSync(theirs, 'utf8')).toBe(JSON.stringify(first));
    },
  );

  it('names the command that comes first at a step that comes too early', async () => {
    const { run } = await partner();
    await run(request);
    const { code, stderr } = await run(['keys', 'promote', ...file]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/give them to receive\(\).* Command: partner-exchange keys receive$/m),
    });
  });

  it('replaces the keys, step by step, in a private file', async () => {
    const { cwd, run, receive, status, newKeys, first } = await partner();
    if (process.platform !== 'win32') expect(statSync(join(cwd, 'keys.json')).mode & 0o777).toBe(0o600);
    expect(await status()).toMatchObject({ step: 'idle', keys: [{ generation: 1, role: 'signing' }] });

    const asked = await run(request);
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^accepted with status 200/) });
    expect(asked.stderr).toContain('keys receive --keys keys.json');
    expect((await status()).step).toBe('requested');

    const second = newKeys();
    const received = await receive(second);
    expect(JSON.parse(received.stdout)).toMatchObject({ step: 'received', keys: [{}, { role: 'pending' }] });
    expect(received.stdout + received.stderr).not.toContain(second.partnerSecretKey);
    expect(received.stderr).toContain('keys promote --keys keys.json');

    expect((await run(['keys', 'promote', ...file])).code).toBe(0);
    const { stdout } = await run(['keys', 'status', ...file]);
    expect(stdout).toMatch(
      /^idle: nothing is under way\n {2}2 signing .*\n {2}1 replaced .*verifies until .*\n$/,
    );
    const text = readFileSync(join(cwd, 'keys.json'), 'utf8');
    expect([first, second].every((keys) => text.includes(keys.partnerSecretKey))).toBe(true);
  });

  it('never asks twice by itself, and exits with 3 when the first may have got there', async () => {
    const { sandbox, run, status } = await partner();
    sandbox.faults.next('regenerateKeys', 'reply_lost');
    expect((await run(request)).code).toBe(3);
    const mails = sandbox.emails.length;
    expect((await status()).step).toBe('unknown');
    const second = await run(request);
    expect(second.code).toBe(3);
    expect(second.stderr).toContain('if none came, ask again (option `again`)');
    expect(sandbox.emails).toHaveLength(mails);
  });

  it('repeats no accepted request without --again', async () => {
    const { sandbox, run } = await partner();
    await run(request);
    const mails = sandbox.emails.length;
    expect((await run([...request, '--format', 'json'])).code).toBe(1);
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
    const found = await run(['detect', ...file], { stdin: now.stdout });
    expect(found.stdout).toContain('"construction":"hmac"');
  });

  it('mends a key pasted wrong by receiving the right ones again, also after promote', async () => {
    const { run, receive, status, newKeys } = await partner();
    await run(request);
    const right = newKeys();
    const signedBy = async () => (await run(['sign', ...file], { stdin: '{"a":1}' })).stdout;
    await receive(right);
    await receive({ ...right, partnerSecretKey: 'sk_partner_pasted_wrong' });
    await run(['keys', 'promote', ...file]);
    const wrong = await signedBy();
    expect(await receive(right)).toMatchObject({ code: 0, stderr: expect.stringContaining('keys promote') });
    expect((await status()).step).toBe('received');
    await run(['keys', 'promote', ...file]);
    expect(await signedBy()).not.toBe(wrong);
    expect(await receive(right)).toMatchObject({ code: 0 });
    expect((await status()).step).toBe('idle');
  });

  it('takes no bare credentials for a key file, and makes one of them by receive', async () => {
    const { cwd, run, first } = await partner();
    writeFileSync(join(cwd, 'bare.json'), JSON.stringify(first), { mode: 0o600 });
    const { code, stderr } = await run(['keys', 'status', '--keys', 'bare.json']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/name another place for your keys.* Command: partner-exchange keys receive$/m);
  });

  it('makes no file that is not there by request, promote or status', async () => {
    const { cwd, run } = await partner();
    for (const args of [['request', '--email', 'a@b.example'], ['promote']]) {
      const { code, stderr } = await run(['keys', ...args, '--keys', 'none.json']);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('keys receive') });
    }
    expect(await run(['keys', 'status', '--keys', 'none.json'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^empty:/),
    });
    expect(existsSync(join(cwd, 'none.json'))).toBe(false);
  });

  it('refuses keys that are not keys, unseen, and changes nothing', async () => {
    const { cwd, receive } = await partner();
    const before = readFileSync(join(cwd, 'keys.json'), 'utf8');
    const secret = 'not-a-key-but-secret-all-the-same';
    const { code, stdout, stderr } = await receive({ partnerPublicKey: 'pk', partnerSecretKey: secret });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toContain(secret);
    expect(readFileSync(join(cwd, 'keys.json'), 'utf8')).toBe(before);
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
      const args = ['keys', 'receive', '--keys', 'locked/keys.json'];
      const { code } = await run(args, { isTerminal: true });
      // Asking would fail this test.
      expect(code).toBe(1);
    },
  );
});

describe.runIf(hasTerminals)('keys receive on a terminal', () => {
  it('asks for each key, hides it, and an empty answer leaves it out', { timeout: 60_000 }, async () => {
    const cwd = scratchFolder();
    const answers = [
      ['Public key', 'pk_partner_typed\r'],
      ['Secret key', 'sk_partner_typed_by_hand\r'],
      ['Merchant secret key', '\r'],
      ['Partner ID', 'P-1\r'],
      ['Partner code', '\r'],
    ] as const;
    const { code, stdout } = await startChild(['keys', 'receive', ...file], { answers, cwd }).ended;
    expect(code).toBe(0);
    expect(stdout).not.toContain('typed');
    expect(JSON.parse(readFileSync(join(cwd, 'keys.json'), 'utf8')).current.credentials).toEqual({
      partnerPublicKey: 'pk_partner_typed',
      partnerSecretKey: 'sk_partner_typed_by_hand',
      partnerId: 'P-1',
    });
  });
});
