import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../../../src/deployment/read-environment.ts';
import { closedUrl, startServer } from '../../support/local-server.ts';
import { partnerExchange, type RunOptions } from './run-in-process.ts';
import { order, scratchFolder, start } from './support.ts';

/** A sandbox, and what runs other commands with what it printed. */
async function startSandbox(args: readonly string[] = []) {
  const cwd = scratchFolder();
  const words = ['sandbox', '--port', '0', '--format', 'json', ...args];
  const running = start(words, { now: Date.now, fetch });
  const status = await running.printed('stderr', /#token=\S+\n/);
  const { url, environment } = JSON.parse(await running.printed('stdout', /\n/));
  const token = /#token=(\S+)/.exec(status)?.[1] ?? '';
  const lines = status.split('\n').filter((line) => line.startsWith('  curl '));
  const run = (command: readonly string[], options: RunOptions = {}) =>
    partnerExchange(command, { fetch, cwd, ...options, env: { ...environment, ...options.env } });
  const advance = (...more: string[]) => run(['sandbox', 'advance', ...more]);
  return { running, url: String(url), environment, token, lines, run, advance };
}

function orderBody(partner_order_id: string, partner_callback_url = 'http://127.0.0.1:1/orders'): string {
  return JSON.stringify({ ...order, partner_order_id, partner_callback_url });
}

const create = ['order', 'create', '--journal', 'orders.sqlite', '--yes'];

describe('a sandbox', () => {
  it('prints everything that readEnvironment reads, and its own address', async () => {
    const { url, environment, token } = await startSandbox();
    const { deployment, credentials, masterKey } = readEnvironment(environment);
    expect(credentials).toMatchObject({
      partnerPublicKey: expect.stringMatching(/^pk_/),
      partnerCode: 'sandbox',
    });
    expect([masterKey?.slice(0, 7), deployment.onboardingBaseUrl]).toEqual(['master_', `${url}/onboarding`]);
    expect(environment.PARTNER_EXCHANGE_SANDBOX_URL).toBe(`${url}/?token=${token}`);
  });

  it('prints the same keys in each run with one seed', async () => {
    const keysOf = async (seed: string) => {
      const { environment, running } = await startSandbox(['--seed', seed]);
      await running.stop();
      return Object.entries(environment).filter(([name]) => /KEY|_ID$/.test(name));
    };
    const first = await keysOf('7');
    expect(first).toHaveLength(5);
    expect(await keysOf('7')).toEqual(first);
    expect(await keysOf('8')).not.toEqual(first);
  });

  it('prints lines of curl for the rest, which do what they say', async () => {
    const { run, url, lines } = await startSandbox();
    const [state = '', plan = '', , reset = ''] = lines;
    await run(create, { stdin: orderBody('A-1') });
    expect(JSON.parse(await shell(plan))).toEqual({ done: true });
    expect(JSON.parse(await shell(state)).faults).toEqual([{ target: 'createOrder', fault: 'reply_lost' }]);
    expect(JSON.parse(await shell(reset))).toEqual({ done: true });
    expect(await (await fetch(`${url}/_sandbox/orders`)).json()).toMatchObject({ items: [] });
    // The keys that were printed go on working.
    expect((await run(create, { stdin: orderBody('A-2') })).code).toBe(0);
  });

  it('refuses orders with --enforce-whitelist until whitelist-ip was called, also after a reset', async () => {
    const { run, url, token } = await startSandbox(['--enforce-whitelist']);
    const refused = await run(create, { stdin: orderBody('A-1') });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/whitelist/i) });
    expect((await run(['whitelist-ip'])).code).toBe(0);
    expect((await run(create, { stdin: orderBody('A-2') })).code).toBe(0);
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${url}/_sandbox/reset`, { method: 'POST', headers })).status).toBe(200);
    expect((await run(create, { stdin: orderBody('A-3') })).code).toBe(1);
  });

  it('says that its port is taken', async () => {
    const { url } = await startSandbox();
    const { code, stderr } = await partnerExchange(['sandbox', '--port', new URL(url).port]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('The port is in use') });
  });
});

async function shell(command: string): Promise<string> {
  return (await promisify(exec)(command)).stdout;
}

describe('sandbox advance', () => {
  it('moves an order, and exits with 1 if the event is not acknowledged', async () => {
    const receiver = await startServer((response) => response.end());
    const { run, advance, token } = await startSandbox();
    await run(create, { stdin: orderBody('A-1', receiver.url) });
    await run(create, { stdin: orderBody('A-2', await closedUrl()) });
    expect(await advance('A-1', 'fiat_received')).toEqual({
      code: 0,
      stdout: `A-1 is fiat_received.\n200 event.buy.received.fiat to ${receiver.url}\n`,
      stderr: '',
    });
    const refused = await advance('A-2', 'fiat_received');
    expect(refused).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('ECONNREFUSED event.buy.received.fiat'),
      stderr: expect.stringContaining('The event was not acknowledged'),
    });
    const late = await advance('A-1', 'fiat_received', '--debug');
    expect(late).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The sandbox refused this: advance: step'),
    });
    expect(JSON.stringify([refused, late])).not.toContain(token);
  });

  it('shows no control characters, whatever an order holds', async () => {
    const { run, advance } = await startSandbox();
    const id = 'A-\u001b[31m\u202e1';
    await run(create, { stdin: orderBody(id) });
    const { stdout } = await advance(id, 'fiat_received');
    expect(stdout).toContain('A-\\u001b[31m\\u202e1 is fiat_received.');
    for (const hidden of ['\u001b', '\u202e']) expect(stdout).not.toContain(hidden);
  });

  it.each([undefined, '', 'x', 'http://127.0.0.1:4200'])(
    'asks for the variables of a sandbox where PARTNER_EXCHANGE_SANDBOX_URL is %j',
    async (PARTNER_EXCHANGE_SANDBOX_URL) => {
      const env = { PARTNER_EXCHANGE_SANDBOX_URL };
      expect(await partnerExchange(['sandbox', 'advance', 'A-1', 'credited'], { env })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('run "partner-exchange sandbox > sandbox.env"'),
      });
    },
  );

  it.each<[string, typeof fetch, string]>([
    ['that has ended', () => Promise.reject(new TypeError('fetch failed')), 'gave no answer'],
    ['of another kind', async () => new Response('<h1>It works!</h1>'), 'is no sandbox of this version'],
  ])('says so of a server %s', async (_, fetch, message) => {
    const env = { PARTNER_EXCHANGE_SANDBOX_URL: 'http://127.0.0.1:4200/?token=secret-of-it' };
    const { code, stderr } = await partnerExchange(['sandbox', 'advance', 'A-1', 'credited', '--debug'], {
      env,
      fetch,
    });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(stderr).not.toContain('secret-of-it');
  });
});
