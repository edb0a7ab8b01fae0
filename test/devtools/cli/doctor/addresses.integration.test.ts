import { createServer } from 'node:https';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BaseUrlName } from '../../../../src/deployment/operations.ts';
import { examineBaseUrl, examineClock } from '../../../../src/devtools/cli/commands/doctor/addresses.ts';
import { examineCallback } from '../../../../src/devtools/cli/commands/doctor/callback.ts';
import type { DoctorOptions } from '../../../../src/devtools/cli/commands/doctor/surroundings.ts';
import { listening } from '../../../support/listening.ts';
import { closedUrl, startServer } from '../../../support/local-server.ts';
import { selfSigned } from '../../../support/self-signed.ts';
import { surroundingsOf } from './surroundings.ts';

const names = {
  onboardingBaseUrl: 'PARTNER_EXCHANGE_ONBOARDING_BASE_URL',
  stagingUrl: 'PARTNER_EXCHANGE_STAGING_URL',
  messengerBaseUrl: 'PARTNER_EXCHANGE_MESSENGER_BASE_URL',
} as const satisfies Record<BaseUrlName, string>;

/** What the doctor says of one base URL, with the network of this machine. */
async function examined(url: string, options: Partial<DoctorOptions> = {}) {
  const env = { [names.stagingUrl]: url, ...options.env };
  return examineBaseUrl('stagingUrl', surroundingsOf({ fetch, ...options, env }));
}

describe('the doctor says of a base URL', () => {
  it('that it is not set', async () => {
    expect(await examined('')).toEqual([{ verdict: 'skipped', what: 'The address is not set.' }]);
  });

  it('that nothing listens at its port: broken, with the code of the system', async () => {
    for (const url of [await closedUrl(), (await closedUrl()).replace('http:', 'https:')]) {
      const what = `Nothing listens at ${new URL(url).host} (ECONNREFUSED).`;
      expect(await examined(url)).toMatchObject([{ verdict: 'broken', what }]);
    }
  });

  it.each([
    [302, 'ok'],
    [404, 'ok'],
    [500, 'weak'],
  ])('that it answers %d: %s, asked by GET and without keys', async (status, verdict) => {
    const server = await startServer({ status });
    const env = {
      PARTNER_PUBLIC_KEY: 'pk_partner_4b1d8f60a2c79e35',
      PARTNER_SECRET_KEY: 'sk_partner_9f27c04e8ab1',
    };
    const results = await examined(server.url, { env });
    expect(results).toMatchObject([{ verdict, what: `GET is answered with ${status}.` }]);
    expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
    expect(server.requests.some(({ headers }) => headers.authorization !== undefined)).toBe(false);
  });

  it('that it does not answer in time', async () => {
    const server = await startServer(() => {});
    // real time: nothing ends before it: a busy machine only makes it later.
    const late = await examined(server.url, { timeoutMs: 50 });
    expect(late).toMatchObject([{ verdict: 'broken', what: expect.stringContaining('no answer in 50 ms.') }]);
  });
});

describe('the doctor says of a certificate', () => {
  it('that nobody vouches for it, also of the callback', async () => {
    const server = createServer(selfSigned(), (_, response) => response.end());
    onTestFinished(() => void server.close());
    const url = await listening(server, 'https');
    const untrusted = { verdict: 'broken', what: expect.stringMatching(/not trusted \(\w+\)/) };
    expect(await examined(url)).toMatchObject([untrusted]);
    expect((await examineCallback(new URL(url), surroundingsOf({ fetch }))).at(-1)).toMatchObject(untrusted);
  });

  it('that http to another machine has none', async () => {
    const env = { PARTNER_EXCHANGE_ALLOW_INSECURE_HTTP: 'true' };
    const [first] = await examined('http://inside.example', { env, fetch: async () => new Response() });
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
});
