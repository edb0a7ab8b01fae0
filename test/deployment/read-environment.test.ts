import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, inspect } from 'node:util';
import { afterAll, describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { environmentVariables } from '../../src/deployment/environment-variables.ts';
import { type BuyOrder, reportedBuyOrder } from '../../src/deployment/order-schema.ts';
import { type Environment, readEnvironment } from '../../src/deployment/read-environment.ts';
import { isConfigurationError } from '../../src/errors/errors.ts';
import type { SignatureScheme } from '../../src/signature/signature-scheme.ts';
import { thrownBy } from '../support/refusal.ts';
import { scratchFolder } from '../support/scratch.ts';
import { warningsDuring } from '../webhooks/warnings.ts';

const partnerKeys = {
  PARTNER_PUBLIC_KEY: 'pk_partner_4f1d20',
  PARTNER_SECRET_KEY: 'sk_partner_9c2e71',
};
const folder = scratchFolder(afterAll);

/** The message with which an environment is refused. */
function complaint(env: object): string {
  const error = thrownBy(() => readEnvironment(env));
  expect(isConfigurationError(error) && error.code).toBe('invalid_environment');
  return isConfigurationError(error) ? error.message : '';
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('an empty environment', () => {
  it.each([{}, { PARTNER_SECRET_KEY: '', PARTNER_EXCHANGE_STAGING_URL: '', MESSENGER_API_KEY: '' }])(
    'gives a deployment of defaults and no keys: %j',
    (env) => {
      const { deployment, credentials, apiKey, masterKey } = readEnvironment(env);
      expect(deployment).toEqual(defineDeployment({}));
      expect([credentials, apiKey, masterKey]).toEqual([undefined, undefined, undefined]);
    },
  );

  it.each([null, 'PARTNER_CODE=acme', 5])('is not the same as none: %j', (env) => {
    // What a JavaScript caller may pass.
    expect(complaint(env as unknown as object)).toContain('process.env');
  });
});

describe('the deployment', () => {
  it('has each part that a variable sets', () => {
    const { deployment } = readEnvironment({
      PARTNER_EXCHANGE_ONBOARDING_BASE_URL: 'https://onboarding.example/',
      PARTNER_EXCHANGE_STAGING_URL: 'https://staging.example',
      PARTNER_EXCHANGE_MESSENGER_BASE_URL: 'https://messenger.example',
      PARTNER_EXCHANGE_ALLOW_INSECURE_HTTP: 'false',
      PARTNER_EXCHANGE_PATH_CREATE_ORDER: '/v2/orders',
      PARTNER_EXCHANGE_PATH_CHECK_NUMBER: '/numbers',
      PARTNER_EXCHANGE_NAME_PLATFORM_ORDER_REF: 'acme_order_ref',
      PARTNER_EXCHANGE_NAME_CONNECT_MSG: 'connect-acme',
    });
    expect(deployment).toEqual(
      defineDeployment({
        onboardingBaseUrl: 'https://onboarding.example',
        stagingUrl: 'https://staging.example',
        messengerBaseUrl: 'https://messenger.example',
        paths: { createOrder: '/v2/orders', checkNumber: '/numbers' },
        wireNames: { platform_order_ref: 'acme_order_ref', 'connect-msg': 'connect-acme' },
      }),
    );
  });

  it('takes http only to this machine, unless a variable allows it everywhere', () => {
    const env = { PARTNER_EXCHANGE_STAGING_URL: 'http://value-secret.example' };
    const message = complaint(env);
    expect(message).toContain('PARTNER_EXCHANGE_STAGING_URL: ');
    expect(message).not.toContain('value-secret');
    const allowed = readEnvironment({ ...env, PARTNER_EXCHANGE_ALLOW_INSECURE_HTTP: 'true' });
    expect(allowed.deployment.stagingUrl).toBe(env.PARTNER_EXCHANGE_STAGING_URL);
  });

  const scheme: SignatureScheme = {
    construction: 'hash-suffix',
    serialization: 'sorted',
    encoding: 'base64',
  };

  it('takes what was learnt from a deployment file, after its own variables', () => {
    const learnt = {
      format: 'partner-exchange-deployment/1',
      overrides: [
        { row: 'branded-names', set: { wireNames: { platform_order_ref: 'acme_ref' } }, samples: 3 },
        { row: 'signature-encoding', set: { signature: scheme }, samples: 3 },
      ],
      rows: [],
    };
    const env = { PARTNER_EXCHANGE_DEPLOYMENT: file('deployment.json', JSON.stringify(learnt)) };
    expect(readEnvironment(env).deployment).toMatchObject({
      signature: scheme,
      wireNames: { platform_order_ref: 'acme_ref' },
    });
    const own = { ...env, PARTNER_EXCHANGE_NAME_PLATFORM_ORDER_REF: 'other_ref' };
    expect(readEnvironment(own).deployment).toMatchObject({
      signature: scheme,
      wireNames: { platform_order_ref: 'other_ref' },
    });
  });

  it('takes its signature scheme from the variable itself, where there is no file system', () => {
    const env = { PARTNER_EXCHANGE_SCHEME: JSON.stringify(scheme) };
    expect(readEnvironment(env).deployment.signature).toEqual(scheme);
  });

  it('takes what is set in code in place of the environment, and types its orders by it', () => {
    const orderSchema = z.object({ amount_to_collect: z.string() });
    const stagingUrl = 'https://in-code.example';
    const env = { PARTNER_EXCHANGE_STAGING_URL: 'https://staging.example' };
    const environment = readEnvironment(env, { orderSchema, stagingUrl });
    expect(environment.deployment).toMatchObject({ stagingUrl, orderSchema });
    expectTypeOf(environment).toEqualTypeOf<Environment<{ amount_to_collect: string }>>();
    expect(readEnvironment(env).deployment.orderSchema).toBe(reportedBuyOrder);
    expectTypeOf(readEnvironment(env)).toEqualTypeOf<Environment<BuyOrder>>();
  });
});

describe('the credentials', () => {
  it('have every key, the ID and the code', () => {
    const { credentials } = readEnvironment({
      ...partnerKeys,
      PARTNER_ID: 'P-7',
      PARTNER_CODE: 'acme',
      MERCHANT_SECRET_KEY: 'sk_merchant_7b3a55',
      MERCHANT_SECRET_KEY_NGN: 'sk_merchant_ngn1',
      MERCHANT_SECRET_KEY_GHS: 'sk_merchant_ghs1',
    });
    expect(credentials).toMatchObject({
      partnerPublicKey: 'pk_partner_4f1d20',
      partnerSecretKey: 'sk_partner_9c2e71',
      partnerId: 'P-7',
      partnerCode: 'acme',
      merchantSecretKey: 'sk_merchant_7b3a55',
      merchantSecretKeys: { NGN: 'sk_merchant_ngn1', GHS: 'sk_merchant_ghs1' },
    });
  });

  it.each<[missing: string, env: Record<string, string>]>([
    ['PARTNER_PUBLIC_KEY', { PARTNER_SECRET_KEY: 'sk_partner_9c2e71' }],
    ['PARTNER_SECRET_KEY', { PARTNER_PUBLIC_KEY: 'pk_partner_4f1d20' }],
    ['PARTNER_PUBLIC_KEY and PARTNER_SECRET_KEY', { MERCHANT_SECRET_KEY: 'sk_merchant_1' }],
    ['PARTNER_PUBLIC_KEY and PARTNER_SECRET_KEY', { PARTNER_ID: 'P-7' }],
  ])('that are half given are refused, naming what is missing: %s', (missing, env) => {
    const message = complaint(env);
    expect(message).toContain(`${missing} not set`);
    expect(message).toContain(Object.keys(env)[0]);
  });

  it('are none with a partner code alone: one has it before there are keys', () => {
    expect(readEnvironment({ PARTNER_CODE: 'acme' }).credentials).toBeUndefined();
  });
});

describe('a value that is malformed', () => {
  const bad = (value: string) => `${value}value-secret`;
  const values: Record<string, string[]> = {
    PARTNER_EXCHANGE_ONBOARDING_BASE_URL: [bad('ftp://'), 'https://user:value-secret@a.example'],
    PARTNER_EXCHANGE_STAGING_URL: [bad('/'), 'https://a.example/?key=value-secret'],
    PARTNER_EXCHANGE_MESSENGER_BASE_URL: [bad('')],
    PARTNER_EXCHANGE_ALLOW_INSECURE_HTTP: [bad('yes')],
    PARTNER_EXCHANGE_SCHEME: [bad('{'), '["value-secret"]', '{"construction":"value-secret"}', 'null'],
    PARTNER_EXCHANGE_DEPLOYMENT: [bad('/nowhere/'), '/', file('large.json', ' '.repeat(1_048_577))],
    PARTNER_PUBLIC_KEY: [bad('sk_partner_'), bad('')],
    PARTNER_SECRET_KEY: [bad('pk_partner_'), ' sk_partner_value-secret'],
    PARTNER_ID: [bad('P 7 ')],
    PARTNER_CODE: ['value-secret '],
    MERCHANT_SECRET_KEY: [bad('sk_partner_')],
    MERCHANT_SECRET_KEY_NGN: ['sk_merchant_value-secret\n'],
    MESSENGER_API_KEY: ['value-secret '],
    MESSENGER_MASTER_KEY: ['value-secret\n'],
  };
  const operations = environmentVariables.filter(({ name }) => name.startsWith('PARTNER_EXCHANGE_PATH_'));
  for (const { name } of operations) values[name] = ['value-secret', '/value-secret?a', '/value secret'];
  const names = environmentVariables.filter(({ name }) => name.startsWith('PARTNER_EXCHANGE_NAME_'));
  for (const { name } of names) values[name] = ['value secret', 'signature'];

  it.each(environmentVariables.map(({ name }) => name.replace('<NAME>', 'NGN')))(
    'is refused by the name of the variable, without showing it: %s',
    (name) => {
      const tried = values[name] ?? [];
      expect(tried).not.toEqual([]);
      for (const value of tried) {
        const message = complaint({ ...partnerKeys, [name]: value });
        expect(message).toContain(`${name}: `);
        expect(message).not.toMatch(/value.secret|"signature"/);
      }
    },
  );

  it.each([
    ...['"API-X-value-secret"', "'https://value-secret.example'", '`value-secret`', '""'],
    ...['undefined', 'NULL', ' undefined ', '[object Object]'],
    ...[`https://\${VALUE_SECRET}/v1`, `\${VALUE_SECRET:-none}`, '$VALUE_SECRET', '$(VALUE_SECRET)'],
    ...['%VALUE_SECRET%', '{{ value.secret }}', '<VALUE_SECRET>'],
  ])('is refused as what a tool has left in it, whichever variable has it: %s', (value) => {
    for (const name of Object.keys(values)) {
      const message = complaint({ ...partnerKeys, [name]: value });
      expect(message).toContain(`${name}: `);
      expect(message).toMatch(/has quotation marks around it|was not filled in/);
      expect(message).not.toMatch(/value.secret/i);
    }
  });

  it.each(['a"key"', '"key', '$ecret', 'x${y', '100%', '{{', 'none-of-it', '$1$abc', 'p<q>'])(
    'may be a key with such a character: %s',
    (apiKey) => {
      expect(readEnvironment({ MESSENGER_API_KEY: apiKey })).toMatchObject({ apiKey });
    },
  );

  it('is refused when it is no text', () => {
    expect(complaint({ PARTNER_SECRET_KEY: { get: 'value-secret' } })).toBe(
      'PARTNER_SECRET_KEY must be text. See partner-exchange-sdk/docs/errors.md#invalid_environment.',
    );
  });

  it('is refused when two variables are in each other’s way', () => {
    const message = complaint({
      PARTNER_EXCHANGE_NAME_PLATFORM_ORDER_REF: 'value_secret',
      PARTNER_EXCHANGE_NAME_PLATFORM_MERCHANT_ID: 'value_secret',
    });
    expect(message).toContain('PARTNER_EXCHANGE_NAME_PLATFORM_MERCHANT_ID');
    expect(message).not.toContain('value_secret');
  });
});

describe('a variable that is misspelt', () => {
  it.each([
    ['PARTNER_EXCHANGE_STAGIN_URL', 'PARTNER_EXCHANGE_STAGING_URL'],
    ['partner_exchange_scheme', 'PARTNER_EXCHANGE_SCHEME'],
  ])('is refused when its prefix is ours: %s', (name, meant) => {
    expect(complaint({ [name]: 'x' })).toContain(`${name} is not read: did you mean ${meant}?`);
  });

  it('is warned of once when its prefix is ours and it is like none of ours', async () => {
    const warnings = await warningsDuring(() => {
      readEnvironment({ PARTNER_EXCHANGE_HOME: 'value-secret' });
      readEnvironment({ PARTNER_EXCHANGE_HOME: 'value-secret' });
    });
    expect(warnings.map(({ message }) => message)).toEqual([
      'The environment variable PARTNER_EXCHANGE_HOME is not read: docs/guides/environment-files.md lists the names.',
    ]);
  });

  it.each<Record<string, string>>([
    { PARTNER_PORTAL_URL: 'x', MERCHANT_NAME: 'x', MESSENGER_TOKEN: 'x', PATH: 'x', HOME: 'x' },
    { PARTNER_EXCHANGE_SANDBOX_URL: 'http://127.0.0.1:4600' },
    { PARTNER_EXCHANGE_STAGIN_URL: '' },
  ])('is not suspected where the name is another program’s, known, or empty: %j', async (env) => {
    expect(await warningsDuring(() => readEnvironment(env))).toEqual([]);
  });
});

describe('what is read', () => {
  const environment = readEnvironment({
    ...partnerKeys,
    MERCHANT_SECRET_KEY: 'sk_merchant_7b3a55',
    MESSENGER_API_KEY: 'API-X-51e0c2',
    MESSENGER_MASTER_KEY: 'master-83d1f6',
  });

  it.each([
    ['printed', () => inspect(environment, { depth: 4 })],
    ['printed with its hidden members', () => format('%o', environment)],
    ['turned into JSON', () => JSON.stringify({ ...environment, deployment: undefined })],
    ['copied by a spread', () => inspect({ ...environment }, { depth: 4 })],
  ])('shows no secret when it is %s', (_, show) => {
    expect(show()).not.toMatch(/9c2e71|7b3a55|51e0c2|83d1f6/);
  });
});
