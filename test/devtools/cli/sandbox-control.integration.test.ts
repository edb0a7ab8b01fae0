import { exec } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { startServer } from '../../support/local-server.ts';
import { startChild } from './child.ts';
import { partnerExchange, type RunOptions } from './run-in-process.ts';
import { order, scratchFolder, start } from './support.ts';

/** A sandbox, and what runs other commands with what it printed. */
async function startSandbox(args: readonly string[] = [], state = scratchFolder()) {
  const home = { XDG_STATE_HOME: state };
  const running = start(['sandbox', '--port', '0', '--format', 'json', ...args], {
    env: home,
    now: Date.now,
    fetch,
  });
  const [first = ''] = (await running.printed('stdout', /\n/)).split('\n');
  const { url, environment } = JSON.parse(first);
  const status = await running.printed('stderr', /#token=\S+/);
  const token = /#token=(\S+)/.exec(status)?.[1] ?? '';
  const lines = status.split('\n').filter((line) => line.startsWith('  curl '));
  const run = (words: readonly string[], options: RunOptions = {}) =>
    partnerExchange(words, {
      fetch,
      cwd: state,
      ...options,
      env: { ...home, ...environment, ...options.env },
    });
  const sandbox = (...words: string[]) => run(['sandbox', ...words]);
  /** The orders that it has, by its control API. */
  const orders = async () => {
    const { items } = await (await fetch(`${url}/_sandbox/orders`)).json();
    return (items as { partner_order_id: string }[]).map(({ partner_order_id }) => partner_order_id);
  };
  return {
    running,
    state,
    url: String(url),
    port: new URL(url).port,
    environment,
    token,
    lines,
    run,
    sandbox,
    orders,
  };
}

const files = (state: string) => readdirSync(join(state, 'partner-exchange', 'sandboxes'));

function orderBody(partner_order_id: string, partner_callback_url = 'http://127.0.0.1:1/orders'): string {
  return JSON.stringify({ ...order, partner_order_id, partner_callback_url });
}

const advance = ['sandbox', 'advance', 'A-1', 'fiat_received'];

const create = ['order', 'create', '--journal', 'orders.sqlite', '--yes'];

describe('a running sandbox', () => {
  it('is noted in a file that only its user can read, until it ends', async () => {
    const { running, state, url, token } = await startSandbox();
    const [name = ''] = files(state);
    const folder = join(state, 'partner-exchange', 'sandboxes');
    expect(JSON.parse(readFileSync(join(folder, name), 'utf8'))).toEqual({ url, token });
    if (process.platform !== 'win32') {
      expect([folder, join(folder, name)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    }
    await running.stop();
    expect(files(state)).toEqual([]);
  });

  it('shows its token in no output of the command that uses it', async () => {
    const { run, token, sandbox, state } = await startSandbox();
    await run(create, { stdin: orderBody('A-1') });
    const outputs = [
      await sandbox('advance', 'A-1', 'fiat_received'),
      await sandbox('advance', 'A-1', 'credited', '--format', 'json'),
      await sandbox('advance', 'nothing', 'credited', '--debug'),
    ];
    expect(outputs.map(({ code }) => code)).toEqual([1, 1, 1]);
    expect(JSON.stringify(outputs)).not.toContain(token);
    expect(files(state)).toHaveLength(1);
  });

  it('that was killed is not found any more, and its file is removed', { timeout: 60_000 }, async () => {
    const state = scratchFolder();
    const env = { XDG_STATE_HOME: state };
    const killed = startChild(['sandbox', '--port', '0'], { env });
    await killed.printed('stderr', /inspector/);
    expect(files(state)).toHaveLength(1);
    killed.process.kill('SIGKILL');
    await killed.ended;
    expect(await partnerExchange(advance, { env })).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(
        'No sandbox is running: start one in another terminal with "partner-exchange sandbox".',
      ),
    });
    expect(files(state)).toEqual([]);
  });

  it('is chosen by its port, or by the --exec around the command, if there are several', async () => {
    const one = await startSandbox();
    const other = await startSandbox([], one.state);
    const body = (name: string) => ({ stdin: orderBody(name), cwd: scratchFolder() });
    await one.run(create, body('A-1'));
    await other.run(create, body('A-2'));
    const env = { XDG_STATE_HOME: one.state };
    const { code, stderr } = await partnerExchange(advance, { env });
    expect(code).toBe(2);
    expect(stderr).toContain('Several sandboxes are running: choose one with --port');
    for (const { url } of [one, other]) expect(stderr).toContain(url);

    const byPort = ['sandbox', 'advance', 'A-1', 'no_kyc', '--port', one.port];
    expect((await partnerExchange(byPort, { env, fetch })).stdout).toContain('A-1 is no_kyc');
    const exec = { env: { ...env, PARTNER_EXCHANGE_SANDBOX_URL: other.url }, fetch };
    const inside = await partnerExchange(['sandbox', 'advance', 'A-2', 'no_kyc'], exec);
    expect(inside.stdout).toContain('A-2 is no_kyc');
    expect(await partnerExchange([...advance, '--port', '1'], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No sandbox is running there'),
    });
  });

  it('is not taken from files that others could have written, or that are broken', async () => {
    const { state, token, sandbox } = await startSandbox();
    const folder = join(state, 'partner-exchange', 'sandboxes');
    const content = JSON.stringify({ url: 'http://127.0.0.1:9', token });
    writeFileSync(join(folder, `${process.pid}-1.json`), content, { mode: 0o666 });
    writeFileSync(join(state, 'elsewhere.json'), content, { mode: 0o600 });
    symlinkSync(join(state, 'elsewhere.json'), join(folder, `${process.pid}-2.json`));
    writeFileSync(join(folder, `${process.pid}-3.json`), '{"url":', { mode: 0o600 });
    writeFileSync(join(folder, `${process.pid}-4.json`), '{"url":"file:///x","token":"x"}', { mode: 0o600 });
    writeFileSync(join(folder, 'notes.txt'), 'of the user');
    expect((await sandbox('advance', 'A-1', 'credited')).stderr).toContain('The sandbox refused this');
    expect(existsSync(join(folder, 'notes.txt'))).toBe(true);
  });

  it('starts although its file cannot be written, and says that commands will not find it', async () => {
    const state = scratchFolder();
    writeFileSync(join(state, 'partner-exchange'), '');
    const running = start(['sandbox', '--port', '0'], { env: { XDG_STATE_HOME: state }, now: Date.now });
    await running.printed('stderr', /warning: Commands such as "sandbox advance" cannot find it/);
    await running.printed('stderr', /The sandbox is at/);
  });

  it('that does not answer is said to have ended', async () => {
    const { run } = await startSandbox();
    const refusing = () => Promise.reject(new TypeError('fetch failed'));
    expect(await run(advance, { fetch: refusing })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('gave no answer: it may have ended'),
    });
    const foreign = async () => new Response('<h1>It works!</h1>');
    expect(await run(advance, { fetch: foreign })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is no sandbox of this version'),
    });
  });
});

describe('sandbox advance', () => {
  it('moves an order, and exits with 1 if the event is not acknowledged', async () => {
    const receiver = await startServer((response) => response.end());
    const { run, sandbox } = await startSandbox();
    await run(create, { stdin: orderBody('A-1', receiver.url) });
    await run(create, { stdin: orderBody('A-2', `http://127.0.0.1:${await freePort()}/`) });
    expect(await sandbox('advance', 'A-1', 'fiat_received')).toEqual({
      code: 0,
      stdout: `A-1 is fiat_received.\n200 event.buy.received.fiat to ${receiver.url}\n`,
      stderr: '',
    });
    expect(await sandbox('advance', 'A-2', 'fiat_received')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('ECONNREFUSED event.buy.received.fiat'),
      stderr: expect.stringContaining('The event was not acknowledged'),
    });
    expect(await sandbox('advance', 'A-1', 'fiat_received')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The sandbox refused this: advance: step'),
    });
    expect(await sandbox('advance', 'A-1', 'credit')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('step: must be fiat_received,'),
    });
  });

  it('shows no control characters, whatever an order holds', async () => {
    const { run, sandbox } = await startSandbox();
    const id = 'A-\u001b[31m\u202e1';
    await run(create, { stdin: orderBody(id) });
    const { stdout } = await sandbox('advance', id, 'fiat_received');
    expect(stdout).toContain('A-\\u001b[31m\\u202e1 is fiat_received.');
    for (const hidden of ['\u001b', '\u202e']) expect(stdout).not.toContain(hidden);
  });
});

it('a sandbox prints lines of curl for the rest, which do what they say', async () => {
  const { run, orders, lines } = await startSandbox();
  const [state = '', plan = '', , reset = ''] = lines;
  await run(create, { stdin: orderBody('A-1') });
  expect(JSON.parse(await shell(plan))).toEqual({ done: true });
  expect(JSON.parse(await shell(state)).faults).toEqual([{ target: 'createOrder', fault: 'reply_lost' }]);
  // The keys that were printed go on working.
  expect(JSON.parse(await shell(reset))).toEqual({ done: true });
  expect(await orders()).toEqual([]);
  expect((await run(create, { stdin: orderBody('A-2') })).code).toBe(0);
});

async function shell(command: string): Promise<string> {
  return (await promisify(exec)(command)).stdout;
}

it('sandbox --enforce-whitelist refuses orders until whitelist-ip was called', async () => {
  const { run, url, token } = await startSandbox(['--enforce-whitelist']);
  const refused = await run(create, { stdin: orderBody('A-1') });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/whitelist/i) });
  expect((await run(['whitelist-ip'])).code).toBe(0);
  expect((await run(create, { stdin: orderBody('A-2') })).code).toBe(0);
  const headers = { authorization: `Bearer ${token}` };
  expect((await fetch(`${url}/_sandbox/reset`, { method: 'POST', headers })).status).toBe(200);
  expect((await run(create, { stdin: orderBody('A-3') })).code).toBe(1);
});
