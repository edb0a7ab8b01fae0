import { createHash } from 'node:crypto';
import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import { type AttackCase, refused } from '../attack-case.ts';
import { type Probes, withSignature } from '../probes.ts';

/** Deliveries signed with what is not the key of order events. */
export function keyCases(credentials: PartnerCredentials): readonly AttackCase[] {
  const { partnerSecretKey, partnerPublicKey, merchantSecretKey, merchantSecretKeys = {} } = credentials;
  const merchants = [merchantSecretKey, ...Object.values(merchantSecretKeys)].filter(
    (merchant) => merchant !== undefined,
  );
  const combined =
    'Verify order events with the key that the scheme makes of both secrets (contract: Authentication 5), and with no other: one secret alone is known in more places.';
  return [
    signedWith('key-partner-alone', 'the partner secret alone', [partnerSecretKey], combined),
    ...(merchants.length === 0
      ? []
      : [
          signedWith('key-merchant-alone', 'a merchant secret alone', merchants, combined),
          signedWith(
            'key-reversed',
            'the two secrets in the wrong order',
            merchants.map((merchant) => partnerSecretKey + merchant),
            combined,
          ),
        ]),
    signedWith(
      'key-public',
      'the public key, which is no secret',
      [partnerPublicKey, partnerPublicKey + partnerSecretKey],
      'Never verify with the public key: it is sent with every request.',
    ),
    signedWith(
      'key-missing',
      'what code makes of secrets that are not set: nothing, "undefined", "null"',
      ['', 'undefined', 'undefinedundefined', 'null', 'nullnull', 'None', 'NoneNone'],
      'Refuse to start without the secrets: a key made of missing ones is known to everybody.',
    ),
    refused({
      id: 'key-none',
      what: 'a plain SHA-512 of the body, without any key',
      advice: 'Verify with the secret: a hash without a key can be made by everybody.',
      deliveries: ({ unsigned, scheme }) => {
        const text = unsigned();
        const digest = createHash('sha512').update(text).digest();
        const isHex = scheme.encoding === 'hex' || scheme.encoding === 'hex-upper';
        return [{ body: withSignature(text, digest.toString(isHex ? 'hex' : 'base64')) }];
      },
    }),
  ];
}

function signedWith(id: string, what: string, keys: readonly string[], advice: string): AttackCase {
  return refused({
    id,
    what: `a delivery signed with ${what}`,
    advice,
    deliveries: (probes) => keys.map((key) => ({ body: signedBy(probes, key) })),
  });
}

function signedBy({ unsigned, sign }: Probes, key: string): string {
  const text = unsigned();
  return withSignature(text, sign(text, key));
}
