import { describe, expect, it } from 'vitest';
import { defineDeployment } from '../../../../src/deployment/define-deployment.ts';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import { isConfigurationError } from '../../../../src/errors/errors.ts';
import { partner, post } from '../support.ts';

describe('createSandbox', () => {
  it.each([
    ['an unknown option', { whitelisted: 'off' }],
    ['a mode that does not exist', { whitelist: 'on' }],
    ['a limit of zero', { maxRemembered: 0 }],
    ['a padded master key', { masterKey: ' key' }],
    ['a fetch that is no function', { fetch: 'fetch' }],
    ['a hook that is no function', { event: {} }],
    ['an empty seed', { seed: '' }],
    ['a seed that is none', { seed: Number.NaN }],
    ['a list that is none', { numbersNotOnMessenger: '123' }],
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

  it('gives lists that a caller cannot change', async () => {
    const sandbox = createSandbox();
    await post(sandbox, 'onboard', partner);
    // @ts-expect-error: read-only
    sandbox.emails.push(sandbox.emails[0]);
    expect(sandbox.emails).toHaveLength(1);
  });
});
