import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { partnerExchange } from './run-in-process.ts';
import { filesIn, keys, keysFile, scratchFolder } from './support.ts';

const body = { partner_order_id: 'A-1', fiat_amount: '15000.50', name: 'Ọlá' };

async function signed(value: object, args: readonly string[] = []): Promise<string> {
  const { stdout } = await partnerExchange(['sign', ...args], { env: keys, stdin: JSON.stringify(value) });
  return stdout;
}

describe('sign', () => {
  it('prints the text to post and nothing else', async () => {
    const { code, stdout, stderr } = await partnerExchange(['sign'], {
      env: keys,
      stdin: JSON.stringify(body),
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^\{"partner_order_id":"A-1",.*,"signature":"[0-9a-f]{128}"\}$/);
  });

  it('signs orders and general requests with different keys', async () => {
    expect(await signed(body)).not.toBe(await signed(body, ['--purpose', 'general']));
  });

  it('gives programs text and signature', async () => {
    const { text, signature } = JSON.parse(await signed(body, ['--format', 'json']));
    expect(JSON.parse(text)).toEqual({ ...body, signature });
  });

  it('refuses a body that holds a key', async () => {
    const stdin = JSON.stringify({ oops: keys.PARTNER_SECRET_KEY });
    const { code, stdout, stderr } = await partnerExchange(['sign'], { env: keys, stdin });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('holds one of the keys');
  });

  it.each([
    ['not json', 'stdin is not JSON'],
    ['[1]', 'stdin is not a JSON object'],
    ['', 'stdin is not JSON'],
  ])('refuses %j', async (stdin, message) => {
    const { code, stderr } = await partnerExchange(['sign'], { env: keys, stdin });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it.each([
    ['{"a":12345678901234567890}', 'a is a number that would be rounded'],
    ['{"order":{"amounts":[1,0.12345678901234567891]}}', 'order.amounts.1 is a number that would be rounded'],
    ['{"a":-0}', 'a is -0, and would become 0'],
    ['{"a":1,"b":{"c":1,"c":2}}', 'b.c occurs twice'],
  ])('refuses %s, which it cannot write as it is, and names the member', async (stdin, message) => {
    const { code, stdout, stderr } = await partnerExchange(['sign'], { env: keys, stdin });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`error: stdin: ${message}`);
  });

  it('signs numbers that are spelled differently and mean the same', async () => {
    const { code, stdout } = await partnerExchange(['sign'], { env: keys, stdin: '{"a":10.0,"b":15000.50}' });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\{"a":10,"b":15000\.5,/);
  });

  it.each([
    ['folder', 'folder is a folder: name a file in it.'],
    ['missing.json', /There is no .*missing\.json: check the path/],
    ['keys=keys.json', /There is no such file: if that is an option, put two hyphens before it/],
  ])('names a file that it cannot read: %s', async (path, message) => {
    const cwd = scratchFolder();
    mkdirSync(join(cwd, 'folder'));
    const { code, stderr } = await partnerExchange(['sign', path], { env: keys, cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  it('names the file of --keys that lacks a key', async () => {
    const cwd = filesIn({ 'keys.json': '{}' });
    const { code, stderr } = await partnerExchange(['sign', '--keys', 'keys.json'], { cwd, stdin: '{}' });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'error: keys.json: partnerPublicKey is missing. See partner-exchange-sdk/docs/errors.md#invalid_credentials.\n',
    });
  });

  it.each(['sign', 'verify'])(
    '%s shows nothing of keys that were typed in the place of their file',
    async (command) => {
      const { code, stderr } = await partnerExchange([command, '--keys', JSON.stringify(keysFile)]);
      expect(code).toBe(2);
      expect(stderr).toContain('error: That is JSON in the place of a file');
      expect(stderr).not.toContain(keysFile.merchantSecretKey);
    },
  );

  it('says which keys it misses', async () => {
    const { code, stderr } = await partnerExchange(['sign'], { stdin: '{}' });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: There are no keys: set PARTNER_PUBLIC_KEY, .* --keys\.\n$/);
  });

  it('ends its line on a terminal only', async () => {
    const cwd = filesIn({ 'body.json': JSON.stringify(body) });
    const { stdout } = await partnerExchange(['sign', 'body.json'], { env: keys, cwd, isTerminal: true });
    expect(stdout).toMatch(/\}\n$/);
  });
});

describe('verify', () => {
  it('accepts what sign makes, from files, folders and stdin', async () => {
    const text = await signed(body);
    const cwd = filesIn({ 'a.json': text, 'b.json': text });
    for (const args of [['a.json', 'b.json'], ['.'], ['-']]) {
      const { code, stdout } = await partnerExchange(['verify', ...args], { env: keys, cwd, stdin: text });
      expect(code).toBe(0);
      expect(stdout).toMatch(/^(?:verified .*\n)+$/);
    }
  });

  it('refuses a changed body, exits with 1 and says what to do', async () => {
    const text = (await signed(body)).replace('A-1', 'A-2');
    const { code, stdout } = await partnerExchange(['verify'], { env: keys, stdin: text });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^refused {2}stdin: The signature does not match: .* with explainMismatch .*\. See /,
    );
  });

  it('gives programs a verdict for each', async () => {
    const cwd = filesIn({ 'a.json': await signed(body), 'b.json': '{"signature":"x"}' });
    const { code, stdout } = await partnerExchange(['verify', '--format', 'json', 'a.json', 'b.json'], {
      env: keys,
      cwd,
    });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      results: [
        { source: 'a.json', verified: true, key: { index: 0 } },
        {
          source: 'b.json',
          verified: false,
          code: 'signature_malformed',
          message: expect.any(String),
          findings: [expect.objectContaining({ id: 'unreadable-signature', verdict: 'broken' })],
        },
      ],
    });
  });

  it('verifies general requests with the partner secret alone', async () => {
    const text = await signed(body, ['--purpose', 'general']);
    expect((await partnerExchange(['verify', '--purpose', 'general'], { env: keys, stdin: text })).code).toBe(
      0,
    );
    expect((await partnerExchange(['verify'], { env: keys, stdin: text })).code).toBe(1);
  });

  it('does not let a file name write on the terminal', async () => {
    const cwd = filesIn({ '\u001b[2Jx.json': await signed(body) });
    const { stdout } = await partnerExchange(['verify', '.'], { env: keys, cwd });
    expect(stdout).toBe('verified \\u001b[2Jx.json\n');
  });
});

describe('--keys', () => {
  const run = (cwd: string, options = {}) =>
    partnerExchange(['sign', '--keys', 'keys.json'], { cwd, stdin: JSON.stringify(body), ...options });

  it('counts instead of the environment, even of half a one', async () => {
    const cwd = filesIn({ 'keys.json': JSON.stringify(keysFile) });
    const { code, stdout } = await run(cwd, { env: { PARTNER_PUBLIC_KEY: 'pk_partner_other' } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: await signed(body) });
  });

  it.runIf(process.platform !== 'win32').each([0o640, 0o604, 0o644])(
    'refuses a file of mode %o',
    async (mode) => {
      const { code, stderr } = await run(filesIn({ 'keys.json': JSON.stringify(keysFile) }, mode));
      expect(code).toBe(2);
      expect(stderr).toContain('chmod 600 keys.json');
    },
  );

  it('warns on Windows, where it cannot tell', async () => {
    const cwd = filesIn({ 'keys.json': JSON.stringify(keysFile) }, 0o644);
    const { code, stderr } = await run(cwd, { platform: 'win32' });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: .*cannot be told on Windows/);
  });

  it.each([
    ['a misspelt member', { ...keysFile, partnerSecretKy: 'x' }, /partnerSecretKy.*partnerSecretKey/],
    ['swapped keys', { ...keysFile, merchantSecretKey: keys.PARTNER_SECRET_KEY }, /swapped/],
  ])('refuses %s without showing it', async (_, content, message) => {
    const { code, stderr } = await run(filesIn({ 'keys.json': JSON.stringify(content) }));
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('hidden');
  });

  it('shows nothing of a file that is not JSON', async () => {
    const { code, stderr } = await run(filesIn({ 'keys.json': keys.PARTNER_SECRET_KEY }));
    expect(code).toBe(2);
    expect(stderr).toBe('error: keys.json is not JSON in UTF-8: check the file.\n');
  });
});

describe('verify explains', () => {
  it('the first three bodies alone', async () => {
    const { stdout } = await partnerExchange(['verify', '--format', 'json', '.'], {
      env: keys,
      cwd: filesIn(Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`${name}.json`, '{"id":1}']))),
    });
    const explained = JSON.parse(stdout).results.map(
      ({ findings }: { findings?: object[] }) => findings?.length,
    );
    expect(explained).toEqual([1, 1, 1, undefined]);
  });
});
