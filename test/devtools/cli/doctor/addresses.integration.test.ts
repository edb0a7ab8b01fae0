import { createServer } from 'node:https';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BaseUrlName } from '../../../../src/deployment/operations.ts';
import { examineBaseUrl, examineClock } from '../../../../src/devtools/cli/commands/doctor/addresses.ts';
import { examineCallback } from '../../../../src/devtools/cli/commands/doctor/callback.ts';
import type { DoctorOptions } from '../../../../src/devtools/cli/commands/doctor/surroundings.ts';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import { listening } from '../../../support/listening.ts';
import { closedUrl, startServer } from '../../../support/local-server.ts';
import { selfSigned } from '../../../support/self-signed.ts';
import { surroundingsOf } from './surroundings.ts';

const names = {
  onboardingBaseUrl: 'PARTNER_EXCHANGE_ONBOARDING_BASE_URL',
  stagingUrl: 'PARTNER_EXCHANGE_STAGING_URL',
  messengerBaseUrl: 'PARTNER_EXCHANGE_MESSENGER_BASE_URL',
} as const satisfies Record<BaseUrlName, string>;
const all = Object.keys(names) as BaseUrlName[];

/** What the doctor says of one base URL, with the network of this machine. */
async function examined(
  name: BaseUrlName,
  urls: Partial<Record<BaseUrlName, string | undefined>>,
  options: Partial<DoctorOptions> = {},
) {
  const set = Object.entries(urls).map(([each, url]) => [names[each as BaseUrlName], url]);
  const env = { ...Object.fromEntries(set), ...options.env };
  return examineBaseUrl(name, surroundingsOf({ fetch, lookup: async (host) => [host], ...options, env }));
}

describe('the doctor says of a base URL', () => {
  it('in one line that it is right: the sandbox, in http on this machine', async () => {
    const server = await createSandbox().listen();
    onTestFinished(() => server.close());
    for (const name of all) {
      expect(await examined(name, server.deployment)).toEqual([
        { verdict: 'ok', what: expect.stringMatching(/ is .*\. GET is answered with 4\d\d\.$/) },
      ]);
    }
  });

  it('that it is not set', async () => {
    expect(await examined('stagingUrl', {})).toEqual([
      { verdict: 'skipped', what: 'The address is not set.' },
    ]);
  });

  it('that nothing listens at its port: broken, with the code of the system', async () => {
    for (const url of [await closedUrl(), (await closedUrl()).replace('http:', 'https:')]) {
      const what = `Nothing listens at ${new URL(url).host} (ECONNREFUSED).`;
      expect(await examined('stagingUrl', { stagingUrl: url })).toMatchObject([{ verdict: 'broken', what }]);
    }
  });

  it.each([
    [302, 'ok', /GET is answered with 302/],
    [404, 'ok', /GET is answered with 404/],
    [500, 'weak', /GET is answered with 500/],
  ])('that it answers %d: %s, asked by GET and without keys', async (status, verdict, what) => {
    const server = await startServer({ status });
    const env = {
      PARTNER_PUBLIC_KEY: 'pk_partner_4b1d8f60a2c79e35',
      PARTNER_SECRET_KEY: 'sk_partner_9f27c04e8ab1',
    };
    const results = await examined('messengerBaseUrl', { messengerBaseUrl: server.url }, { env });
    expect(results).toMatchObject([{ verdict, what: expect.stringMatching(what) }]);
    expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
    expect(server.requests.some(({ headers }) => headers.authorization !== undefined)).toBe(false);
  });

  it('that it cannot be reached: skipped, or broken if strict', async () => {
    const urls = { stagingUrl: 'https://staging.example' };
    const lookup = async () => {
      throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
    };
    for (const [strict, verdict] of [
      [false, 'skipped'],
      [true, 'broken'],
    ] as const) {
      const what = 'staging.example does not resolve (ENOTFOUND).';
      expect(await examined('stagingUrl', urls, { strict, lookup })).toMatchObject([{ verdict, what }]);
    }
  });

  it('that it does not answer in time', async () => {
    const server = await startServer(() => {});
    const urls = { stagingUrl: server.url };
    // real time: nothing ends before it: a busy machine only makes it later.
    const late = await examined('stagingUrl', urls, { timeoutMs: 50 });
    expect(late).toMatchObject([
      { verdict: 'skipped', what: expect.stringContaining('no answer in 50 ms.') },
    ]);
    const unresolved = await examined('stagingUrl', urls, {
      // real time: nothing ends before it.
      timeoutMs: 50,
      lookup: () => new Promise<never>(() => {}),
    });
    expect(unresolved).toMatchObject([{ what: expect.stringContaining('no answer within 50 ms') }]);
  });
});

describe('the doctor says of a certificate', () => {
  it('that nobody vouches for it, also of the callback', async () => {
    const server = createServer(selfSigned(), (_, response) => response.end());
    onTestFinished(() => void server.close());
    const url = await listening(server, 'https');
    const untrusted = { verdict: 'broken', what: expect.stringMatching(/not trusted \(\w+\)/) };
    expect(await examined('stagingUrl', { stagingUrl: url })).toMatchObject([untrusted]);
    expect((await examineCallback(new URL(url), surroundingsOf({ fetch }))).at(-1)).toMatchObject(untrusted);
  });

  it('that http to another machine has none', async () => {
    const env = { PARTNER_EXCHANGE_ALLOW_INSECURE_HTTP: 'true' };
    const options = { env, fetch: async () => new Response() };
    const [first] = await examined('stagingUrl', { stagingUrl: 'http://inside.example' }, options);
    expect(first).toMatchObject({ verdict: 'weak', what: expect.stringContaining('http') });
  });
});

describe('the doctor says of the clock', () => {
  const noon = Date.parse('2026-11-21T12:00:00Z');
  const env = {
    [names.stagingUrl]: 'https://staging.example',
    [names.messengerBaseUrl]: 'https://messenger.example',
  };
  const answering: typeof fetch = async (url) => {
    // The first one does not tell the time.
    const headers = String(url).includes('staging') ? {} : { date: new Date(noon).toUTCString() };
    return new Response(null, { status: 404, headers });
  };

  it.each([
    [0, 'ok', /0 s ahead of/],
    [-20_000, 'ok', /20 s behind/],
    [40_000, 'weak', /40 s ahead of that of messengerBaseUrl/],
    [-3_600_000, 'broken', /3600 s behind/],
  ])('that it is %d ms ahead: %s', async (ahead, verdict, what) => {
    const results = await examineClock(surroundingsOf({ env, fetch: answering, now: () => noon + ahead }));
    expect(results).toMatchObject([{ verdict, what: expect.stringMatching(what) }]);
  });

  it('nothing where no address tells the time', async () => {
    expect(await examineClock(surroundingsOf({ env }))).toMatchObject([{ verdict: 'skipped' }]);
  });

  it('with the same request that asks for the answer', async () => {
    const asked: string[] = [];
    const surroundings = surroundingsOf({
      env,
      lookup: async () => ['192.0.2.1'],
      fetch: (url, init) => {
        asked.push(String(url));
        return answering(url, init);
      },
    });
    await Promise.all([examineBaseUrl('messengerBaseUrl', surroundings), examineClock(surroundings)]);
    expect(asked.filter((url) => url === 'https://messenger.example/')).toHaveLength(1);
  });
});
