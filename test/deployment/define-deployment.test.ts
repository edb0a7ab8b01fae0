import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  type Deployment,
  type DeploymentOptions,
  defineDeployment,
  requireDeployment,
} from '../../src/deployment/define-deployment.ts';
import { usualMessageReply } from '../../src/deployment/message-reply.ts';
import { defaultPaths } from '../../src/deployment/operations.ts';
import { usualOrderReply } from '../../src/deployment/order-reply.ts';
import { reportedBuyOrder } from '../../src/deployment/order-schema.ts';
import { isConfigurationError } from '../../src/errors/errors.ts';
import { defaultScheme } from '../../src/signature/signature-scheme.ts';
import { refusal, thrownBy } from '../support/refusal.ts';
import { bases } from './bases.ts';

/** For what the types forbid and a JavaScript caller can still do. */
function defineLoosely(options: unknown): Deployment {
  return defineDeployment(options as DeploymentOptions) as Deployment;
}

/** The message with which options are refused. */
function complaint(options: object): string {
  const error = thrownBy(() => defineLoosely({ ...bases, ...options }));
  expect(isConfigurationError(error) && error.code).toBe('invalid_deployment');
  return isConfigurationError(error) ? error.message : '';
}

const baseNames = ['onboardingBaseUrl', 'stagingUrl', 'messengerBaseUrl'] as const;

describe('a deployment with the base URLs alone', () => {
  it('has the published paths, the default scheme and the reported order', () => {
    expect(defineDeployment(bases)).toEqual({
      ...bases,
      paths: defaultPaths,
      wireNames: {},
      signature: defaultScheme,
      orderSchema: reportedBuyOrder,
      readOrderReply: usualOrderReply,
      readMessageReply: usualMessageReply,
      orderStatuses: { 409: 'unknown', 423: 'unknown', 429: 'refused' },
      eventStatuses: {},
      duplicateIds: 'unknown',
      addressForms: { 'usdt-trc20': 'tron', 'usdc-matic': 'evm', 'eusd-mob': 'mobilecoin' },
    });
    expect(defineDeployment(bases).headers).toEqual({});
  });

  it('cannot be changed, nor by the options it was made from', () => {
    const options = { ...bases, headers: { 'x-a': '1' }, wireNames: { 'connect-msg': 'c' } };
    const deployment = defineDeployment(options);
    options.headers['x-a'] = '2';
    options.wireNames['connect-msg'] = 'd';
    expect([deployment.headers['x-a'], deployment.wireNames['connect-msg']]).toEqual(['1', 'c']);
    const parts = [
      deployment,
      deployment.paths,
      deployment.wireNames,
      deployment.signature,
      deployment.headers,
    ];
    expect(parts.filter((part) => !Object.isFrozen(part))).toEqual([]);
  });
});

describe('a deployment', () => {
  it.each([undefined, null, 'https://a.example', 5])('is refused when its options are %j', (options) => {
    expect(refusal(() => defineLoosely(options))).toBe('ConfigurationError invalid_deployment');
  });

  it('may lack any of its base URLs', () => {
    expect(defineDeployment({ messengerBaseUrl: bases.messengerBaseUrl })).toMatchObject({
      onboardingBaseUrl: undefined,
      stagingUrl: undefined,
      messengerBaseUrl: bases.messengerBaseUrl,
    });
  });

  it('names the option that is nearest to a misspelt one', () => {
    expect(complaint({ onboardingBaseURI: 'x' })).toContain('Did you mean "onboardingBaseUrl"?');
    expect(complaint({ paths: { createorder: '/x' } })).toContain('Did you mean "createOrder"?');
  });
});

describe('orderStatuses', () => {
  it.each([
    [[], 'must be an object'],
    ['unknown', 'must be an object'],
    [{ 500: 'refused' }, 'from 400 to 499'],
    [{ '4xx': 'unknown' }, 'from 400 to 499'],
    [{ 409: 'accepted' }, "orderStatuses.409 must be 'refused' or 'unknown'"],
  ])('refuses %j', (orderStatuses, words) => {
    expect(complaint({ orderStatuses })).toContain(words);
  });

  it('is added to the defaults', () => {
    expect(defineDeployment({ ...bases, orderStatuses: { 410: 'unknown' } }).orderStatuses).toEqual({
      ...defineDeployment(bases).orderStatuses,
      410: 'unknown',
    });
  });
});

it.each([undefined, null, {}, { ...defineDeployment(bases) }, 'x'])(
  'requireDeployment refuses anything but what defineDeployment returned: %#',
  (value) => {
    const require = () => requireDeployment(value as Deployment);
    expect(refusal(require)).toBe('ConfigurationError invalid_deployment');
    expect(require).toThrow('. Pass the very object that it returned');
  },
);

describe('a base URL', () => {
  it.each<[string, unknown]>([
    ['null', null],
    ['empty', ''],
    ['a number', 5],
    ['a host', 'a.example'],
    ['relative to a scheme', '//a.example'],
    ['ftp', 'ftp://a.example'],
    ['holding a password', 'https://user:url-secret@a.example'],
    ['holding a user name', 'https://url-secret@a.example'],
    ['holding a query', 'https://a.example/?key=url-secret'],
    ['holding a fragment', 'https://a.example/#url-secret'],
  ])('is refused by its name, without showing it, when it is %s', (_, value) => {
    for (const name of baseNames) {
      const message = complaint({ [name]: value });
      expect(message).toContain(name);
      expect(message).not.toContain('url-secret');
    }
  });

  it.each([
    ['with its path prefix, without trailing slash', 'https://a.example/v2/', 'https://a.example/v2'],
    ['with its port', 'http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['in lower case', 'HTTPS://A.Example', 'https://a.example'],
    ['from a URL object', new URL('https://a.example/v2/'), 'https://a.example/v2'],
  ])('is kept %s', (_, value, kept) => {
    for (const name of baseNames) expect(defineDeployment({ ...bases, [name]: value })[name]).toBe(kept);
  });
});

describe('a base URL with http', () => {
  it.each([
    'http://localhost:3000',
    'http://127.0.0.1:8080/api',
    'http://127.255.0.3',
    'http://0x7f.1',
    'http://[::1]:8080',
  ])('may be on this machine: %s', (url) => {
    expect(defineDeployment({ messengerBaseUrl: url }).messengerBaseUrl).toMatch(/^http:/);
  });

  it.each([
    'http://messenger.example',
    'http://localhost.example',
    // Looked up in the DNS by most systems.
    'http://exchange.localhost',
    'http://127.0.0.1.example',
    'http://0.0.0.0',
    'http://10.0.0.5',
    'http://[::ffff:7f00:1]',
  ])('may not be anywhere else: %s', (url) => {
    expect(complaint({ messengerBaseUrl: url })).toContain('messengerBaseUrl is http');
    expect(complaint({ messengerBaseUrl: url, allowInsecureHttp: false })).toContain(
      'set allowInsecureHttp of defineDeployment',
    );
    const allowed = defineDeployment({ messengerBaseUrl: url, allowInsecureHttp: true });
    expect(allowed.messengerBaseUrl).toBe(url);
  });
});

it.each([{ ...defaultScheme, construction: 'sha512' }, { construction: 'hmac' }, 'hmac'])(
  'the signature scheme of a deployment is checked: %j',
  (signature) => {
    expect(refusal(() => defineLoosely({ ...bases, signature }))).toBe('ConfigurationError invalid_scheme');
  },
);

describe('the headers of a deployment', () => {
  it('do not show when it is printed: one may be the key of a gateway', () => {
    const deployment = defineDeployment({ ...bases, headers: { 'x-gateway': 'gw-7712' } });
    expect(inspect(deployment, { depth: null }) + JSON.stringify(deployment)).not.toContain('gw-7712');
  });

  it.each(['Authorization', 'authorization', 'Content-Type', 'Content-Length', 'Host', 'Transfer-Encoding'])(
    'may not set %s, which the client sets',
    (name) => {
      expect(complaint({ headers: { [name]: 'x' } })).toContain(name.toLowerCase());
    },
  );

  it.each([
    ['a name with a blank', { 'x tenant': 'acme' }],
    ['a value with a line break', { 'x-tenant': 'header-secret\r\nx-other: 1' }],
    ['a value beyond Latin-1', { 'x-tenant': 'header-secret 😀' }],
  ])('may not hold %s', (_, headers) => {
    const message = complaint({ headers });
    expect(message).toContain('headers');
    expect(message).not.toContain('header-secret');
  });
});

describe('the order schema of a deployment', () => {
  it('may be a function, as some libraries make them', () => {
    const validate = (value: unknown) => ({ value });
    const orderSchema = Object.assign(() => {}, {
      '~standard': { version: 1 as const, vendor: 'own', validate },
    });
    expect(defineDeployment({ ...bases, orderSchema }).orderSchema).toBe(orderSchema);
  });

  it.each<[string, unknown]>([
    ['an object of fields', { amount: 'string' }],
    ['a function', () => true],
    ['a name', 'buyOrder'],
    ['a null standard', { '~standard': null }],
    ['a standard that cannot be called', { '~standard': { version: 1, vendor: 'own', validate: 'yes' } }],
  ])('is refused when it is %s', (_, orderSchema) => {
    expect(complaint({ orderSchema })).toContain('orderSchema');
  });
});

describe('eventStatuses of defineDeployment', () => {
  const named = { 'event.buy.credited.crypto': { crypto_payment_status: ['SETTLED'] } };

  it('are kept, and united with those that were learnt', () => {
    expect(defineDeployment({ ...bases, eventStatuses: named }).eventStatuses).toEqual(named);
    const set = { eventStatuses: { 'event.buy.init': { fiat_payment_status: ['CREATED'] } } };
    const learnt = {
      format: 'partner-exchange-deployment/1',
      overrides: [{ row: 'event-statuses', set, samples: 3 }],
      rows: [],
    };
    expect(defineDeployment({ ...bases, learnt }).eventStatuses).toEqual(set.eventStatuses);
    expect(defineDeployment({ ...bases, learnt, eventStatuses: named }).eventStatuses).toEqual({
      ...set.eventStatuses,
      ...named,
    });
  });

  it.each([
    [[]],
    [{ 'buy.event.close': { fiat_payment_status: ['x'] } }],
    [{ 'event.buy.credited.crypto': { status: ['x'] } }],
    [{ 'event.buy.credited.crypto': { crypto_payment_status: 'SETTLED' } }],
    [{ 'event.buy.credited.crypto': { crypto_payment_status: [''] } }],
    [{ 'event.buy.credited.crypto': { crypto_payment_status: ['Started'] } }],
    [{ 'event.buy.received.fiat': { fiat_payment_status: ['pending '] } }],
    [{ toString: { fiat_payment_status: ['x'] } }],
  ])('refuse %j', (eventStatuses) => {
    // @ts-expect-error: some are wrong on purpose
    expect(() => defineDeployment({ ...bases, eventStatuses })).toThrow(/eventStatuses/);
  });
});
