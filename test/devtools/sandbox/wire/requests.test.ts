import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import { callback, onboarded, partner, place, post, refusal, reply } from '../support.ts';

const origin = 'https://sandbox.localhost';

describe('a request', () => {
  it('to an unknown path is 404, with a hint at a slash that is missing', async () => {
    const sandbox = createSandbox();
    expect(await refusal(sandbox.fetch(`${origin}/`))).toEqual([404, 'not_found']);
    expect(await refusal(sandbox.fetch(`${origin}/onboarding/one-time/`))).toEqual([404, 'not_found']);
    const { body } = await reply(sandbox.fetch(`${origin}/staging/test-ip-connection`, { method: 'POST' }));
    expect(body).toEqual({ error: 'not_found', message: expect.stringContaining('slash') });
  });

  it('at the published paths is answered, the dot of the regeneration included', async () => {
    const { onboardingBaseUrl, paths } = createSandbox().deployment;
    expect(onboardingBaseUrl + paths.regenerateKeys).toBe(
      `${origin}/onboarding/api/v1/no-auth/PartnerP2P/OnboardPartner./`,
    );
    expect(await refusal(post(createSandbox(), 'regenerateKeys', partner))).toEqual([401, 'bearer_missing']);
  });

  it('with a wrong method is 405 and says which are right', async () => {
    const sandbox = createSandbox();
    const { deployment } = sandbox;
    const wrong = [
      [deployment.onboardingBaseUrl + deployment.paths.onboard, 'GET', 'POST'],
      [deployment.stagingUrl + deployment.paths.whitelistIp, 'PUT', 'POST'],
      [deployment.messengerBaseUrl + deployment.paths.scanDevice, 'POST', 'GET'],
    ] as const;
    for (const [url, method, allow] of wrong) {
      const response = await sandbox.fetch(url, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
    }
  });

  it('with another content type is 415, except for the IP capture', async () => {
    const sandbox = createSandbox();
    const headers = { 'content-type': 'text/plain' };
    for (const operation of ['onboard', 'regenerateKeys', 'createOrder', 'sendMessage'] as const) {
      expect(await refusal(post(sandbox, operation, '{}', headers))).toEqual([415, 'unsupported_media_type']);
    }
    expect((await post(sandbox, 'whitelistIp', 'any data', headers)).status).toBe(200);
    const charset = { 'content-type': 'Application/JSON; charset=utf-8' };
    expect((await post(sandbox, 'onboard', partner, charset)).status).toBe(200);
  });

  it('that is too large is 413, announced or not, and one of exactly the limit is not', async () => {
    const sandbox = createSandbox();
    const limit = 1024 * 1024;
    const url = sandbox.deployment.stagingUrl + sandbox.deployment.paths.whitelistIp;
    expect(await refusal(post(sandbox, 'whitelistIp', 'x'.repeat(limit + 1)))).toEqual([
      413,
      'body_too_large',
    ]);
    const announced = { 'content-length': String(limit + 1) };
    expect(await refusal(sandbox.fetch(url, { method: 'POST', headers: announced }))).toEqual([
      413,
      'body_too_large',
    ]);
    expect((await post(sandbox, 'whitelistIp', 'x'.repeat(limit))).status).toBe(200);
  });

  it.each([
    ['empty', '', 'body_not_json'],
    ['not JSON', '{"partner_code":', 'body_not_json'],
    ['an array', '[]', 'body_not_object'],
    ['null', 'null', 'body_not_object'],
  ])('whose body is %s is 400, signed or not', async (_, body, code) => {
    const sandbox = createSandbox();
    expect(await refusal(post(sandbox, 'onboard', body))).toEqual([400, code]);
    const credentials = await onboarded(sandbox);
    const headers = { authorization: `Bearer ${credentials.partnerPublicKey}` };
    expect(await refusal(post(sandbox, 'createOrder', body, headers))).toEqual([400, code]);
  });

  it('whose body is not UTF-8, or nested 100,000 deep, is 400', async () => {
    const sandbox = createSandbox();
    const url = sandbox.deployment.onboardingBaseUrl + sandbox.deployment.paths.onboard;
    const headers = { 'content-type': 'application/json' };
    const body = new Uint8Array([0x7b, 0xff, 0x7d]);
    const refused = sandbox.fetch(url, { method: 'POST', headers, body });
    expect(await refusal(refused)).toEqual([400, 'body_not_utf8']);
    const deep = `{"email":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(await refusal(post(sandbox, 'onboard', deep))).toEqual([400, 'invalid_body']);
  });

  it('that makes a function of the options fail is 500, without its message', async () => {
    const sandbox = createSandbox({
      fetch: callback().fetch,
      readOrder: () => {
        throw new RangeError('secret');
      },
    });
    const { status, body } = await reply(place(sandbox, await onboarded(sandbox)));
    expect(status).toBe(500);
    expect(body).toEqual({ error: 'sandbox_failed', message: expect.stringContaining('RangeError') });
    expect(sandbox.orders).toEqual([]);
  });

  it('whose signal is aborted is not answered', async () => {
    const signal = AbortSignal.abort();
    await expect(createSandbox().fetch(origin, { signal })).rejects.toThrow(/abort/);
  });
});
