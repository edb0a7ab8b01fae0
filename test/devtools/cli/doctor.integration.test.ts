import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { closedUrl } from '../../support/local-server.ts';
import { partnerExchange, type RunOptions } from './run-in-process.ts';
import { addressOf, scratchFolder, start } from './support.ts';

type Check = { id: string; verdict: string; what: string; advice?: string };

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
  const { code, stdout } = await partnerExchange(
    ['doctor', '--format', 'json', '--timeout-ms', '60000', ...args],
    options,
  );
  const { checks }: { checks: Check[] } = JSON.parse(stdout);
  const verdictOf = Object.fromEntries(checks.map(({ id, verdict }) => [id, verdict]));
  return { code, checks, verdictOf };
}

describe('doctor', { timeout: 60_000 }, () => {
  it('examines a whole integration', async () => {
    const { env, receiver, options } = await integration();
    const args = ['--callback', receiver, '--samples', 'events'];
    const { code, checks, verdictOf } = await doctor(args, options);
    expect(verdictOf).toEqual({
      environment: 'ok',
      variables: 'ok',
      'example-address': 'ok',
      keys: expect.toBeOneOf(['ok', 'weak']),
      'deployment-file': 'skipped',
      onboarding: 'ok',
      staging: 'ok',
      messenger: 'ok',
      clock: 'ok',
      // The one thing that is wrong with it: nobody else can reach this machine by this address.
      callback: 'broken',
      store: 'skipped',
      samples: 'ok',
    });
    expect(code).toBe(1);
    const page = readFileSync(join(import.meta.dirname, '../../../docs/details/diagnostics.md'), 'utf8');
    expect(checks.filter(({ id }) => !page.includes(`\`${id}\``))).toEqual([]);
    for (const key of ['PARTNER_SECRET_KEY', 'MERCHANT_SECRET_KEY', 'MESSENGER_MASTER_KEY'])
      expect(JSON.stringify(checks)).not.toContain(env[key]);
  });

  it('ends with 0 without a callback, and with 1 if an address refuses connections, by its code', async () => {
    const { env, options } = await integration();
    expect((await doctor([], options)).code).toBe(0);
    const url = await closedUrl();
    const dead = { ...options, env: { ...env, PARTNER_EXCHANGE_STAGING_URL: url } };
    const { code, checks } = await doctor([], dead);
    expect(code).toBe(1);
    expect(checks.find(({ id }) => id === 'staging')).toMatchObject({
      verdict: 'broken',
      what: `Nothing listens at ${new URL(url).host} (ECONNREFUSED).`,
    });
  });

  it('finds samples that other keys signed, and a service that signs in another way', async () => {
    const { cwd, env, options } = await integration();
    const foreign = { ...env, PARTNER_SECRET_KEY: 'sk_partner_somebody_else' };
    const signed = await partnerExchange(['sign'], { ...options, env: foreign, stdin: '{"a":1}' });
    writeFileSync(join(cwd, 'events/foreign.json'), signed.stdout);
    const some = await doctor(['--samples', 'events'], options);
    expect(some.checks.filter(({ id }) => id === 'samples')).toMatchObject([
      { verdict: 'weak', what: '1 of 2 was signed by other keys.' },
      { verdict: 'ok', what: '1 of 2 samples are signed and formed as the deployment says.' },
    ]);
    const none = await doctor(['--samples', 'events/foreign.json'], options);
    expect([none.code, none.verdictOf.samples]).toEqual([1, expect.any(String)]);
    const scheme = JSON.stringify({ construction: 'hash-suffix', serialization: 'as-sent', encoding: 'hex' });
    writeFileSync(join(cwd, 'scheme.json'), scheme);
    const { code, checks } = await doctor(['--scheme', 'scheme.json', '--samples', 'events'], options);
    expect(code).toBe(1);
    expect(checks.find(({ id }) => id === 'samples')).toMatchObject({
      verdict: 'broken',
      what: 'The samples refute signature-construction: "hmac".',
    });
  });

  it.each([
    [{ PARTNER_SECRET_KEY: 'pk_partner_swapped' }, 'environment', 'broken'],
    [{ PARTNER_SECRT_KEY: 'x' }, 'variables', 'weak'],
    [{ PARTNER_EXCHANGE_STAGING_URL: 'http://elsewhere.example' }, 'environment', 'broken'],
  ])('finds what is wrong with the variables: %j', async (env, id, verdict) => {
    const { checks } = await doctor([], { env, fetch, now: Date.now });
    expect(checks.find((check) => check.id === id)).toMatchObject({ verdict, advice: expect.any(String) });
  });

  it('prints what matters first, then what is fine, and in one line each reason to skip', async () => {
    const { code, stdout, stderr } = await partnerExchange(['doctor']);
    const verdicts = stdout
      .split('\n')
      .flatMap((line) => /^(broken|weak|ok|skipped)\b/.exec(line)?.[1] ?? []);
    const order = ['broken', 'weak', 'ok', 'skipped'];
    expect(verdicts).toEqual(verdicts.toSorted((one, other) => order.indexOf(one) - order.indexOf(other)));
    expect(stdout).toMatch(/^skipped onboarding, staging, messenger: The address is not set\.$/m);
    expect(stderr).toMatch(/^(?:\d+ \w+(?:, |\.\n$))+/);
    expect(code).toBe(0);
  });
});

describe('a store that the doctor is given', { timeout: 60_000 }, () => {
  const password = 's3cret';

  it('is opened as order and inbox do, and named', async () => {
    const cwd = scratchFolder();
    const { store } = await openStore(cwd);
    await store.close();
    for (const at of ['orders.sqlite', 'sqlite:orders.sqlite']) {
      const { checks } = await doctor(['--store', at], { cwd });
      expect(checks.find(({ id }) => id === 'store')).toMatchObject({
        verdict: 'ok',
        what: 'orders.sqlite can be read, and holds records.',
      });
    }
  });

  it.each([
    [
      'a file that is not there, and makes none',
      'none.sqlite',
      {},
      'There is no none.sqlite: check the path.',
    ],
    [
      'a variable that is not set',
      'env:NONE',
      {},
      'The variable NONE is not set: set it to the address of the store.',
    ],
    [
      'a dead PostgreSQL, without its password',
      'env:STORE',
      { STORE: `postgres://user:${password}@127.0.0.1:1/shop` },
      'postgres://127.0.0.1:1/shop cannot be read: ECONNREFUSED.',
    ],
    [
      'a dead Redis, without its password',
      'env:STORE',
      { STORE: `redis://:${password}@127.0.0.1:1` },
      'redis://127.0.0.1:1 cannot be read: ECONNREFUSED.',
    ],
    [
      'a host that does not exist, also with a short password',
      'env:STORE',
      { STORE: 'postgres://user:pw@no-such-host.invalid/shop' },
      expect.stringMatching(
        /^postgres:\/\/no-such-host\.invalid\/shop cannot be read: (?:ENOTFOUND|EAI_AGAIN)\.$/,
      ),
    ],
  ])('is a fault if it is %s', async (_, at, env, what) => {
    const cwd = scratchFolder();
    // The packages of the repository.
    symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(cwd, 'node_modules'));
    for (const format of ['json', 'text']) {
      const { stdout, stderr } = await partnerExchange(
        ['doctor', '--store', at, '--format', format, '--debug'],
        {
          cwd,
          env,
        },
      );
      expect(stdout + stderr).not.toMatch(/s3cret|user:pw/);
      if (format === 'text') continue;
      const { checks }: { checks: Check[] } = JSON.parse(stdout);
      expect(checks.find(({ id }) => id === 'store')).toMatchObject({ verdict: 'broken', what });
    }
    expect(readdirSync(cwd)).toEqual(['node_modules']);
  });
});

async function openStore(cwd: string) {
  const store = sqliteStore({ path: join(cwd, 'orders.sqlite') });
  await store.transact(['a'], (records) => records.set('a', 1));
  return { store };
}
