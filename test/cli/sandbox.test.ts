import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startChild } from './child.ts';
import { partnerExchange } from './run-in-process.ts';
import { filesIn, keys, scratchFolder, start } from './support.ts';

const args = ['sandbox', '--port', '0', '--format', 'json'];

/** What it prints first. */
async function environmentOf(running: ReturnType<typeof start>): Promise<Record<string, string>> {
  const [first = ''] = (await running.printed('stdout', /\n/)).split('\n');
  return JSON.parse(first).environment;
}

const onboard = (env: Record<string, string>, code: string) =>
  partnerExchange(['onboard', '--partner-code', code, '--email', 'a@b.example'], { env, fetch });

it('sandbox --data keeps its partners over restarts, in a private file', async () => {
  const cwd = scratchFolder();
  const first = start([...args, '--data', 'sandbox.sqlite'], { cwd, now: Date.now });
  const before = await environmentOf(first);
  expect(before.PARTNER_SECRET_KEY).toMatch(/^sk_partner_/);
  expect((await onboard(before, 'acme')).code).toBe(0);
  await first.stop();
  if (process.platform !== 'win32') expect(statSync(join(cwd, 'sandbox.sqlite')).mode & 0o777).toBe(0o600);

  const second = start([...args, '--data', 'sandbox.sqlite'], { cwd, now: Date.now });
  const after = await environmentOf(second);
  expect(after.PARTNER_SECRET_KEY).toBeUndefined();
  expect(await second.printed('stderr', /The keys of its partner are those that you have/)).toContain(
    'data stays',
  );
  // Refused, since it is registered.
  expect((await onboard(after, 'acme')).code).toBe(1);
});

it('sandbox --partner-from-env takes the keys of the environment, and prints none', async () => {
  const running = start([...args, '--partner-from-env'], { env: keys, now: Date.now });
  const env = await environmentOf(running);
  expect(Object.keys(env).filter((name) => /PUBLIC_KEY|SECRET/.test(name))).toEqual([]);
  const order = {
    partner_order_id: 'A-1',
    fiat_amount: '15000.50',
    fiat_currency: 'NGN',
    chain: 'usdt-trc20',
    buyer_crypto_address: 'TQ5NMqJjhpQGK7YJbESKfVXGnLkYbLZ1pA',
    partner_callback_url: 'http://127.0.0.1:1/orders',
  };
  const create = ['order', 'create', '--journal', 'orders.sqlite', '--yes'];
  const options = { env: { ...keys, ...env }, cwd: scratchFolder(), stdin: JSON.stringify(order), fetch };
  expect(await partnerExchange(create, options)).toMatchObject({ code: 0 });
  const { stdout, stderr } = await running.stop();
  expect(stdout + stderr).not.toContain(keys.PARTNER_SECRET_KEY);
});

describe('sandbox --open', () => {
  it('starts a browser with an address without the token, which leads to the inspector once', async () => {
    const opened: string[] = [];
    const openBrowser = async (url: string) => void opened.push(url);
    const running = start([...args, '--open'], { now: Date.now, openBrowser });
    const said = await running.printed('stderr', /The inspector is at \S+/);
    const inspector = /The inspector is at (\S+)/.exec(said)?.[1] ?? '';
    await expect.poll(() => opened.length).toBe(1);
    expect(opened[0]).not.toContain(/#token=(.+)/.exec(inspector)?.[1]);
    const answer = await fetch(opened[0] ?? '', { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, inspector]);
    await expect(fetch(opened[0] ?? '', { redirect: 'manual' })).rejects.toThrow();
    expect((await running.stop()).code).toBe(130);
  });

  it('says what to do where there is no browser', async () => {
    const openBrowser = () => Promise.reject(new Error('spawn xdg-open ENOENT'));
    const { code, stderr } = await partnerExchange([...args, '--open'], { now: Date.now, openBrowser });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('leave --open out') });
  });

  it.skipIf(process.platform !== 'linux')('runs the opener of the system', { timeout: 60_000 }, async () => {
    const script = `#!${process.execPath}
fetch(process.argv[2], { redirect: 'manual' }).then(({ headers }) =>
  require('node:fs').writeFileSync(process.env.OPENED, JSON.stringify([process.argv.slice(2), headers.get('location')])));
`;
    const cwd = filesIn({ 'xdg-open': script }, 0o700);
    const OPENED = join(cwd, 'opened.json');
    const PATH = `${cwd}:${process.env.PATH}`;
    const child = startChild(['sandbox', '--port', '0', '--open'], { env: { PATH, OPENED } });
    const said = await child.printed('stderr', /The inspector is at \S+/);
    await expect.poll(() => existsSync(OPENED), { timeout: 20_000 }).toBe(true);
    const [given, location] = JSON.parse(readFileSync(OPENED, 'utf8'));
    expect(said).toContain(location);
    expect(given).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}$/)]);
    child.process.kill('SIGINT');
    expect((await child.ended).code).toBe(130);
  });
});

it('sandbox --partner-from-env needs keys', async () => {
  const { code, stderr } = await partnerExchange([...args, '--partner-from-env']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('There are no keys') });
});
