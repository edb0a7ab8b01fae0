import { describe, expect, it } from 'vitest';
import { assumptions } from '../../../../src/deployment/assumptions.ts';
import { warning } from '../../../../src/devtools/diagnostics/doctor/check.ts';
import {
  type DoctorOptions,
  makeContext,
  readDoctorOptions,
} from '../../../../src/devtools/diagnostics/doctor/doctor-context.ts';
import { doctorChecks, runCheck, runDoctor } from '../../../../src/devtools/diagnostics/doctor/run-doctor.ts';
import { isConfigurationError } from '../../../../src/errors/errors.ts';

const secret = 'sk_partner_9f27c04e8ab1d653';
const env = {
  PARTNER_PUBLIC_KEY: 'pk_partner_4b1d8f60a2c79e35',
  PARTNER_SECRET_KEY: secret,
  MERCHANT_SECRET_KEY_NGN: 'sk_merchant_e60d1b72f5934a8c',
  MESSENGER_API_KEY: 'API-X-5d6c1b0a9f8e',
  PARTNER_EXCHANGE_MESSENGER_BASE_URL: 'https://messenger.example',
};
const offline: DoctorOptions = {
  env,
  fetch: async () => {
    throw new TypeError('offline');
  },
  lookup: async () => ['192.0.2.1'],
  timeoutMs: 1_000,
};

describe('runDoctor', () => {
  it('gives every check once, in order', async () => {
    const { checks } = await runDoctor(offline);
    expect(checks.map(({ id }) => id)).toEqual(doctorChecks.map(({ id }) => id));
    expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length);
    const ledger: readonly string[] = assumptions.map(({ id }) => id);
    for (const check of checks) {
      expect(check.found).not.toBe('');
      expect(check.status === 'ok' || check.status === 'skip' || check.fix !== undefined).toBe(true);
      expect(check.assumptions.filter((id) => !ledger.includes(id))).toEqual([]);
    }
  });

  it('asks each base URL once, for its answer and for the time', async () => {
    const asked: string[] = [];
    const { checks } = await runDoctor({
      ...offline,
      fetch: async (url) => {
        asked.push(String(url));
        return new Response(null, { status: 404, headers: { date: new Date().toUTCString() } });
      },
    });
    expect(asked.filter((url) => new URL(url).pathname === '/')).toEqual(['https://messenger.example/']);
    expect(checks.find(({ id }) => id === 'clock')).toMatchObject({ status: 'ok' });
  });

  it('shows no secret', async () => {
    const { checks } = await runDoctor(offline);
    const shown = JSON.stringify(checks);
    for (const one of [secret, env.MERCHANT_SECRET_KEY_NGN, env.MESSENGER_API_KEY]) {
      expect(shown).not.toContain(one);
    }
  });

  it('makes a failure of its own of a check that throws, without the secret that it quotes', async () => {
    const context = makeContext(readDoctorOptions(offline));
    const throwing = (error: unknown) => ({
      id: 'broken',
      run() {
        throw error;
      },
    });
    for (const error of [new Error(`cannot read ${secret}`), `rejected ${env.MESSENGER_API_KEY}`, null]) {
      const check = await runCheck(throwing(error), context);
      expect(check).toMatchObject({ id: 'broken', status: 'fail', assumptions: [] });
      expect(JSON.stringify(check)).not.toMatch(/9f27c04e8ab1d653|5d6c1b0a9f8e/);
    }
  });

  it('conceals what a check would show by mistake', async () => {
    const context = makeContext(readDoctorOptions(offline));
    const check = await runCheck(
      { id: 'careless', run: () => warning(`The key is ${secret}`, secret) },
      context,
    );
    expect(check).toMatchObject({ found: 'The key is [redacted]', fix: '[redacted]' });
  });

  it('finds a malformed environment, and checks the rest', async () => {
    const { checks } = await runDoctor({ ...offline, env: { ...env, PARTNER_SECRET_KEY: 'x' } });
    const byId = new Map(checks.map((check) => [check.id, check.status]));
    expect(byId.get('environment')).toBe('fail');
    expect(byId.get('runtime')).toBe('ok');
    expect(checks.filter(({ found }) => found.startsWith('The check itself failed'))).toEqual([]);
  });

  it('stops when its signal is aborted', async () => {
    const controller = new AbortController();
    const stopped = runDoctor({
      ...offline,
      signal: controller.signal,
      lookup: () => {
        controller.abort(new Error('enough'));
        return new Promise(() => {});
      },
    });
    await expect(stopped).rejects.toThrow('enough');
  });

  it.each<[string, object, RegExp]>([
    ['a misspelt option', { callbakUrl: 'x' }, /Did you mean "callbackUrl"/],
    ['a relative callback', { callbackUrl: '/orders' }, /absolute URL/],
    ['another protocol', { callbackUrl: 'ftp://partner.example' }, /http: or https:/],
    ['credentials in the callback', { callbackUrl: 'https://a:b@partner.example' }, /credentials/],
    ['a path that is not in a list', { inboxFiles: 'inbox.db' }, /list of paths/],
    ['an empty path', { storeFiles: [''] }, /list of paths/],
    ['samples that were parsed', { samples: [{}] }, /texts or bytes/],
    ['no environment', { env: 'x' }, /object of variables/],
    ['a text for strict', { strict: 'yes' }, /strict must be/],
    ['a deployment of somebody else', { deployment: {} }, /defineDeployment/],
    ['a wrong key', { credentials: { partnerPublicKey: 'x' } }, /partnerPublicKey/],
    ['a clock that is none', { now: 5 }, /now must be/],
  ])('refuses %s', async (_, options, message) => {
    const refusal = await runDoctor(options).catch((error: unknown) => error);
    expect(isConfigurationError(refusal)).toBe(true);
    expect(String(refusal)).toMatch(message);
  });
});
