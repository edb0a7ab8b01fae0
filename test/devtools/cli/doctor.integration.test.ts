import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { closedUrl, startServer } from '../../support/local-server.ts';
import { partnerExchange, type RunOptions } from './run-in-process.ts';
import { addressOf, scratchFolder, start } from './support.ts';

type Check = { id: string; verdict: string; what: string; advice?: string };

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
  it('examines a whole integration, and shows no key', async () => {
    const sandbox = start(['sandbox', '--port', '0', '--format', 'json'], { now: Date.now });
    const [first = ''] = (await sandbox.printed('stdout', /\n/)).split('\n');
    const env: Record<string, string> = JSON.parse(first).environment;
    const options: RunOptions = { env, fetch, now: Date.now };
    const receiver = await startServer({ status: 401 });
    const { code, checks, verdictOf } = await doctor(['--callback', receiver.url], options);
    expect(verdictOf).toEqual({
      environment: 'ok',
      onboarding: 'ok',
      staging: 'ok',
      messenger: 'ok',
      clock: 'ok',
      // The one thing that is wrong with it: nobody else can reach this machine by this address.
      callback: 'broken',
      store: 'skipped',
      samples: 'skipped',
    });
    expect(code).toBe(1);
    expect((await doctor([], options)).code).toBe(0);
    const page = readFileSync(join(import.meta.dirname, '../../../docs/details/diagnostics.md'), 'utf8');
    expect(checks.filter(({ id }) => !page.includes(`\`${id}\``))).toEqual([]);
    for (const key of ['PARTNER_SECRET_KEY', 'MERCHANT_SECRET_KEY', 'MESSENGER_MASTER_KEY'])
      expect(JSON.stringify(checks)).not.toContain(env[key]);
  });

  it('finds samples that other keys signed, and a service that signs in another way', async () => {
    const cwd = scratchFolder();
    const sandbox = start(['sandbox', '--port', '0', '--format', 'json'], { now: Date.now });
    const [first = ''] = (await sandbox.printed('stdout', /\n/)).split('\n');
    const env: Record<string, string> = JSON.parse(first).environment;
    const listen = start(['listen', '--port', '0', '--save', 'events'], { env, cwd, now: Date.now });
    const receiver = await addressOf(listen);
    await partnerExchange(['trigger', 'event.buy.init', '--to', receiver], { env, cwd, now: Date.now });
    const options: RunOptions = { cwd, env, fetch, now: Date.now };
    const foreign = { ...env, PARTNER_SECRET_KEY: 'sk_partner_somebody_else' };
    const signed = await partnerExchange(['sign'], { ...options, env: foreign, stdin: '{"a":1}' });
    writeFileSync(join(cwd, 'events/foreign.json'), signed.stdout);
    const samplesOf = async (args: readonly string[], given = options) => {
      const { code, checks } = await doctor(args, given);
      return { code, samples: checks.filter(({ id }) => id === 'samples') };
    };
    const { samples } = await samplesOf(['--samples', 'events']);
    expect(samples).toMatchObject([
      { verdict: 'weak', what: '1 of 2 was signed by other keys.' },
      { verdict: 'ok', what: '1 of 2 samples are signed and formed as the deployment says.' },
    ]);
    expect(await samplesOf(['--samples', 'events/foreign.json'])).toMatchObject({
      code: 1,
      samples: expect.arrayContaining([
        expect.objectContaining({ what: 'None of 1 samples is signed with these keys.' }),
      ]),
    });
    const PARTNER_EXCHANGE_SCHEME = JSON.stringify({
      construction: 'hash-suffix',
      serialization: 'as-sent',
      encoding: 'hex',
    });
    const otherWay = { ...options, env: { ...env, PARTNER_EXCHANGE_SCHEME } };
    expect(await samplesOf(['--samples', 'events'], otherWay)).toMatchObject({
      code: 1,
      samples: expect.arrayContaining([
        expect.objectContaining({ what: 'The samples refute signature-construction: "hmac".' }),
      ]),
    });
  });

  it.each([
    [{}, 'skipped', /^None of the variables is set/],
    [{ PARTNER_CODE: 'acme', HOME: '/' }, 'ok', /^Set: PARTNER_CODE\.$/],
    [{ PARTNER_SECRET_KEY: 'pk_partner_swapped' }, 'broken', /PARTNER_SECRET_KEY/],
    [{ PARTNER_EXCHANGE_STAGNG_URL: 'x' }, 'broken', /did you mean PARTNER_EXCHANGE_STAGING_URL/],
    [{ PARTNER_EXCHANGE_STAGING_URL: 'http://elsewhere.example' }, 'broken', /PARTNER_EXCHANGE_STAGING_URL/],
  ])('says of the variables %j: %s', async (env, verdict, what) => {
    const { checks } = await doctor([], { env, fetch, now: Date.now });
    const check = checks.find(({ id }) => id === 'environment');
    expect(check).toMatchObject({ verdict, what: expect.stringMatching(what) });
  });

  it('prints what matters first, then what is fine, and in one line each reason to skip', async () => {
    const env = { PARTNER_EXCHANGE_STAGING_URL: await closedUrl(), PARTNER_CODE: 'acme' };
    const { code, stdout, stderr } = await partnerExchange(['doctor'], { env, fetch });
    const verdicts = stdout
      .split('\n')
      .flatMap((line) => /^(broken|weak|ok|skipped)\b/.exec(line)?.[1] ?? []);
    expect([...new Set(verdicts)]).toEqual(['broken', 'ok', 'skipped']);
    expect(stdout).toMatch(/^skipped onboarding, messenger: The address is not set\.$/m);
    expect(stderr).toMatch(/^(?:\d+ \w+(?:, |\.\n$))+/);
    expect(code).toBe(1);
  });
});

describe('a store that the doctor is given', { timeout: 60_000 }, () => {
  const password = 's3cret';

  it('is opened as order and inbox do, and named', async () => {
    const cwd = scratchFolder();
    const store = sqliteStore({ path: join(cwd, 'orders.sqlite') });
    await store.transact(['a'], (records) => records.set('a', 1));
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
