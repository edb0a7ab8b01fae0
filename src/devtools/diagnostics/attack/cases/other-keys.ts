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

/** Deliveries signed with a wrong key, or with none. */
export const keyCases = {
  'key-partner-alone': signedWith(wrongKeys.partner),
  'key-merchant-alone': signedWith(wrongKeys.merchant),
  'key-reversed': signedWith(wrongKeys.reversed),
  'key-public': signedWith(wrongKeys.public),
  'key-missing': signedWith(wrongKeys.missing),
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
    faults: { accepted: `verifies with ${what}` },
    advice,
    deliveries: ({ unsigned, sign }, { credentials }) =>
      keys(credentials).map((key) => {
        const text = unsigned();
        return { body: withSignature(text, sign(text, { key })) };
      }),
  });
}
