import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { partnerExchange } from './run-in-process.ts';
import { deviceService, service } from './service.ts';
import { filesIn, scratchFolder } from './support.ts';

describe('onboard and whitelist-ip', () => {
  it('register, and say what comes next', async () => {
    const { sandbox, options } = service();
    const args = ['onboard', '--partner-code', 'acme', '--email', 'dev@acme.example'];
    const { code, stdout, stderr } = await partnerExchange(args, options);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^accepted with status 200/);
    expect(stderr).toContain('whitelist-ip');
    expect(sandbox.emails).toMatchObject([{ to: 'dev@acme.example', partner_code: 'acme' }]);
  });

  it('take the code from PARTNER_CODE, which alone is no half of any keys', async () => {
    const { sandbox, options } = service();
    const env = { ...options.env, PARTNER_CODE: 'acme' };
    const { code } = await partnerExchange(['onboard', '--email', 'dev@acme.example'], { ...options, env });
    expect({ code, partner: sandbox.emails[0]?.partner_code }).toEqual({ code: 0, partner: 'acme' });
  });

  it('exit with 1 after a refusal, and quote the service', async () => {
    const { options } = service();
    const args = ['onboard', '--partner-code', 'acme', '--email', 'dev@acme.example', '--format', 'json'];
    await partnerExchange(args, options);
    const { code, stderr } = await partnerExchange(args, options);
    expect(code).toBe(1);
    expect(JSON.parse(stderr).error).toMatchObject({ exitCode: 1, code: 'http_error', outcome: 'refused' });
    expect(JSON.parse(stderr).error.message).toContain('registered');
  });

  it('exit with 3 when an answer is lost', async () => {
    const { sandbox, options } = service();
    sandbox.faults.plan('onboard', 'reply_lost');
    const args = ['onboard', '--partner-code', 'acme', '--email', 'dev@acme.example'];
    const { code, stderr } = await partnerExchange(args, options);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^error: .*\n$/);
    expect(sandbox.emails).toHaveLength(1);
  });

  it('whitelist this machine', async () => {
    const { sandbox, options } = service();
    expect((await partnerExchange(['whitelist-ip'], options)).code).toBe(0);
    expect(sandbox.whitelistedIps).toEqual(['127.0.0.1']);
  });

  it.each([
    [['onboard', '--partner-code', 'a', '--email', 'a@b.example'], 'PARTNER_EXCHANGE_ONBOARDING_BASE_URL'],
    [['whitelist-ip'], 'PARTNER_EXCHANGE_STAGING_URL'],
    [['messenger', 'key', '1', '--save', 'x'], 'PARTNER_EXCHANGE_MESSENGER_BASE_URL'],
    [['messenger', 'scan', '--save', 'x'], 'PARTNER_EXCHANGE_MESSENGER_BASE_URL'],
  ])('name the variable that is not set: %j', async (args, variable) => {
    const { code, stderr } = await partnerExchange(args);
    expect(code).toBe(2);
    expect(stderr).toContain(`Set ${variable}`);
  });

  it('show no credential that a reply may hold', async () => {
    const { options } = service();
    const reply = {
      ok: true,
      publicKey: 'abc123',
      nested: [{ resetLink: 'https://x.example/1' }],
      note: 'Bearer abcdef',
    };
    const fetch = async () => Response.json(reply);
    const args = ['whitelist-ip', '--format', 'json'];
    const { stdout } = await partnerExchange(args, { ...options, fetch });
    expect(JSON.parse(stdout).body).toEqual({
      ok: true,
      publicKey: '[redacted]',
      nested: [{ resetLink: '[redacted]' }],
      note: 'Bearer [redacted]',
    });
  });
});

describe('what a reply says in words', () => {
  it.each([
    'open https://service.example/reset/3f9c now',
    '<a href="https://service.example/reset/3f9c">Reset</a>',
    'Your secret key is 3f9ckey',
    'Use SK_PARTNER_3F9C from now on',
  ])('%s: shows no link of one time and no key', async (message) => {
    const { options } = service();
    const onboard = ['onboard', '--partner-code', 'acme', '--email', 'dev@acme.example'];
    for (const status of [200, 400]) {
      for (const more of [[], ['--format', 'json']]) {
        const fetch = async () => Response.json({ message, detail: [message] }, { status });
        const { stdout, stderr } = await partnerExchange([...onboard, ...more], { ...options, fetch });
        expect(stdout + stderr).not.toMatch(/3f9c/i);
        expect(stdout + stderr).toContain('[redacted]');
      }
    }
  });
});

describe('messenger key', () => {
  it('keeps the reply in a new private file, and shows nothing of it', async () => {
    const { options } = service();
    const cwd = scratchFolder();
    const args = ['messenger', 'key', '1001', '--save', 'key.json', '--format', 'json'];
    const ended = await partnerExchange(args, { ...options, cwd });
    expect(JSON.parse(ended.stdout)).toEqual({ device: '1001', file: 'key.json' });
    const { api_key } = JSON.parse(readFileSync(join(cwd, 'key.json'), 'utf8'));
    expect(ended.code).toBe(0);
    expect(api_key).toMatch(/^API-X-/);
    expect(ended.stdout + ended.stderr).not.toContain(api_key);
    if (process.platform !== 'win32') expect(statSync(join(cwd, 'key.json')).mode & 0o777).toBe(0o600);
  });

  it('never overwrites a file, and then asks for no key', async () => {
    const { sandbox, options } = service();
    const cwd = filesIn({ 'key.json': 'precious' });
    const { code, stderr } = await partnerExchange(['messenger', 'key', '1001', '--save', 'key.json'], {
      ...options,
      cwd,
    });
    expect(code).toBe(2);
    expect(stderr).toContain('is there already');
    expect(readFileSync(join(cwd, 'key.json'), 'utf8')).toBe('precious');
    expect(sandbox.trace.entries).toEqual([]);
  });

  it('leaves no file behind a refusal, so that the same command can be run again', async () => {
    const { options } = service();
    const cwd = scratchFolder();
    const fetch = async () => Response.json({ message: 'wrong master key' }, { status: 401 });
    const args = ['messenger', 'key', '1', '--save', 'key.json'];
    const { code, stderr } = await partnerExchange(args, { ...options, cwd, fetch });
    expect({ code, files: readdirSync(cwd) }).toEqual({ code: 1, files: [] });
    expect(stderr).toContain('wrong master key');
    expect((await partnerExchange(args, { ...options, cwd })).code).toBe(0);
    expect(readdirSync(cwd)).toEqual(['key.json']);
  });

  it.each([
    ['a refusal that holds a key', { message: 'API-X-precious is there' }, 409, 1],
    ['a reply that came with an error, since it may hold the key', { api_key: 'API-X-precious' }, 500, 3],
  ])('keeps %s', async (_, body, status, expected) => {
    const { options } = service();
    const cwd = scratchFolder();
    const fetch = async () => Response.json(body, { status });
    const args = ['messenger', 'key', '1', '--save', 'key.json'];
    const { code, stdout, stderr } = await partnerExchange(args, { ...options, cwd, fetch });
    expect(code).toBe(expected);
    expect(readFileSync(join(cwd, 'key.json'), 'utf8')).toContain('API-X-precious');
    expect(stdout + stderr).not.toContain('precious');
  });
});

describe('messenger scan', () => {
  it('writes a private page that leads to the address, and shows nothing of the key', async () => {
    const { options, cwd, apiKey } = await deviceService();
    const { code, stdout, stderr } = await partnerExchange(
      ['messenger', 'scan', '--save', 'scan.html'],
      options,
    );
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain(apiKey);
    const page = readFileSync(join(cwd, 'scan.html'), 'utf8');
    expect(page).toContain(
      `content="0; url=${options.env.PARTNER_EXCHANGE_MESSENGER_BASE_URL}/connect-msg/scan-device?api_key=${apiKey}"`,
    );
    expect(page).toContain('no-referrer');
    if (process.platform !== 'win32') expect(statSync(join(cwd, 'scan.html')).mode & 0o777).toBe(0o600);
    expect(await partnerExchange(['messenger', 'scan', '--save', 'key.json'], options)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is there already'),
    });
  });

  it('asks for a key that is not set, on a terminal only', async () => {
    const { options, apiKey } = await deviceService();
    const env = { ...options.env, MESSENGER_API_KEY: undefined };
    const scan = ['messenger', 'scan', '--save', 'scan.html'];
    const piped = await partnerExchange(scan, { ...options, env });
    expect(piped).toMatchObject({ code: 2, stderr: expect.stringContaining('MESSENGER_API_KEY is not set') });
    const asked = { ...options, env, isTerminal: true, askHidden: async () => apiKey };
    const cancelled = { ...asked, askHidden: async () => undefined };
    expect((await partnerExchange(scan, cancelled)).code).toBe(130);
    expect((await partnerExchange(scan, asked)).code).toBe(0);
  });
});

describe('messenger send', () => {
  it('sends the text of stdin without its last line break', async () => {
    const { sandbox, options, pair } = await deviceService();
    await pair();
    const stdin = 'Your code is 493021\n';
    const { code, stdout, stderr } = await partnerExchange(['messenger', 'send', '+2348012345678'], {
      ...options,
      stdin,
    });
    expect(code).toBe(0);
    expect(sandbox.messages).toMatchObject([{ to_phone: '+2348012345678', message: 'Your code is 493021' }]);
    expect(stdout + stderr).not.toContain('493021');
  });

  it('exits with 3 when nobody knows whether it was sent', async () => {
    const { sandbox, options, pair } = await deviceService();
    await pair();
    sandbox.faults.plan('sendMessage', 'reply_lost');
    const args = ['messenger', 'send', '+2348012345678'];
    const { code, stderr } = await partnerExchange(args, { ...options, stdin: 'Your code is 493021' });
    expect(code).toBe(3);
    expect(stderr).not.toContain('493021');
  });

  it.each(['', '\n', ' '])('refuses %j as a message', async (stdin) => {
    const { sandbox, options } = await deviceService();
    const before = sandbox.trace.entries.length;
    const { code } = await partnerExchange(['messenger', 'send', '+2348012345678'], { ...options, stdin });
    expect({ code, sent: sandbox.trace.entries.length - before }).toEqual({ code: 2, sent: 0 });
  });
});
