import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MessengerClient } from '../../../src/client/messenger-client.ts';
import { readEnvironment } from '../../../src/deployment/read-environment.ts';
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
  const said = await running.printed('stderr', /#token=\S+/);
  const token = /#token=(\S+)/.exec(said)?.[1] ?? '';
  const run = (words: readonly string[], options: RunOptions = {}) =>
    partnerExchange(words, {
      fetch,
      cwd: state,
      ...options,
      env: { ...home, ...environment, ...options.env },
    });
  const sandbox = (...words: string[]) => run(['sandbox', ...words]);
  const json = async (...words: string[]) => JSON.parse((await sandbox(...words, '--format', 'json')).stdout);
  return {
    running,
    state,
    url: String(url),
    port: new URL(url).port,
    environment,
    token,
    run,
    sandbox,
    json,
  };
}

const files = (state: string) => readdirSync(join(state, 'partner-exchange', 'sandboxes'));

function orderBody(partner_order_id: string, partner_callback_url = 'http://127.0.0.1:1/orders'): string {
  return JSON.stringify({ ...order, partner_order_id, partner_callback_url });
}

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

  it('shows its token in no output of the commands that use it', async () => {
    const { token, sandbox, state } = await startSandbox();
    const shown = await Promise.all(
      [
        ['orders'],
        ['emails'],
        ['messages'],
        ['clock', 'advance', '1h'],
        ['reset', '--yes'],
        ['orders', '--debug'],
      ]
        .flatMap((words) => [words, [...words, '--format', 'json']])
        .map((words) => sandbox(...words)),
    );
    expect(shown.every(({ code }) => code === 0)).toBe(true);
    expect(JSON.stringify(shown)).not.toContain(token);
    const refused = await sandbox('advance', 'nothing', 'credited', '--debug');
    expect(refused.code).toBe(1);
    expect(refused.stdout + refused.stderr).not.toContain(token);
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
    expect(await partnerExchange(['sandbox', 'orders'], { env })).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(
        'No sandbox is running: start one in another terminal with "partner-exchange sandbox".',
      ),
    });
    expect(files(state)).toEqual([]);
  });

  it('is chosen by port or address if there are several', async () => {
    const one = await startSandbox();
    const other = await startSandbox([], one.state);
    const { code, stderr } = await partnerExchange(['sandbox', 'orders'], {
      env: { XDG_STATE_HOME: one.state },
    });
    expect(code).toBe(2);
    expect(stderr).toContain('Several sandboxes are running: choose one with --port or --url');
    for (const { url } of [one, other]) expect(stderr).toContain(url);
    await other.run([...create], { stdin: orderBody('A-1') });
    expect((await one.json('orders', '--port', one.port)).total).toBe(0);
    expect((await one.json('orders', '--port', other.port)).total).toBe(1);
    expect((await one.json('orders', '--url', other.url)).total).toBe(1);
    const env = { PARTNER_EXCHANGE_SANDBOX_URL: other.url };
    expect((await one.run(['sandbox', 'orders'], { env })).stdout).toContain('A-1');
    expect(await one.sandbox('orders', '--port', '1')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No sandbox is running there'),
    });
    expect((await one.sandbox('orders', '--port', one.port, '--url', one.url)).code).toBe(2);
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
    expect(await sandbox('orders')).toMatchObject({ code: 0, stderr: '' });
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
    expect(await run(['sandbox', 'orders'], { fetch: refusing })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('gave no answer: it may have ended'),
    });
    const foreign = async () => Response.json({ total: 'many' });
    expect(await run(['sandbox', 'orders'], { fetch: foreign })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('answers in a form that is not known here'),
    });
  });
});

describe('orders', () => {
  it('are listed, moved and played, and exit with 1 if an event is not acknowledged', async () => {
    const events: string[] = [];
    const receiver = await startServer((response, { body }) => {
      events.push(JSON.parse(body.toString()).event_name);
      response.end();
    });
    const { run, sandbox, json } = await startSandbox();
    for (const id of ['A-1', 'A-2']) await run(create, { stdin: orderBody(id, receiver.url) });
    await run(create, { stdin: orderBody('A-3', `http://127.0.0.1:${await freePort()}/`) });

    expect(await json('orders', '--limit', '1')).toMatchObject({
      total: 3,
      items: [{ partner_order_id: 'A-3' }],
    });
    expect(await json('orders', '--order', 'A-1')).toMatchObject({ total: 1, items: [{ state: 'created' }] });
    expect((await sandbox('orders', '--limit', '1')).stderr).toBe(
      'These are the newest 1 of 3 orders: --limit shows up to 1000.\n',
    );

    const moved = await sandbox('advance', 'A-1', 'fiat_received');
    expect(moved).toMatchObject({ code: 0, stderr: '' });
    expect(moved.stdout).toMatch(
      /^A-1 is fiat_received\.\nanswer +event +posted to\n200 +event\.buy\.received\.fiat +http/,
    );
    expect(await json('play', 'A-2', 'happy')).toMatchObject({
      order: { state: 'credited' },
      deliveries: [{ acknowledged: true }, { acknowledged: true }],
    });
    expect(events.filter((name) => name === 'event.buy.credited.crypto')).toHaveLength(1);

    const unheard = await sandbox('advance', 'A-3', 'fiat_received');
    expect(unheard).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Not every event was acknowledged'),
    });
    expect(unheard.stdout).toContain('ECONNREFUSED');
    expect(await sandbox('advance', 'A-2', 'refunded')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The sandbox refused this: advance: step'),
    });
    expect(await sandbox('advance', 'A-2', 'credit')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('step: must be fiat_received,'),
    });
  });

  it('fit into the terminal, whatever they hold', async () => {
    const { run } = await startSandbox();
    await run(create, { stdin: orderBody('A-\u001b[31m\u202e1') });
    const at = async (columns: number) =>
      (await run(['sandbox', 'orders'], { isTerminal: true, columns })).stdout.trimEnd().split('\n');
    for (const columns of [80, 100]) {
      const lines = await at(columns);
      expect(lines).toHaveLength(2);
      expect(lines.every((line) => plain(line).length <= columns)).toBe(true);
      expect(lines[1]).toContain('…');
    }
    for (const columns of [0, 20]) expect((await at(columns))[1]).toContain('A-\\u001b[31m\\u202e1');
    const piped = (await run(['sandbox', 'orders'])).stdout;
    expect(piped).toContain('fiat_received, no_kyc, third_party_payment, third_party_error');
    for (const hidden of ['\u001b', '\u202e']) expect(piped).not.toContain(hidden);
  });
});

/** Without colours. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
  return text.replaceAll(/\u001b\[[\d;]*m/g, '');
}

describe('sandbox', () => {
  it('lists e-mails with the whole link, however narrow the terminal', async () => {
    const { run, json } = await startSandbox();
    const { items } = await json('emails');
    expect(items).toMatchObject([{ partner_code: 'sandbox', kind: 'onboarding' }]);
    const { stdout } = await run(['sandbox', 'emails'], { isTerminal: true, columns: 40 });
    expect(stdout).toContain(items[0].link);
  });

  it('lists messages with the whole text, however narrow the terminal', async () => {
    const { run, json, environment } = await startSandbox();
    expect(await json('messages')).toMatchObject({ total: 0, items: [] });
    const { deployment, masterKey } = readEnvironment(environment);
    const messenger = new MessengerClient({ deployment, masterKey });
    const { body } = await messenger.generateApiKey({ messenger_device_no: '1001' });
    // Sound: without a schema the body is unknown, and this sandbox sends one.
    const { api_key } = body as { api_key: string };
    await fetch(messenger.scanDeviceUrl({ api_key }));
    const text = 'Your code is 482913. Do not pass it on.';
    await new MessengerClient({ deployment, apiKey: api_key }).sendMessage({
      to_phone: '+2348012345678',
      message: text,
    });
    expect((await json('messages')).items).toMatchObject([{ messenger_device_no: '1001', message: text }]);
    const { stdout } = await run(['sandbox', 'messages'], { isTerminal: true, columns: 40 });
    expect(stdout).toContain(text);
  });

  it('shows the time and moves it forward', async () => {
    const { sandbox, json } = await startSandbox();
    const before = (await json('clock')).now;
    expect((await json('clock', 'advance', '1d1h1m')).now - before).toBeGreaterThanOrEqual(90_060_000);
    const set = new Date(before + 200_000_000).toISOString();
    expect((await sandbox('clock', 'set', set)).stdout).toContain(set.slice(0, 16));
    // Further than the control API moves it in one request.
    const years = new Date(before + 900 * 86_400_000).toISOString();
    expect((await sandbox('clock', 'set', years)).stdout).toContain(years.slice(0, 16));
    const { now } = await json('clock');
    expect((await json('clock', 'advance', '1000d')).now - now).toBeGreaterThanOrEqual(1000 * 86_400_000);
    expect(await sandbox('clock', 'advance', '40000d')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('at most 36500 days'),
    });
    expect(await sandbox('clock', 'set', '2020-01-01')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot move back'),
    });
    expect((await sandbox('clock', 'drain')).stdout).toContain('No work waits for a later time.');
    for (const wrong of ['1', '1x', 'h', '1h 2', '']) {
      expect(await sandbox('clock', 'advance', wrong)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('duration: must be a time with its unit'),
      });
    }
    expect((await sandbox('clock', 'set', '2030-01-01T00:00:00')).stderr).toContain('with its zone');
  });

  it('reset forgets orders, and the keys that were printed go on working', async () => {
    const { run, sandbox, json } = await startSandbox();
    expect((await run(create, { stdin: orderBody('A-1') })).code).toBe(0);
    expect(await sandbox('reset')).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes') });
    expect((await sandbox('reset', '--yes')).stdout).toMatch(/^The sandbox at http\S+ was reset\.\n$/);
    expect((await json('orders')).total).toBe(0);
    expect((await run(create, { stdin: orderBody('A-2') })).code).toBe(0);
  });
});

it('with two sandboxes running, the environment that one of them printed chooses it', async () => {
  const one = await startSandbox();
  const other = await startSandbox([], one.state);
  for (const each of [one, other, one]) {
    const { stdout } = await each.run(['sandbox', 'reset', '--yes']);
    expect(stdout).toBe(`The sandbox at ${each.url} was reset.\n`);
  }
  const env = { PARTNER_EXCHANGE_SANDBOX_URL: other.url };
  expect((await one.run(['sandbox', 'reset', '--yes'], { env })).stdout).toContain(other.url);
  const named = await one.run(['sandbox', 'reset', '--yes', '--port', other.port]);
  expect(named.stdout).toContain(other.url);
  const mixed = {
    PARTNER_EXCHANGE_MESSENGER_BASE_URL: other.environment.PARTNER_EXCHANGE_MESSENGER_BASE_URL,
  };
  expect(await one.run(['sandbox', 'orders'], { env: mixed })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Several sandboxes are running: choose one'),
  });
});

it('sandbox --enforce-whitelist refuses orders until whitelist-ip was called', async () => {
  const { run, sandbox } = await startSandbox(['--enforce-whitelist']);
  const refused = await run(create, { stdin: orderBody('A-1') });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/whitelist/i) });
  expect((await run(['whitelist-ip'])).code).toBe(0);
  expect((await run(create, { stdin: orderBody('A-2') })).code).toBe(0);
  await sandbox('reset', '--yes');
  expect((await run(create, { stdin: orderBody('A-3') })).code).toBe(1);
});
