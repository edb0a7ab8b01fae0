import { createHash } from 'node:crypto';
import { secretKeysOf } from '../../../../credentials/define-credentials.ts';
import type { PartnerCredentials } from '../../../../credentials/partner-credentials.ts';
import type { AttackCase, CaseTable } from '../attack-case.ts';
import { refused } from '../judge.ts';
import { withSignature } from '../probes.ts';

const combined =
  'Verify order events with the key that the scheme makes of both secrets (contract: Authentication 5), and with no other: one secret alone is known in more places.';

interface WrongKey {
  readonly what: string;
  readonly keys: (credentials: PartnerCredentials) => readonly string[];
  readonly advice: string;
}

/** Keys with which wrong code verifies, in place of the key for order events. */
export const wrongKeys = {
  partner: {
    what: 'the partner secret alone',
    keys: ({ partnerSecretKey }) => [partnerSecretKey],
    advice: combined,
  },
  merchant: {
    what: 'a merchant secret alone',
    keys: merchantSecrets,
    advice: combined,
  },
  reversed: {
    what: 'the two secrets in the wrong order',
    keys: (credentials) =>
      merchantSecrets(credentials).map((merchant) => credentials.partnerSecretKey + merchant),
    advice: combined,
  },
  public: {
    what: 'the public key, which is no secret',
    keys: ({ partnerPublicKey, partnerSecretKey }) => [partnerPublicKey, partnerPublicKey + partnerSecretKey],
    advice: 'Never verify with the public key: it is sent with every request.',
  },
  missing: {
    what: 'the text that code makes of secrets that are not set: nothing, "undefined", "null"',
    keys: () => ['', 'undefined', 'undefinedundefined', 'null', 'nullnull', 'None', 'NoneNone'],
    advice: 'Refuse to start without the secrets: a key made of missing ones is known to everybody.',
  },
} satisfies Readonly<Record<string, WrongKey>>;

/** Keys of documentation, alone and as a merchant and a partner secret. */
const exampleKeys: readonly string[] = [
  'sk_merchant_vectorM1sk_partner_vectorP1',
  'sk_merchant_testsk_partner_test',
  'sk_merchant_test1sk_partner_test1',
  'sk_merchant_yourssk_partner_yours',
  'sk_merchant_sk_partner_',
  'sk_merchant_xxxsk_partner_xxx',
  ...['secret', 'changeme', 'test', 'key', 'example', 'your-secret', '<PARTNER_SECRET_KEY>'].flatMap(
    (word) => [word, word + word],
  ),
];

/** Deliveries signed with a wrong key, or with none. */
export const keyCases = {
  'key-partner-alone': signedWith(wrongKeys.partner),
  'key-merchant-alone': signedWith(wrongKeys.merchant),
  'key-reversed': signedWith(wrongKeys.reversed),
  'key-public': signedWith(wrongKeys.public),
  'key-missing': signedWith(wrongKeys.missing),
  'key-examples': refused({
    what: 'deliveries signed with keys of documentation and with words that stand in for keys',
    fault: 'verifies with an example key',
    advice: 'Take the example keys out of the configuration: everybody can read them.',
    deliveries: ({ unsigned, sign, key }) =>
      exampleKeys
        .filter((example) => example !== key)
        .map((example) => {
          const text = unsigned();
          return { body: withSignature(text, sign(text, { key: example })) };
        }),
  }),
  'key-unknown-merchant': refused({
    what: 'deliveries of a currency and a merchant that are not known, signed with what code makes of a missing secret',
    causes: ['key-partner-alone', 'key-missing'],
    fault: 'verifies with a missing secret if it knows no merchant for the delivery',
    advice:
      'Refuse a delivery for which you have no key. What chooses the key is not verified yet: anybody can write it.',
    deliveries: ({ unsigned, sign }, { partnerSecretKey }) =>
      ['', 'undefined', 'null', 'None'].flatMap((missing) =>
        [missing, missing + missing, missing + partnerSecretKey].map((key) => {
          const text = unsigned({ fiat_currency: 'XXX', pair: 'XXX/USDT', platform_merchant_id: 'unknown' });
          return { body: withSignature(text, sign(text, { key })) };
        }),
      ),
  }),
  'key-none': refused({
    what: 'a plain SHA-512 of the body, without any key',
    advice: 'Verify with the secret: a hash without a key can be made by everybody.',
    deliveries: ({ unsigned, scheme }) => {
      const text = unsigned();
      const digest = createHash('sha512').update(text).digest();
      const isHex = scheme.encoding === 'hex' || scheme.encoding === 'hex-upper';
      return [{ body: withSignature(text, digest.toString(isHex ? 'hex' : 'base64')) }];
    },
  }),
} satisfies CaseTable;

function merchantSecrets(credentials: PartnerCredentials): string[] {
  const [, ...merchants] = secretKeysOf(credentials);
  return merchants;
}

function signedWith({ what, keys, advice }: WrongKey): AttackCase {
  return refused({
    what: `a delivery signed with ${what}`,
    fault: `verifies with ${what}`,
    advice,
    deliveries: ({ unsigned, sign }, credentials) =>
      keys(credentials).map((key) => {
        const text = unsigned();
        return { body: withSignature(text, sign(text, { key })) };
      }),
  });
}
