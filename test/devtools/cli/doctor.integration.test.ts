import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startChild } from './child.ts';
import { partnerExchange, type RunOptions } from './run-in-process.ts';
import { addressOf, filesIn, scratchFolder, start } from './support.ts';

type Check = { id: string; status: string; found: string; fix?: string; assumptions: string[] };

/** A sandbox, its environment, a receiver, and a folder with what it has kept. */
async function integration() {
  const cwd = scratchFolder();
  const sandbox = start(['sandbox', '--port', '0', '--format', 'json'], { now: Date.now });
  const [first = ''] = (await sandbox.printed('stdout', /\n/)).split('\n');
  const env: Record<string, string> = JSON.parse(first).environment;
  const listen = start(['listen', '--port', '0', '--save', 'events'], { env, cwd, now: Date.now });
  const receiver = await addressOf(listen);
  await partnerExchange(['trigger', 'event.buy.init', '--to', receiver], { env, cwd, now: Date.now });
  const options: RunOptions = { cwd, env, fetch, now: Date.now };
  return { cwd, env, receiver, options };
}

async function doctor(args: readonly string[], options: RunOptions) {
  const { code, stdout } = await partnerExchange(['doctor', '--format', 'json', ...args], options);
  const { checks }: { checks: Check[] } = JSON.parse(stdout);
  const statusOf = Object.fromEntries(checks.map(({ id, status }) => [id, status]));
  return { code, checks, statusOf };
}

describe('doctor', { timeout: 60_000 }, () => {
  it('examines a whole integration, and makes none of the files that are not there', async () => {
    const { cwd, env, receiver, options } = await integration();
    const order = ['order', 'unsettled', '--journal', 'orders.sqlite'];
    expect((await partnerExchange(order, options)).code).toBe(2);
    const args = ['--callback', receiver, '--send-authentic', '--samples', 'events'];
    const { code, checks, statusOf } = await doctor([...args, '--inbox', 'inbox.sqlite'], options);
    expect(statusOf).toMatchObject({
      runtime: 'ok',
      environment: 'ok',
      keys: 'ok',
      'learnt-assumptions': 'skip',
      'onboarding-answer': 'ok',
      'staging-answer': 'ok',
      'messenger-answer': 'ok',
      clock: 'ok',
      'callback-receiver': 'ok',
      'inbox-rights': 'skip',
      // A busy machine's disk may be as slow as one that is worth a warning.
      'inbox-fsync': expect.toBeOneOf(['ok', 'warn']),
    });
    // The one thing that is wrong with it: nobody else can reach this machine by this address.
    expect(checks.filter(({ status }) => status === 'fail').map(({ id }) => id)).toEqual([
      'callback-address',
    ]);
    expect(code).toBe(1);
    expect(existsSync(join(cwd, 'inbox.sqlite'))).toBe(false);
    for (const key of ['PARTNER_SECRET_KEY', 'MERCHANT_SECRET_KEY', 'MESSENGER_MASTER_KEY'])
      expect(JSON.stringify(checks)).not.toContain(env[key]);
  });

  it('ends with 0 without a callback; skips what cannot be reached, which fails with --strict', async () => {
    const { env, options } = await integration();
    const complete = await doctor([], options);
    expect(Object.values(complete.statusOf)).not.toContain('fail');
    expect(complete.code).toBe(0);
    const unreachable = { ...options, env: { ...env, PARTNER_EXCHANGE_STAGING_URL: 'http://127.0.0.1:1' } };
    const lenient = await doctor([], unreachable);
    expect([lenient.statusOf['staging-answer'], lenient.code]).toEqual(['skip', 0]);
    const strict = await doctor(['--strict'], unreachable);
    expect([strict.statusOf['staging-answer'], strict.code]).toEqual(['fail', 1]);
  });

  it('finds a receiver that accepts what is forged', async () => {
    const { options } = await integration();
    // Without keys it cannot verify, and takes everything.
    const careless = start(['listen', '--port', '0'], { now: Date.now });
    const { code, checks } = await doctor(['--callback', await addressOf(careless)], options);
    const found = checks.find(({ id }) => id === 'callback-receiver');
    expect({ code, status: found?.status }).toEqual({ code: 1, status: 'fail' });
    expect(found?.found).toMatch(/signed with another key: 200/);
    expect(found?.fix?.length).toBeGreaterThan(10);
  });

  it.each([
    [{ PARTNER_SECRET_KEY: 'pk_partner_swapped' }, 'environment', 'fail'],
    [{ PARTNER_SECRT_KEY: 'x' }, 'environment-names', 'warn'],
    [{ PARTNER_EXCHANGE_STAGING_URL: 'http://elsewhere.example' }, 'environment', 'fail'],
  ])('finds what is wrong with the variables: %j', async (env, id, status) => {
    const { checks } = await doctor([], { env, fetch, now: Date.now });
    expect(checks.find((check) => check.id === id)).toMatchObject({ status, fix: expect.any(String) });
  });

  it.skipIf(process.platform === 'win32')('finds a store that others can read', async () => {
    const cwd = filesIn({ 'orders.sqlite': '' }, 0o644);
    const { code, statusOf } = await doctor(['--store', 'orders.sqlite'], { cwd, fetch, now: Date.now });
    expect(['warn', 'fail']).toContain(statusOf['store-rights']);
    expect(code).toBe(statusOf['store-rights'] === 'fail' ? 1 : 0);
  });

  it('without any configuration says what to set, and skips what needs a network', async () => {
    const { code, checks } = await doctor([], { now: Date.now });
    expect(checks.length).toBeGreaterThan(5);
    const fails = checks.filter(({ status }) => status === 'fail');
    expect(code).toBe(fails.length > 0 ? 1 : 0);
    for (const { fix = '' } of fails) expect(fix.length).toBeGreaterThan(10);
  });

  it('in a process of its own: a line for each check, what to do below it, and a count', async () => {
    const { code, stdout, stderr } = await startChild(['doctor']).ended;
    expect(stdout).toMatch(/^ok {3}runtime: (?:Node|Bun) \d+/);
    expect(stdout).toMatch(/^(?:skip|warn) .+: .+$/m);
    expect(stderr).toMatch(/^\d+ ok, .*\d+ skip.*\.\n$/);
    expect(code).toBe(/\d+ fail/.test(stderr) ? 1 : 0);
  });
});
