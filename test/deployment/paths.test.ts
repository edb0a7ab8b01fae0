import { describe, expect, it } from 'vitest';
import {
  type DeploymentOptions,
  defineDeployment,
  operationUrl,
} from '../../src/deployment/define-deployment.ts';
import type { Operation } from '../../src/deployment/operations.ts';
import { ConfigurationError, isConfigurationError } from '../../src/errors/errors.ts';
import { thrownBy } from '../support/refusal.ts';
import { bases } from './bases.ts';

/** Contract: Endpoints; the order path is reported. */
const published = [
  ['onboard', 'https://onboarding.example', '/api/v1/no-auth/PartnerP2P/OnboardPartner'],
  ['whitelistIp', 'https://staging.example', '/test-ip-connection/'],
  ['regenerateKeys', 'https://onboarding.example', '/api/v1/no-auth/PartnerP2P/OnboardPartner./'],
  ['createOrder', 'https://onboarding.example', '/api/v1/no-auth/PartnerP2P/CreateOrder/'],
  ['generateApiKey', 'https://messenger.example', '/api-keys/generate'],
  ['scanDevice', 'https://messenger.example', '/connect-msg/scan-device'],
  ['sendMessage', 'https://messenger.example', '/send-messages/send'],
] as const satisfies [Operation, string, string][];

function complaint(paths: unknown): string {
  const error = thrownBy(() => defineDeployment({ ...bases, paths } as DeploymentOptions));
  expect(isConfigurationError(error) && error.code).toBe('invalid_deployment');
  return isConfigurationError(error) ? error.message : '';
}

it.each(published)(
  '%s is at its published path, whatever slashes end its base URL',
  (operation, base, path) => {
    for (const end of ['', '//', '/a/b/']) {
      const deployment = defineDeployment({
        onboardingBaseUrl: bases.onboardingBaseUrl + end,
        stagingUrl: bases.stagingUrl + end,
        messengerBaseUrl: bases.messengerBaseUrl + end,
      });
      const url = operationUrl(deployment, operation);
      expect(url).toBe(base + end.replace(/\/+$/, '') + path);
      // A URL parser leaves it as it is.
      expect(new URL(url).href).toBe(url);
    }
  },
);

it('a path can be moved, and the others stay', () => {
  for (const own of ['/own', '/own./', '/v2/a%20b', '/', '/a.b/c..d', '/~a/b:c@d']) {
    const deployment = defineDeployment({ ...bases, paths: { createOrder: own, onboard: undefined } });
    expect(operationUrl(deployment, 'createOrder')).toBe(bases.onboardingBaseUrl + own);
    expect(operationUrl(deployment, 'onboard')).toBe(operationUrl(defineDeployment(bases), 'onboard'));
  }
});

it('the number check has no address until it is configured, and the error says how', () => {
  const error = thrownBy(() => operationUrl(defineDeployment(bases), 'checkNumber'));
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error).toMatchObject({ code: 'not_configured', assumptions: ['number-check'] });
  expect(String(error)).toContain('paths.checkNumber');
  const deployment = defineDeployment({ ...bases, paths: { checkNumber: '/numbers/check' } });
  expect(operationUrl(deployment, 'checkNumber')).toBe('https://messenger.example/numbers/check');
});

it('an operation below a base URL that was not given is refused by the option and its variable', () => {
  const error = thrownBy(() => operationUrl(defineDeployment({}), 'whitelistIp'));
  expect(error).toMatchObject({ name: 'ConfigurationError', code: 'not_configured' });
  expect(String(error)).toContain(
    'whitelistIp needs stagingUrl of defineDeployment (PARTNER_EXCHANGE_STAGING',
  );
});

describe("a deployment's own connect-msg", () => {
  it('stands in the path of the scan', () => {
    const deployment = defineDeployment({ ...bases, wireNames: { 'connect-msg': 'connect-acme' } });
    expect(operationUrl(deployment, 'scanDevice')).toBe('https://messenger.example/connect-acme/scan-device');
  });

  it('leaves a path alone that was given as a whole', () => {
    const deployment = defineDeployment({
      ...bases,
      wireNames: { 'connect-msg': 'connect-acme' },
      paths: { scanDevice: '/connect-msg/scan' },
    });
    expect(operationUrl(deployment, 'scanDevice')).toBe('https://messenger.example/connect-msg/scan');
  });
});

describe('a path is refused, by its name', () => {
  it.each<[string, unknown]>([
    ['empty', ''],
    ['a whole URL', 'https://evil.example/own'],
    ['another host', '//evil.example/own'],
    ['with a query', '/own?key=1'],
    ['with a fragment', '/own#x'],
    ['with a dot segment', '/a/./b'],
    ['with a blank', '/a b'],
    ['beyond ASCII', '/é'],
    ['a number', 5],
  ])('when it is %s', (_, path) => {
    expect(complaint({ onboard: path })).toContain('paths.onboard');
  });

  it('when it is not an operation', () => {
    expect(complaint({ toString: '/x' })).toContain('"toString" is not an option of paths.');
  });
});
