import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PartnerCredentials } from '../../../src/credentials/partner-credentials.ts';
import { defineDeployment } from '../../../src/deployment/define-deployment.ts';
import { refusedDeliveries, signedDelivery } from '../../../src/devtools/testing/signed-delivery.ts';
import { partnerExchange } from './run-in-process.ts';
import { filesIn, keys, keysFile } from './support.ts';

const body = { partner_order_id: 'A-1', note: 'fiat' };

/** Files of genuine deliveries; one scheme alone fits each. */
function genuine(credentials: PartnerCredentials = keysFile): Record<string, string> {
  return {
    '0.json': signedDelivery(body, { credentials }).body,
    '1.json': signedDelivery({ ...body, partner_order_id: 'A-2' }, { credentials }).body,
  };
}

const scheme = JSON.stringify({ construction: 'hmac', serialization: 'as-sent', encoding: 'hex' });

async function pin(files: Readonly<Record<string, string>>, args: readonly string[] = []) {
  const cwd = filesIn({ 'scheme.txt': scheme, ...files });
  const ended = await partnerExchange(['pin', '.', ...args], { env: keys, cwd });
  return { ...ended, cwd };
}

/** With the scheme detected, and given. */
const ways = [
  { way: 'detected', args: [] },
  { way: 'given', args: ['--scheme', 'scheme.txt'] },
];

const refused = refusedDeliveries(body, { credentials: keysFile });
/** What anybody can post to `listen`, and why it proves nothing. */
const strays: Readonly<Record<string, readonly [body: string, reason: string]>> = {
  'a.json': ['hallo', 'Not JSON'],
  'b.json': [refused.unsigned.body, 'Has no top-level signature.'],
  'c.json': ['{"signature":"x"}', 'The signature has 1 characters'],
  'd.json': [refused.forged.body, 'Signed with the public key alone, which anybody knows: a forgery'],
  'e.json': [refused.wrongKey.body, 'It is signed with none of your keys.'],
};
const strayBodies = Object.fromEntries(Object.entries(strays).map(([file, [body]]) => [file, body]));

// Each signature that fits no scheme costs two tenths of a second of the processor, on a busy machine many times that.
describe('pin', { timeout: 120_000 }, () => {
  it.each(ways)('names and leaves out what a stranger posted (scheme: $way)', async ({ args }) => {
    const { code, stdout, stderr } = await pin({ ...genuine(), ...strayBodies }, args);
    expect(code).toBe(0);
    const made = JSON.parse(stdout);
    expect(made.scheme).toMatchObject(JSON.parse(scheme));
    expect(made.fixtures.map(({ body }: { body: string }) => body)).toEqual(Object.values(genuine()));
    const warnings = stderr.split('\n').filter((line) => line.startsWith('warning: '));
    expect(warnings).toEqual(
      Object.entries(strays).map(([file, [, reason]]) =>
        expect.stringContaining(`warning: ${file} is left out: ${reason}`),
      ),
    );
  });

  it.each(ways)('refuses to pin while a file is genuine under another scheme ($way)', async ({ args }) => {
    const signature = { construction: 'hash-suffix', serialization: 'sorted', encoding: 'base64' } as const;
    const deployment = defineDeployment({ signature });
    const other = signedDelivery(body, { credentials: keysFile, deployment }).body;
    const { code, stdout, stderr } = await pin(
      { ...genuine(), 'other.json': other, 'a.json': 'hallo' },
      args,
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      args.length === 0
        ? /^error: No scheme fits all samples/
        : /^error: other\.json does not verify, but may be genuine: It fits another scheme\./,
    );
  });

  it.each([
    [
      'is too large for a search',
      (body: string) => body.replace('{', `{"note":"${'x'.repeat(70_000)}",`),
      'Larger than 64 KiB',
    ],
  ])('refuses to pin while a file may be genuine: it %s', async (_, change, doubt) => {
    const { code, stdout, stderr } = await pin(
      { ...genuine(), 'x.json': change(genuine()['0.json'] ?? '') },
      ['--scheme', 'scheme.txt'],
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: x\.json does not verify, but may be genuine: /);
    expect(stderr).toContain(doubt);
  });

  it.each(ways)('makes no pin of strays alone ($way)', async ({ args }) => {
    for (const [file, [body, reason]] of Object.entries(strays)) {
      const { code, stdout, stderr } = await pin({ [file]: body }, args);
      const isSigned = file === 'd.json' || file === 'e.json';
      expect({ file, code, stdout }).toEqual({ file, code: isSigned ? 1 : 2, stdout: '' });
      if (!isSigned || args.length > 0)
        expect(stderr).toContain(`error: ${file} proves no scheme: ${reason}`);
    }
  });

  it('gives up on more signatures than it can search', async () => {
    const signature = '0a'.repeat(64);
    const flood = Array.from({ length: 21 }, (_, n) => [`x${n}.json`, JSON.stringify({ n, signature })]);
    const args = ['--scheme', 'scheme.txt'];
    const { code, stdout, stderr } = await pin({ ...genuine(), ...Object.fromEntries(flood) }, args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('More than 20 signatures fit none of your keys');
  });

  it('takes deliveries of before a rotation for proofs', async () => {
    const older = { ...keysFile, partnerSecretKey: 'sk_partner_older' };
    const cwd = filesIn(genuine(older));
    for (const credentials of [older, keysFile]) {
      const stdin = JSON.stringify(credentials);
      await partnerExchange(['keys', 'receive', '--keys', 'keys.key'], { cwd, stdin });
    }
    await partnerExchange(['keys', 'promote', '--keys', 'keys.key'], { cwd });
    const { code, stdout } = await partnerExchange(['pin', '--keys', 'keys.key', '.'], { cwd });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).fixtures).toHaveLength(2);
  });

  it('is checked with its samples and further ones, and fails for others', async () => {
    const { stdout, cwd } = await pin(genuine());
    writeFileSync(join(cwd, 'pin.txt'), stdout);
    const text = readFileSync(join(cwd, '0.json'), 'utf8');
    writeFileSync(join(cwd, 'forged.txt'), text.replace('fiat', 'tiaf'));
    const check = (...args: string[]) => partnerExchange(['pin', '--check', ...args], { env: keys, cwd });
    expect(await check('pin.txt')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('2 pinned and 0 further'),
    });
    expect(await check('pin.txt', '0.json')).toMatchObject({ code: 0 });
    expect(await check('pin.txt', 'forged.txt')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('forged.txt proves no scheme: It is signed with none of your keys.'),
    });
    expect(await check('scheme.txt')).toMatchObject({
      code: 2,
      stderr:
        'error: scheme.txt: The pin has no scheme. See partner-exchange-sdk/docs/errors.md#invalid_option.\n',
    });
  });

  it.each(ways)('is checked with the same files of which it is made (scheme: $way)', async ({ args }) => {
    const { stdout, cwd } = await pin({ ...genuine(), ...strayBodies }, args);
    writeFileSync(join(cwd, 'pin.txt'), stdout);
    const checked = await partnerExchange(['pin', '--check', 'pin.txt', '.'], { env: keys, cwd });
    expect(checked).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('2 pinned and 2 further samples verify'),
    });
    for (const [file, [, reason]] of Object.entries(strays)) {
      expect(checked.stderr).toContain(`${file} is left out: ${reason}`);
    }
  });

  it('does not choose among several schemes', async () => {
    const stdin = signedDelivery({ a: 1 }, { credentials: keysFile, spelling: 'compact' }).body;
    const { code, stdout, stderr } = await partnerExchange(['pin'], { env: keys, stdin });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('--scheme');
  });
});
