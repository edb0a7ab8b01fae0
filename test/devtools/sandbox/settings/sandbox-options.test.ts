import { describe, expect, it } from 'vitest';
import { defineDeployment } from '../../../../src/deployment/define-deployment.ts';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import { isConfigurationError } from '../../../../src/errors/errors.ts';
import { onboarded, partner, post } from '../support.ts';

describe('createSandbox', () => {
  it.each([
    ['an unknown option', { whitelisted: 'off' }],
    ['a mode that does not exist', { whitelist: 'on' }],
    ['a limit of zero', { maxRemembered: 0 }],
    ['a time-out that is no number', { callbackTimeoutMs: Number.NaN }],
    ['a padded master key', { masterKey: ' key' }],
    ['a fetch that is no function', { fetch: 'fetch' }],
    ['an unknown spelling', { eventSpelling: 'loose' }],
    ['a hook that is no function', { event: {} }],
    ['a list that is none', { numbersNotOnMessenger: '123' }],
    ['a path that is none', { deployment: { paths: { onboard: 'x' } } }],
    ['an unknown option of its deployment', { deployment: { path: {} } }],
    ['a scheme that does not exist', { deployment: { signature: { construction: 'md5' } } }],
  ])('refuses %s', (_, options) => {
    // @ts-expect-error: the options are wrong on purpose
    expect(() => createSandbox(options)).toThrow(expect.toSatisfy(isConfigurationError));
  });

  it('plays a deployment of the caller, with base URLs of its own', () => {
    const given = defineDeployment({
      onboardingBaseUrl: 'https://live.example',
      wireNames: { platform_order_ref: 'acme_order_ref' },
      orderStatuses: { 409: 'refused' },
    });
    const { deployment } = createSandbox({ deployment: given });
    expect(deployment).toMatchObject({
      onboardingBaseUrl: 'https://sandbox.localhost/onboarding',
      wireNames: given.wireNames,
      orderStatuses: given.orderStatuses,
    });
  });

  it('takes absent options as undefined', () => {
    expect(() =>
      createSandbox({ fetch: undefined, masterKey: undefined, deployment: undefined }),
    ).not.toThrow();
  });

  it('lets operations with different methods share a path', async () => {
    const sandbox = createSandbox({
      deployment: { paths: { scanDevice: '/device', generateApiKey: '/device' } },
    });
    const response = await sandbox.fetch('https://sandbox.localhost/messenger/device', { method: 'PUT' });
    expect(response.headers.get('allow')).toBe('POST, GET');
  });

  it('makes sandboxes that share nothing', async () => {
    const [one, two] = [createSandbox(), createSandbox()];
    await onboarded(one);
    expect(two.emails).toEqual([]);
    expect(two.whitelistedIps).toEqual([]);
    expect(two.masterKey).not.toBe(one.masterKey);
    expect((await post(two, 'onboard', partner)).status).toBe(200);
  });

  it('gives lists that a caller cannot change', async () => {
    const sandbox = createSandbox();
    await post(sandbox, 'onboard', partner);
    // @ts-expect-error: read-only
    sandbox.emails.push(sandbox.emails[0]);
    expect(sandbox.emails).toHaveLength(1);
  });
});
