import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { defineCredentials } from '../../src/credentials/define-credentials.ts';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import {
  merchantOfOrder,
  merchantsFor,
  type SigningPurpose,
  signingKey,
} from '../../src/credentials/signing-key.ts';
import { refusal, thrownBy } from '../support/refusal.ts';

const partner = { partnerPublicKey: 'pk_partner_public1', partnerSecretKey: 'sk_partner_secret1' };
const one = { ...partner, merchantSecretKey: 'sk_merchant_secret1' };
const several = { ...partner, merchantSecretKeys: { NGN: 'sk_merchant_ngn1', GHS: 'sk_merchant_ghs1' } };
const only = (name: string) => ({ ...partner, merchantSecretKeys: { [name]: 'sk_merchant_only1' } });
const invalid = 'ConfigurationError invalid_credentials';

describe.each([
  ['plain', (credentials: PartnerCredentials) => credentials],
  ['defined', defineCredentials],
])('with %s credentials', (_, prepare) => {
  it('general requests are signed with the partner secret', () => {
    expect(signingKey(prepare(one), 'general')).toBe('sk_partner_secret1');
  });

  it('orders are signed with the merchant secret followed by the partner secret', () => {
    expect(signingKey(prepare(one), 'order')).toBe('sk_merchant_secret1sk_partner_secret1');
  });

  it.each([
    ['NGN', 'sk_merchant_ngn1sk_partner_secret1'],
    ['GHS', 'sk_merchant_ghs1sk_partner_secret1'],
  ])('orders of one of several merchants are signed with its secret: %s', (merchant, key) => {
    expect(signingKey(prepare(several), 'order', { merchant })).toBe(key);
  });

  it('orders without a name belong to the main merchant, where there is one', () => {
    expect(signingKey(prepare({ ...one, ...several }), 'order')).toBe(
      'sk_merchant_secret1sk_partner_secret1',
    );
  });

  it('the merchant of an order is the one named like its currency, where none is given', () => {
    const both = prepare({ ...one, ...several });
    expect(merchantOfOrder(both, { fiat_currency: 'GHS' })).toBe('GHS');
    expect(merchantOfOrder(both, { fiat_currency: 'ngn' })).toBe('NGN');
    expect(merchantOfOrder(both, { fiat_currency: 'GHS' }, { merchant: 'NGN' })).toBe('NGN');
    expect(merchantOfOrder(prepare(several), { fiat_currency: 'NGN' })).toBe('NGN');
    expect(merchantOfOrder(prepare(one), { fiat_currency: 'KES' })).toBeUndefined();
    expect(merchantOfOrder(both, {}, { scheme: { orderKey: 'partner' } })).toBeUndefined();
    expect(merchantOfOrder(only('NGN'), { fiat_currency: 'ngn' })).toBe('NGN');
    expect(merchantOfOrder(only('shop-1'), { fiat_currency: 'KES' })).toBe('shop-1');
    expect(merchantOfOrder(only('NGN'), { fiat_currency: 'GHS' }, { merchant: 'NGN' })).toBe('NGN');
  });

  it('the only merchant signs no order in another currency than that of its name', () => {
    const message = thrownBy(() => merchantOfOrder(only('NGN'), { fiat_currency: 'GHS' }));
    expect(message).toMatchObject({
      code: 'invalid_credentials',
      message: expect.stringMatching(/named like the order's fiat_currency.*"NGN"/s),
    });
  });

  it.each<[string, { fiat_currency?: unknown }]>([
    ['another currency', { fiat_currency: 'KES' }],
    ['no currency', {}],
    ['a currency that is no text', { fiat_currency: 7 }],
  ])('an order with %s is refused, never signed for the default merchant', (_, given) => {
    for (const credentials of [prepare({ ...one, ...several }), prepare(several)]) {
      expect(refusal(() => merchantOfOrder(credentials, given))).toBe(invalid);
    }
    expect(() => merchantOfOrder(prepare({ ...one, ...several }), given)).toThrow(
      'Say with the merchant option which of merchantSecretKeys signs ("NGN", "GHS").',
    );
  });

  it('the error about an unknown merchant lists the names, and no key that took the place of one', () => {
    expect(() => signingKey(prepare(several), 'order', { merchant: 'KES' })).toThrow(
      'merchantSecretKeys has no merchant "KES": it has "NGN", "GHS".',
    );
    expect(() => signingKey(prepare(one), 'order', { merchant: 'KES' })).toThrow('it has none.');
    const swapped = { ...partner, merchantSecretKeys: { sk_merchant_ngn1: 'NGN' } };
    expect(() => signingKey(swapped, 'order', { merchant: 'NGN' })).toThrow('it has "[redacted]".');
  });

  it('orders are refused without a merchant', () => {
    expect(refusal(() => signingKey(prepare(partner), 'order'))).toBe(invalid);
  });

  it('orders are refused when it is open which of several merchants signs', () => {
    expect(refusal(() => signingKey(prepare(several), 'order'))).toBe(invalid);
  });

  it.each(['KES', '', 'toString', '__proto__', 'constructor'])(
    'orders are refused for a merchant that is not there: %j',
    (merchant) => {
      expect(refusal(() => signingKey(prepare(several), 'order', { merchant }))).toBe(invalid);
    },
  );

  it('merchants are listed, the main one as undefined', () => {
    expect(merchantsFor(prepare({ ...one, ...several }), {})).toEqual([undefined, 'NGN', 'GHS']);
    expect(merchantsFor(prepare(several), {})).toEqual(['NGN', 'GHS']);
  });

  it('a scheme without merchants needs one key', () => {
    expect(merchantsFor(prepare({ ...one, ...several }), { orderKey: 'partner' })).toEqual([undefined]);
  });

  it.each([
    ['merchant+partner', 'sk_merchant_secret1|sk_partner_secret1'],
    ['partner+merchant', 'sk_partner_secret1|sk_merchant_secret1'],
    ['public+partner', 'pk_partner_public1|sk_partner_secret1'],
    ['merchant', 'sk_merchant_secret1'],
    ['partner', 'sk_partner_secret1'],
  ] as const)('orders are signed with what the scheme says: %s', (orderKey, key) => {
    const scheme = { orderKey, keySeparator: '|' };
    expect(signingKey(prepare(one), 'order', { scheme })).toBe(key);
    expect(signingKey(prepare(one), 'general', { scheme })).toBe('sk_partner_secret1');
  });
});

describe('a signing key is refused', () => {
  it.each<[string, object | undefined]>([
    ['no credentials', undefined],
    ['no partner secret', { ...one, partnerSecretKey: undefined }],
    ['an empty partner secret', { ...one, partnerSecretKey: '' }],
    ['a padded partner secret', { ...one, partnerSecretKey: ' sk_partner_secret1' }],
    ['the public key as partner secret', { ...one, partnerSecretKey: 'pk_partner_public1' }],
    ['a merchant secret as partner secret', { ...one, partnerSecretKey: 'sk_merchant_secret1' }],
    ['the partner secret as merchant secret', { ...one, merchantSecretKey: 'sk_partner_secret1' }],
    ['the public key as merchant secret', { ...one, merchantSecretKey: 'pk_partner_public1' }],
    ['an empty merchant secret', { ...one, merchantSecretKey: '' }],
    ['a padded named merchant', { ...partner, merchantSecretKeys: { NGN: 'sk_merchant_ngn1 ' } }],
  ])('for %s', (_, credentials) => {
    expect(refusal(() => signingKey(credentials as PartnerCredentials, 'order'))).toBe(invalid);
  });

  it('for a purpose that does not exist', () => {
    expect(refusal(() => signingKey(one, 'orders' as SigningPurpose))).toBe(invalid);
  });

  it('without showing a key', () => {
    const swapped = { ...one, merchantSecretKey: 'sk_partner_secret1' };
    const error = thrownBy(() => signingKey(swapped, 'order'));
    expect(inspect(error, { showHidden: true })).not.toContain('secret1');
  });
});
