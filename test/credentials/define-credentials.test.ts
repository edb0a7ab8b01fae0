import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { defineCredentials } from '../../src/credentials/define-credentials.ts';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import { isConfigurationError } from '../../src/errors/errors.ts';
import { refusal, thrownBy } from '../support/refusal.ts';

const publicKey = 'pk_partner_public1';
const partnerSecret = 'sk_partner_secret1';
const merchantSecret = 'sk_merchant_secret1';
const plain = {
  partnerPublicKey: publicKey,
  partnerSecretKey: partnerSecret,
  merchantSecretKey: merchantSecret,
};
const keyNames = ['partnerPublicKey', 'partnerSecretKey', 'merchantSecretKey'] as const;

/** For what the types forbid and a JavaScript caller can still do. */
function defineLoosely(credentials: unknown): PartnerCredentials {
  return defineCredentials(credentials as PartnerCredentials);
}

/** The message with which credentials are refused. */
function complaint(credentials: unknown): string {
  const error = thrownBy(() => defineLoosely(credentials));
  expect(isConfigurationError(error) && error.code).toBe('invalid_credentials');
  return isConfigurationError(error) ? error.message : '';
}

describe('credentials', () => {
  it('hand out each key by its name', () => {
    const merchantSecretKeys = { NGN: 'sk_merchant_n', GHS: 'sk_merchant_g' };
    const credentials = defineCredentials({
      ...plain,
      merchantSecretKeys,
      partnerId: 'P-1',
      partnerCode: 'acme',
    });
    expect(credentials.partnerPublicKey).toBe(publicKey);
    expect(credentials.partnerSecretKey).toBe(partnerSecret);
    expect(credentials.merchantSecretKey).toBe(merchantSecret);
    expect(credentials.merchantSecretKeys).toEqual(merchantSecretKeys);
    expect(credentials.partnerId).toBe('P-1');
    expect(credentials.partnerCode).toBe('acme');
  });

  it('take a merchant secret without a prefix, as one published sample has it', () => {
    expect(defineCredentials({ ...plain, merchantSecretKey: 'f00dbabe' }).merchantSecretKey).toBe('f00dbabe');
  });

  it('do not change with the object they were made from', () => {
    const source = { ...plain, merchantSecretKeys: { NGN: 'sk_merchant_n' } };
    const credentials = defineCredentials(source);
    source.partnerSecretKey = 'sk_partner_other';
    source.merchantSecretKeys.NGN = 'sk_merchant_other';
    expect(credentials.partnerSecretKey).toBe(partnerSecret);
    expect(credentials.merchantSecretKeys?.NGN).toBe('sk_merchant_n');
  });

  it('cannot be changed', () => {
    const credentials = defineCredentials({ ...plain, merchantSecretKeys: { NGN: 'sk_merchant_n' } });
    expect(Object.isFrozen(credentials)).toBe(true);
    expect(Object.isFrozen(credentials.merchantSecretKeys)).toBe(true);
  });
});

describe.each(keyNames)('%s is refused, by its name', (name) => {
  const right = plain[name];
  const wrong: [string, unknown][] = [
    ['empty', ''],
    ['null', null],
    ['a number', 5],
    ['blanks', '   '],
    ['padded before', ` ${right}`],
    ['padded behind', `${right} `],
    ['ended by a line break', `${right}\n`],
    ['padded with a no-break space', `${right}\u00a0`],
    ['behind a byte order mark', `\ufeff${right}`],
    ['with a blank inside', `${right} x`],
    ['with a line break inside', `${right}\nx`],
    ['with a null character inside', `${right}\0x`],
    ['with a letter beyond ASCII', `${right}é`],
    ['only its prefix', right.slice(0, right.lastIndexOf('_') + 1)],
  ];

  it.each(wrong)('when it is %s', (_, value) => {
    expect(complaint({ ...plain, [name]: value })).toContain(name);
  });

  it.each(keyNames.filter((other) => other !== name))('when it holds the %s', (other) => {
    expect(complaint({ ...plain, [name]: plain[other] })).toContain(name);
  });
});

describe('credentials are refused', () => {
  it.each(['partnerPublicKey', 'partnerSecretKey'] as const)('without %s', (name) => {
    const { [name]: _, ...rest } = plain;
    expect(complaint(rest)).toContain(`${name} is missing`);
  });

  it.each([
    ['the public key', 'partnerPublicKey', 'acme_public1'],
    ['the public key in another case', 'partnerPublicKey', 'PK_PARTNER_public1'],
    ['the partner secret', 'partnerSecretKey', 'secret1'],
  ])('when %s has no prefix', (_, name, value) => {
    expect(complaint({ ...plain, [name]: value })).toContain(name);
  });

  it('when two keys are swapped, and the message asks so', () => {
    const swapped = { ...plain, partnerPublicKey: partnerSecret, partnerSecretKey: publicKey };
    expect(complaint(swapped)).toContain('swapped');
  });

  it.each([undefined, null, 'sk_partner_x', 5])('when they are %j', (value) => {
    expect(refusal(() => defineLoosely(value))).toBe('ConfigurationError invalid_credentials');
  });

  it.each([
    ['no object', 'sk_merchant_n', 'merchantSecretKeys'],
    ['null', null, 'merchantSecretKeys'],
    ['empty', {}, 'merchantSecretKeys'],
    ['holding an empty key', { NGN: '' }, 'merchantSecretKeys.NGN'],
    ['holding a padded key', { NGN: 'sk_merchant_n', GHS: ' sk_merchant_g' }, 'merchantSecretKeys.GHS'],
    ['holding the partner secret', { NGN: partnerSecret }, 'merchantSecretKeys.NGN'],
    ['holding the public key', { NGN: publicKey }, 'merchantSecretKeys.NGN'],
    ['holding a prefix', { NGN: 'sk_merchant_' }, 'merchantSecretKeys.NGN'],
  ])('when the merchants are %s', (_, merchantSecretKeys, name) => {
    expect(complaint({ ...plain, merchantSecretKeys })).toContain(name);
  });

  it.each([
    ['partnerId', ''],
    ['partnerId', ' P-1'],
    ['partnerId', 5],
    ['partnerId', null],
    ['partnerCode', ''],
    ['partnerCode', 'acme\n'],
    ['partnerCode', {}],
  ])('when %s is %j', (name, value) => {
    expect(complaint({ ...plain, [name]: value })).toContain(name);
  });

  it.each([
    ['a padded key', { ...plain, partnerSecretKey: `${partnerSecret} ` }],
    ['a swapped key', { ...plain, partnerPublicKey: partnerSecret }],
    ['a key with a control character', { ...plain, partnerSecretKey: `${partnerSecret}\0` }],
    ["a merchant's key", { ...plain, merchantSecretKeys: { NGN: partnerSecret } }],
  ])('without showing %s', (_, wrong) => {
    const error = thrownBy(() => defineLoosely(wrong));
    expect(inspect(error, { showHidden: true })).not.toContain('secret1');
  });
});

describe('no secret is shown by', () => {
  const credentials = defineCredentials({ ...plain, merchantSecretKeys: { NGN: 'sk_merchant_secret2' } });
  const secrets = /secret\d/;

  it.each<[string, () => string]>([
    ['console.log and util.inspect', () => inspect(credentials)],
    ['util.inspect with hidden members', () => inspect(credentials, { showHidden: true, depth: null })],
    [
      'util.inspect without custom printing',
      () => inspect(credentials, { customInspect: false, depth: null }),
    ],
    ['util.inspect inside another object', () => inspect({ options: { credentials } }, { depth: null })],
    ['JSON.stringify', () => JSON.stringify(credentials)],
    ['String()', () => String(credentials)],
    ['a spread copy', () => inspect({ ...credentials }, { showHidden: true, depth: null })],
    ['Object.assign', () => inspect(Object.assign({}, credentials), { showHidden: true, depth: null })],
    ['structuredClone', () => inspect(structuredClone({ ...credentials }), { showHidden: true })],
    ['Object.entries', () => inspect(Object.entries(credentials), { showHidden: true })],
    ['for ... in', () => namesOf(credentials).join()],
  ])('%s', (_, show) => {
    expect(show()).not.toMatch(secrets);
  });

  it('printing, which still says whose credentials they are', () => {
    expect(inspect(credentials)).toContain(publicKey);
  });
});

function namesOf(value: object): string[] {
  const names: string[] = [];
  for (const name in value) names.push(`${name}=${Reflect.get(value, name)}`);
  return names;
}
