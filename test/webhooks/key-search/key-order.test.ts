import { describe, expect, it } from 'vitest';
import { keyDirectory } from '../../../src/credentials/key-directory.ts';
import type { PartnerCredentials } from '../../../src/credentials/partner-credentials.ts';
import { verificationKeysOf } from '../../../src/credentials/verification-keys.ts';
import type { WireNames } from '../../../src/deployment/wire-names.ts';
import type { JsonObject } from '../../../src/json/json-value.ts';
import { keyHints } from '../../../src/webhooks/key-search/key-hints.ts';
import { keyOrder } from '../../../src/webhooks/key-search/key-order.ts';
import { learnedKeys } from '../../../src/webhooks/key-search/learned-keys.ts';

/** Two partners with two generations each, and three merchants in each set. */
const sets = ['a-new', 'a-old', 'b-new', 'b-old'].map(
  (name): PartnerCredentials => ({
    partnerPublicKey: `pk_partner_${name}`,
    partnerSecretKey: `sk_partner_${name}`,
    merchantSecretKeys: Object.fromEntries(
      ['NGN', 'GHS', 'KES'].map((currency) => [currency, `sk_merchant_${currency}`]),
    ),
    partnerId: `P-${name[0]}`,
    partnerCode: `code-${name[0]}`,
  }),
);
const keys = verificationKeysOf(sets, {});
const directory = keyDirectory(keys);

/** The first keys that are tried for a body, by their names. */
function order(body: JsonObject, { learned = learnedKeys(), names = {} as WireNames } = {}): string[] {
  const places = [...keyOrder({ directory, hints: keyHints(body, names), learned })];
  expect(places.toSorted((a, b) => a - b)).toEqual(keys.keys.map((_, place) => place));
  return places.map((place) => {
    const { index = 0, merchant } = keys.labels[place] ?? {};
    return `${['a-new', 'a-old', 'b-new', 'b-old'][index]} ${merchant}`;
  });
}

describe('the keys are tried in this order, all of them and each once', () => {
  it('of a body that says nothing: as they are given', () => {
    expect(order({}).slice(0, 4)).toEqual(['a-new NGN', 'a-new GHS', 'a-new KES', 'a-old NGN']);
  });

  it.each<[string, JsonObject]>([
    ['fiat_currency', { fiat_currency: 'GHS' }],
    ['currency', { currency: 'GHS' }],
    ['pair', { pair: 'GHS/USDT' }],
    ['platform_merchant_id', { platform_merchant_id: 'GHS' }],
  ])('of one with %s: the merchants of that name', (_, body) => {
    expect(order(body).slice(0, 5)).toEqual([
      'a-new GHS',
      'a-old GHS',
      'b-new GHS',
      'b-old GHS',
      'a-new NGN',
    ]);
  });

  it('the name of the merchant id is that of the deployment', () => {
    const names = { platform_merchant_id: 'acme_merchant_id' };
    expect(order({ acme_merchant_id: 'KES' }, { names })[0]).toBe('a-new KES');
  });

  it.each<[string, JsonObject]>([
    ['partner_id', { partner_id: 'P-b' }],
    ['partner_code', { partner_code: 'code-b' }],
  ])('of one with %s: the keys of that partner', (_, body) => {
    expect(order(body).slice(0, 2)).toEqual(['b-new NGN', 'b-new GHS']);
  });

  it('of one that says both: that merchant of that partner, in both generations', () => {
    const body = { partner_id: 'P-b', fiat_currency: 'KES' };
    expect(order(body).slice(0, 3)).toEqual(['b-new KES', 'b-old KES', 'b-new NGN']);
  });

  it('what was learned of the order goes first, then what was learned of the sender, then its generations', () => {
    const learned = learnedKeys();
    const body = {
      partner_order_id: 'A-1',
      fiat_currency: 'GHS',
      partner_callback_url: 'https://p.example/',
    };
    const hints = keyHints(body, {});
    learned.learn({ hint: hints.sender, key: 'sk_merchant_KESsk_partner_b-old', maxSize: 10 });
    learned.learn({ hint: hints.order ?? '', key: 'sk_merchant_NGNsk_partner_a-old', maxSize: 10 });
    expect(order(body, { learned }).slice(0, 4)).toEqual([
      'a-old NGN',
      'b-old KES',
      'a-new NGN',
      'b-new KES',
    ]);
    // Another order of the same sender, and another sender of the same order.
    expect(order({ ...body, partner_order_id: 'A-2' }, { learned })[0]).toBe('b-old KES');
    expect(order({ ...body, partner_callback_url: 'https://q.example/' }, { learned })[0]).toBe('a-new GHS');
  });

  it('a key that was learned and then rotated out is passed over', () => {
    const learned = learnedKeys();
    learned.learn({ hint: keyHints({}, {}).sender, key: 'sk_merchant_NGNsk_partner_gone', maxSize: 10 });
    expect(order({}, { learned })[0]).toBe('a-new NGN');
  });
});

describe('what is learned', () => {
  it('is bounded; what is used stays, and what is not goes', () => {
    const learned = learnedKeys();
    learned.learn({ hint: 'used', key: 'k', maxSize: 100 });
    learned.learn({ hint: 'unused', key: 'k', maxSize: 100 });
    for (let index = 0; index < 1_000; index++) {
      learned.learn({ hint: `h${index}`, key: 'k', maxSize: 100 });
      if (index % 20 === 0) learned.learn({ hint: 'used', key: 'k2', maxSize: 100 });
    }
    expect(learned.get('used')).toBe('k2');
    expect(learned.get('unused')).toBeUndefined();
    const kept = Array.from({ length: 1_000 }, (_, index) => learned.get(`h${index}`)).filter(Boolean).length;
    expect(kept).toBeGreaterThanOrEqual(45);
    expect(kept).toBeLessThanOrEqual(100);
  });
});
