import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../../../src/deployment/read-environment.ts';
import { startChild } from './child.ts';
import { hasTerminals } from './interactive-shell.ts';
import { partnerExchange, type RunOptions } from './run-in-process.ts';
import { filesIn, keys, scratchFolder } from './support.ts';

const patient = { timeout: 60_000 };
const isPosix = process.platform !== 'win32';

/** Runs `sandbox --exec` in this process; the command is a function. */
async function exec(
  runCommand: (env: Readonly<Record<string, string | undefined>>, command: string) => Promise<number>,
  { args = [], ...options }: RunOptions & { args?: readonly string[] } = {},
) {
  return partnerExchange(['sandbox', '--exec', 'npm test', ...args], {
    now: Date.now,
    ...options,
    runCommand: (command, env) => runCommand(env, command),
  });
}

describe('the environment of --exec', () => {
  it('has everything that readEnvironment reads, and the address of the sandbox', async () => {
    const ended = await exec(async (env, command) => {
      expect(command).toBe('npm test');
      const { deployment, credentials, masterKey } = readEnvironment(env);
      expect(credentials?.partnerPublicKey).toMatch(/^pk_partner_/);
      expect(credentials?.partnerCode).toBe('sandbox');
      expect(masterKey).toMatch(/^master_/);
      const url = env.PARTNER_EXCHANGE_SANDBOX_URL;
      expect(deployment.onboardingBaseUrl).toBe(`${url}/onboarding`);
      expect((await fetch(`${url}/_sandbox/state`)).status).toBe(200);
      return 0;
    });
    expect(ended).toMatchObject({ code: 0, stdout: '' });
    expect(ended.stderr).toMatch(/^The sandbox is at http:\/\/127\.0\.0\.1:\d+\. It runs: npm test\n$/);
  });

  it('holds the token nowhere, and other commands find the sandbox from it', async () => {
    const state = scratchFolder();
    const ended = await exec(
      async (env) => {
        const folder = join(state, 'partner-exchange', 'sandboxes');
        expect(readdirSync(folder)).toHaveLength(1);
        const { stderr } = await partnerExchange(['sandbox', 'advance', 'A-1', 'credited'], { env, fetch });
        expect(stderr).toContain('The sandbox refused this');
        const { readFileSync } = await import('node:fs');
        const { token } = JSON.parse(readFileSync(join(folder, readdirSync(folder)[0] ?? ''), 'utf8'));
        expect(Object.values(env).filter((value) => value?.includes(token))).toEqual([]);
        return 0;
      },
      { env: { XDG_STATE_HOME: state } },
    );
    expect(ended.code).toBe(0);
    expect(readdirSync(join(state, 'partner-exchange', 'sandboxes'))).toEqual([]);
  });

  it('holds no key and no setting of another deployment', async () => {
    const foreign = {
      ...keys,
      MERCHANT_SECRET_KEY_NGN: 'sk_merchant_hidden3',
      MESSENGER_API_KEY: 'API-X-hidden4',
      PARTNER_EXCHANGE_SCHEME: '{"encoding":"base64"}',
      PARTNER_EXCHANGE_PATH_CREATE_ORDER: '/elsewhere',
      CI: 'true',
    };
    await exec(
      async (env) => {
        expect(JSON.stringify(env)).not.toMatch(/hidden|pk_partner_visible|elsewhere|base64/);
        expect(env.CI).toBe('true');
        return 0;
      },
      { env: foreign },
    );
    expect.assertions(2);
  });
});

it.each([0, 1, 7, 130, 143])('--exec ends with the code of its command: %i', async (code) => {
  expect((await exec(async () => code)).code).toBe(code);
});

it('--exec takes any free port, and starts nothing if a port that was given is taken', async () => {
  const ended = await exec(async (env) => {
    const port = new URL(env.PARTNER_EXCHANGE_SANDBOX_URL ?? '').port;
    const second = await exec(() => Promise.reject(new Error('It was started.')), { args: ['--port', port] });
    expect(second).toMatchObject({ code: 2, stderr: expect.stringContaining('The port is in use') });
    return 0;
  });
  expect(ended.code).toBe(0);
});

/** Creates a file for each signal, so that a test sees which came. */
const trapping = `
process.on('SIGTERM', () => { console.log('child got SIGTERM'); process.exit(5); });
process.on('SIGINT', () => { console.log('child got SIGINT'); process.exit(6); });
setInterval(() => {}, 1000);
process.stdin.on('data', (text) => console.log('child read ' + String(text).trim()));
console.log('child is up');
`;

describe.runIf(isPosix)('a real command of --exec', () => {
  const node = `'${process.execPath}'`;

  it('has the streams of this process, and ends with 128 + n if a signal ends it', patient, async () => {
    const cwd = filesIn({ 'child.mjs': trapping });
    const command = `${node} child.mjs; exit $?`;
    const child = startChild(['sandbox', '--exec', command], { cwd });
    child.process.stdin?.write('typed\n');
    await child.printed('stdout', /child read typed/);
    child.process.kill('SIGTERM');
    // Also what the shell has started gets it.
    expect(await child.ended).toMatchObject({
      code: 143,
      stdout: expect.stringContaining('child got SIGTERM'),
    });
  });

  it('gets Ctrl-C, and its own exit code counts', patient, async () => {
    const cwd = filesIn({ 'child.mjs': trapping });
    const child = startChild(['sandbox', '--exec', `exec ${node} child.mjs`], { cwd });
    await child.printed('stdout', /child is up/);
    child.process.kill('SIGINT');
    expect(await child.ended).toMatchObject({ code: 6, stdout: expect.stringContaining('child got SIGINT') });
  });

  it.runIf(hasTerminals)('on a terminal, gets Ctrl-C once', patient, async () => {
    const counting = trapping.replace('process.exit(6)', 'setTimeout(() => process.exit(6), 300)');
    const cwd = filesIn({ 'child.mjs': counting });
    const answers = [['child is up', '\u0003']] as const;
    const child = startChild(['sandbox', '--exec', `exec ${node} child.mjs`], { cwd, answers });
    const { code, stdout } = await child.ended;
    expect([code, stdout.match(/child got SIGINT/g)?.length]).toEqual([6, 1]);
  });
});
