import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { defineDeployment } from '../../../../src/deployment/define-deployment.ts';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import { listening } from '../../../support/listening.ts';
import { closedUrl, startServer } from '../../../support/local-server.ts';
import { selfSigned } from '../../../support/self-signed.ts';
import { examined } from './examined.ts';

const servers = join(import.meta.dirname, '../../../runtimes/servers');
const pem = (name: string) => readFileSync(join(servers, `${name}.pem`), 'utf8');
const dayMs = 24 * 60 * 60 * 1000;
/** When the test certificate expires. */
const expiry = Date.parse('2126-10-28T21:06:12Z');

const at = (url: string) => ({ deployment: defineDeployment({ onboardingBaseUrl: url }) });

describe('the doctor says of a base URL', () => {
  it('that the sandbox resolves and answers, in http on this machine', async () => {
    const server = await createSandbox().listen();
    onTestFinished(() => server.close());
    const options = { deployment: server.deployment, fetch, lookup: async (host: string) => [host] };
    for (const id of ['onboarding', 'staging', 'messenger']) {
      expect(await examined(`${id}-name`, options)).toMatchObject({ status: 'ok' });
      expect(await examined(`${id}-tls`, options)).toMatchObject({ status: 'skip' });
      expect(await examined(`${id}-answer`, options)).toMatchObject({
        status: 'ok',
        found: expect.stringMatching(/^GET is answered with 4\d\d\.$/),
      });
    }
    expect(await examined('clock', options)).toMatchObject({ status: 'ok' });
  });

  it('that it is not set', async () => {
    for (const id of ['name', 'tls', 'answer']) {
      const check = await examined(`staging-${id}`);
      expect(check).toMatchObject({ status: 'skip', found: 'stagingUrl is not set.' });
    }
    expect(await examined('clock')).toMatchObject({ status: 'skip' });
  });

  it('that nothing listens at its port: failed', async () => {
    const url = await closedUrl();
    const check = await examined('onboarding-answer', { ...at(url), fetch });
    expect(check).toMatchObject({ status: 'fail', found: 'No answer (ECONNREFUSED).' });
    const tls = await examined('onboarding-tls', at(url.replace('http', 'https')));
    expect(tls).toMatchObject({ status: 'fail', found: expect.stringContaining('ECONNREFUSED') });
  });

  it('that its path is wrong, or that it is the address of another service', async () => {
    const server = await createSandbox().listen();
    onTestFinished(() => server.close());
    const { onboardingBaseUrl = '', stagingUrl, messengerBaseUrl } = server.deployment;
    const right = { onboardingBaseUrl, stagingUrl, messengerBaseUrl };
    const path = (id: string, urls: Partial<typeof right>) =>
      examined(`${id}-path`, { deployment: defineDeployment({ ...right, ...urls }), fetch });
    for (const id of ['onboarding', 'staging', 'messenger']) {
      expect(await path(id, {})).toMatchObject({ status: 'ok', found: expect.stringContaining('is there') });
    }
    expect(await path('onboarding', { onboardingBaseUrl: `${onboardingBaseUrl}/v2` })).toMatchObject({
      status: 'warn',
      found: expect.stringMatching(/OnboardPartner below onboardingBaseUrl is answered with 404/),
    });
    expect(await path('onboarding', { onboardingBaseUrl: messengerBaseUrl })).toMatchObject({
      status: 'fail',
      found: expect.stringContaining('onboardingBaseUrl is the address of the messenger'),
      fix: expect.stringContaining('belongs into messengerBaseUrl'),
    });
  });

  it.each([
    [200, 'skip', /Every path/],
    [404, 'warn', /404/],
  ])(
    'where every path is answered with %d: %s, with methods that do not act and without keys',
    async (answer, status, found) => {
      const server = await startServer({ status: answer });
      const check = await examined('messenger-path', {
        deployment: defineDeployment({ messengerBaseUrl: server.url }),
        fetch,
      });
      expect(check).toMatchObject({ status, found: expect.stringMatching(found) });
      const methods = new Set(server.requests.map(({ method }) => method));
      expect([...methods].filter((method) => method !== 'GET' && method !== 'OPTIONS')).toEqual([]);
      expect(server.requests.some(({ headers }) => headers.authorization !== undefined)).toBe(false);
    },
  );

  it('that it cannot be reached: skipped, or failed if strict', async () => {
    const name = 'https://onboarding.example';
    for (const [strict, status] of [
      [false, 'skip'],
      [true, 'fail'],
    ] as const) {
      const named = await examined('onboarding-name', { ...at(name), strict });
      expect(named).toMatchObject({ status, found: expect.stringContaining('ENOTFOUND') });
    }
  });

  it('that it does not answer in time', async () => {
    const server = await startServer(() => {});
    // real time: nothing ends before it: a busy machine only makes it later.
    const options = { ...at(server.url), timeoutMs: 50, fetch, lookup: () => new Promise<never>(() => {}) };
    const check = await examined('onboarding-answer', options);
    expect(check).toMatchObject({ status: 'skip', found: 'No answer in 50 ms.' });
    expect(await examined('onboarding-name', options)).toMatchObject({
      status: 'skip',
      found: expect.stringContaining('no answer within 50 ms'),
    });
  });

  it.each([
    [500, 'warn'],
    [302, 'ok'],
    [404, 'ok'],
  ])('that it answers with %d: %s, without sending a key', async (status, expected) => {
    const server = await startServer({ status });
    const check = await examined('onboarding-answer', { ...at(server.url), fetch });
    expect(check).toMatchObject({ status: expected, found: `GET is answered with ${status}.` });
    const [request, ...others] = server.requests;
    expect([request?.method, request?.headers.authorization, others]).toEqual(['GET', undefined, []]);
  });
});

describe('the doctor says of a certificate', () => {
  it.each([
    ['that it is trusted', expiry - 100 * dayMs, 'ok', /expires in 100 days/],
    ['that it expires soon', expiry - 3 * dayMs, 'warn', /expires in 3 days/],
    ['that it has expired', expiry + dayMs, 'fail', /has expired/],
  ])('%s', async (_, now, status, found) => {
    const url = await startTls({ key: pem('key'), cert: pem('cert') });
    const check = await examined('onboarding-tls', { ...at(url), now: () => now }, { ca: pem('ca') });
    expect(check).toMatchObject({ status, found: expect.stringMatching(found) });
  });

  it('that nobody vouches for it', async () => {
    const url = await startTls(selfSigned());
    for (const [id, options] of [
      ['onboarding-tls', at(url)],
      ['callback-tls', { callbackUrl: url }],
    ] as const) {
      const check = await examined(id, options);
      expect(check).toMatchObject({ status: 'fail', found: expect.stringMatching(/not trusted \(\w+\)/) });
    }
  });

  it('that it does not come', async () => {
    const server = await startServer({ status: 200 });
    const options = at(server.url.replace('http:', 'https:'));
    expect(await examined('onboarding-tls', options)).toMatchObject({ status: 'skip' });
  });

  it('that http to another machine has none', async () => {
    const deployment = defineDeployment({
      onboardingBaseUrl: 'http://inside.example',
      allowInsecureHttp: true,
    });
    expect(await examined('onboarding-tls', { deployment })).toMatchObject({ status: 'warn' });
  });
});

describe('the doctor says of the clock', () => {
  const noon = Date.parse('2026-11-21T12:00:00Z');
  it.each([
    [0, 'ok', /0 s ahead of/],
    [-20_000, 'ok', /20 s behind/],
    [40_000, 'warn', /40 s ahead of that of messengerBaseUrl/],
    [-3_600_000, 'fail', /3600 s behind/],
  ])('that it is %d ms ahead: %s', async (ahead, status, found) => {
    const deployment = defineDeployment({
      stagingUrl: 'https://staging.example',
      messengerBaseUrl: 'https://messenger.example',
    });
    const answering: typeof fetch = async (url) => {
      // The first one does not tell the time.
      const headers = String(url).includes('staging') ? {} : { date: new Date(noon).toUTCString() };
      return new Response(null, { status: 404, headers });
    };
    const check = await examined('clock', { deployment, fetch: answering, now: () => noon + ahead });
    expect(check).toMatchObject({ status, found: expect.stringMatching(found) });
  });
});

async function startTls(options: { key: string; cert: string }): Promise<string> {
  const server = createServer(options, (_, response) => response.end());
  onTestFinished(() => void server.close());
  return await listening(server, 'https');
}
