import { describe, expect, it } from 'vitest';
import { defineCredentials } from '../../src/credentials/define-credentials.ts';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import type { MatchedKey } from '../../src/credentials/verification-keys.ts';
import { defaultScheme, type SignatureScheme } from '../../src/signature/signature-scheme.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { buyInitBody } from '../support/bodies.ts';
import { thrownBy } from '../support/refusal.ts';
import { credentials, delivery } from './deliveries.ts';

function partner(name: string, more: Partial<PartnerCredentials> = {}): PartnerCredentials {
  return { partnerPublicKey: `pk_partner_${name}`, partnerSecretKey: `sk_partner_${name}`, ...more };
}

/** Which key a handler is told of for an event signed with `key`; `undefined` when it was refused. */
async function matched(options: WebhooksOptions, key: string): Promise<MatchedKey | undefined> {
  let told: MatchedKey | undefined;
  const webhooks = createWebhooks(options).on('event.buy.init', (_, context) => {
    told = context.key;
  });
  const outcome = await webhooks.receive(delivery(buyInitBody(), key));
  if (!('key' in outcome)) expect([outcome.status, told]).toEqual([401, undefined]);
  else expect(outcome.key).toEqual(told);
  return told;
}

describe('the handler is told which key verified the event', () => {
  it('of a single set of credentials', async () => {
    const options = { credentials: partner('p', { merchantSecretKey: 'sk_merchant_m' }) };
    expect(await matched(options, 'sk_merchant_msk_partner_p')).toEqual({ index: 0 });
  });

  it('with the partner ID and code, where they are known', async () => {
    const known = { merchantSecretKey: 'sk_merchant_m', partnerId: 'P-7', partnerCode: 'acme' };
    const options = { credentials: defineCredentials(partner('p', known)) };
    expect(await matched(options, 'sk_merchant_msk_partner_p')).toEqual({
      index: 0,
      partnerId: 'P-7',
      partnerCode: 'acme',
    });
  });

  it('of the old and the new generation during a rotation', async () => {
    const options = {
      credentials: [
        partner('new', { merchantSecretKey: 'sk_merchant_new', partnerId: 'P-7' }),
        partner('old', { merchantSecretKey: 'sk_merchant_old' }),
      ],
    };
    expect(await matched(options, 'sk_merchant_newsk_partner_new')).toEqual({ index: 0, partnerId: 'P-7' });
    expect(await matched(options, 'sk_merchant_oldsk_partner_old')).toEqual({ index: 1 });
  });

  it('of several merchants, by their names', async () => {
    const merchants = { NGN: 'sk_merchant_n', GHS: 'sk_merchant_g', __proto__: 'ignored' };
    const options = { credentials: partner('p', { merchantSecretKeys: merchants }) };
    expect(await matched(options, 'sk_merchant_nsk_partner_p')).toEqual({ index: 0, merchant: 'NGN' });
    expect(await matched(options, 'sk_merchant_gsk_partner_p')).toEqual({ index: 0, merchant: 'GHS' });
  });
});

describe('a deployment that makes its key for events differently', () => {
  const both = partner('p', { merchantSecretKey: 'sk_merchant_m' });

  it.each<[Partial<SignatureScheme>, string]>([
    [{ orderKey: 'partner+merchant' }, 'sk_partner_psk_merchant_m'],
    [{ orderKey: 'merchant' }, 'sk_merchant_m'],
    [{ orderKey: 'partner' }, 'sk_partner_p'],
    [{ orderKey: 'public+partner' }, 'pk_partner_psk_partner_p'],
    [{ keySeparator: ':' }, 'sk_merchant_m:sk_partner_p'],
  ])('by %j has its events accepted, and those with the published key refused', async (part, key) => {
    const deployment = { signature: { ...defaultScheme, ...part }, wireNames: {} };
    expect(await matched({ credentials: both, deployment }, key)).toEqual({ index: 0 });
    expect(await matched({ credentials: both, deployment }, 'sk_merchant_msk_partner_p')).toBeUndefined();
  });

  it('needs no merchant where none enters the key', async () => {
    const deployment = { signature: { ...defaultScheme, orderKey: 'partner' as const }, wireNames: {} };
    expect(await matched({ credentials: partner('p'), deployment }, 'sk_partner_p')).toEqual({ index: 0 });
  });
});

describe('an event is refused', () => {
  const options = {
    credentials: [
      partner('a', { merchantSecretKey: 'sk_merchant_a' }),
      partner('b', { merchantSecretKey: 'sk_merchant_b' }),
    ],
  };

  it.each([
    ['the merchant of one and the partner key of another', 'sk_merchant_ask_partner_b'],
    ['a merchant key alone', 'sk_merchant_a'],
    ['a partner key alone', 'sk_partner_a'],
    ['the two the wrong way round', 'sk_partner_ask_merchant_a'],
    ['a separator between the two', 'sk_merchant_a:sk_partner_a'],
    ['the public key', 'pk_partner_a'],
  ])('when it is signed with %s', async (_, key) => {
    expect(await matched(options, key)).toBeUndefined();
  });

  it('when the list that held its key was changed after construction', async () => {
    const sets = options.credentials.slice(0, 1);
    const webhooks = createWebhooks({ credentials: sets });
    sets[0] = partner('c', { merchantSecretKey: 'sk_merchant_c' });
    const signedBy = (name: string) => delivery(buyInitBody(), `sk_merchant_${name}sk_partner_${name}`);
    expect(await webhooks.receive(signedBy('c'))).toMatchObject({ status: 401 });
    expect(await webhooks.receive(signedBy('a'))).toMatchObject({ status: 200 });
  });
});

describe('createWebhooks refuses', () => {
  it.each<[string, unknown, RegExp]>([
    ['without a merchant', partner('p'), /merchantSecretKey is missing/],
    ['with a partner key as merchant', partner('p', { merchantSecretKey: 'sk_partner_p' }), /swapped/],
    ['with a merchant key as partner key', { ...credentials, partnerSecretKey: 'sk_merchant_m' }, /swapped/],
    ['that are an empty list', [], /empty list/],
    [
      'of which the second is without a merchant',
      [credentials, partner('p')],
      /merchantSecretKey is missing/,
    ],
    ['that are text', 'sk_partner_p', /Credentials/],
  ])('credentials %s, naming what is wrong', (_, wrong, message) => {
    const options = { credentials: wrong as PartnerCredentials };
    const error = thrownBy(() => createWebhooks(options));
    expect(error).toMatchObject({ name: 'ConfigurationError', code: 'invalid_credentials' });
    expect(String(error)).toMatch(message);
    expect(String(error)).not.toMatch(/sk_\w+_\w/);
  });
});
