import { createHash, randomBytes } from 'node:crypto';
import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import { orderEventNames } from '../../../events/event-names.ts';
import { type AttackCase, refused } from '../attack-case.ts';
import { type Probes, withSignature } from '../probes.ts';

const verifyFirst =
  'Verify the signature of every delivery before anything else, with a comparison that takes the same time for all, and refuse what does not match.';
const verifyRaw =
  'Verify the bytes as they arrived. This receiver parses the body and verifies what it writes again, so other bodies pass under the same signature.';

const otherEvents: readonly string[] = [...orderEventNames.slice(1), 'event.probe.unfamiliar'];

export const alteredCases: readonly AttackCase[] = [
  refused({
    id: 'unsigned',
    what: 'a delivery without a signature',
    advice: verifyFirst,
    deliveries: ({ unsigned }) => [{ body: unsigned() }],
  }),
  refused({
    id: 'unsigned-with-flags',
    what: 'deliveries without a signature that call themselves tests, or verified, in headers, members and the query',
    advice:
      'Remove the way around the signature: whoever knows the header, the member or the query can forge. Give tests keys of their own.',
    deliveries: unsignedWithFlags,
  }),
  refused({
    id: 'forged',
    what: 'a delivery signed with another key',
    advice: verifyFirst,
    deliveries: ({ unsigned, sign }) => {
      const text = unsigned();
      return [{ body: withSignature(text, sign(text, { key: randomBytes(32).toString('hex') })) }];
    },
  }),
  refused({
    id: 'forged-other-events',
    what: 'forged deliveries of every other event, and of one that the contract does not have',
    fault: 'verifies only some events',
    advice: verifyFirst,
    deliveries: ({ unsigned, sign }) =>
      otherEvents.map((event_name) => ({
        body: withSignature(unsigned({ event_name }), sign(unsigned())),
      })),
  }),
  refused({
    id: 'signature-of-another-body',
    what: 'a delivery with the right signature of another one',
    advice: verifyFirst,
    deliveries: ({ unsigned, sign }) => [{ body: withSignature(unsigned(), sign(unsigned())) }],
  }),
  altered('amount', 'one digit of the amount', '":10,', '":70,'),
  altered('address', 'one letter of the address', '"probe-of', '"qrobe-of'),
  altered('status', 'the last letter of a status', 'PENDING"', 'PENDINH"'),
  altered('event-name', 'one letter of the event name', 'event.buy.init', 'event.buy.inis'),
  altered('member-name', 'one letter of the name of a member', '"exchange_rate"', '"exchange_ratf"'),
  altered('nested', 'one digit of a nested account number', '"0000000000"', '"0000000001"'),
  altered('added-member', 'a member more', '{', '{"meta_data":{"status":"refunded"},'),
  altered('removed-member', 'a member less', ',"payment_link":null', ''),
  {
    ...altered('white-space', 'white space between members', ',"pair"', ', "pair"', 'weak'),
    what: 'an authentic delivery with white space added after it was signed',
  },
  altered(
    'duplicate-first',
    'a second order id, before the signed one',
    '"partner_order_id":',
    '"partner_order_id":"probe-forged","partner_order_id":',
  ),
  refused({
    id: 'altered-duplicate-last',
    what: 'an authentic delivery with a second order id, after the signed one',
    advice: verifyRaw,
    deliveries: ({ unsigned, sign }) => {
      const text = unsigned();
      const twice = `${text.slice(0, -1)},"partner_order_id":"probe-forged"}`;
      return [{ body: withSignature(twice, sign(text)) }];
    },
  }),
  altered('null-to-1e999', 'a null as 1e999, which JSON.stringify writes as null', ':null', ':1e999'),
  alteredNumber('zero', '0 as -0, which many serializers write as 0', '0', '-0'),
  alteredNumber(
    'rounded-number',
    'the last digit of a number of 16 digits, which parsing rounds',
    '9007199254740992',
    '9007199254740993',
  ),
];

/** A signed body with a part that was changed after signing. */
function altered(id: string, what: string, from: string, to: string, ifAccepted?: 'weak'): AttackCase {
  return refused({
    id: `altered-${id}`,
    what: `an authentic delivery with ${what} altered after it was signed`,
    ifAccepted,
    advice: verifyRaw,
    deliveries: ({ authentic }) => [{ body: authentic().replace(from, to) }],
  });
}

function alteredNumber(id: string, what: string, from: string, to: string): AttackCase {
  return refused({
    id: `altered-${id}`,
    what: `an authentic delivery with ${what} altered after it was signed`,
    advice: verifyRaw,
    deliveries: ({ authentic }) => [
      { body: authentic({ fee: Number(from) }).replace(`"fee":${from}`, `"fee":${to}`) },
    ],
  });
}

function unsignedWithFlags({ unsigned }: Probes) {
  const members = { test: true, sandbox: true, debug: true, verified: true, skip_verification: true };
  const headers = {
    'x-debug': 'true',
    'x-forwarded-for': '127.0.0.1',
    'x-internal': 'true',
    'x-real-ip': '127.0.0.1',
    'x-sandbox': 'true',
    'x-skip-signature': 'true',
    'x-skip-verification': 'true',
    'x-test': 'true',
    'x-test-mode': 'true',
    'x-verified': 'true',
    'x-webhook-test': 'true',
  };
  const query = 'test=true&sandbox=true&debug=true&verified=true&verify=false&skip_verification=true';
  return [{ body: unsigned(members) }, { body: unsigned(), headers }, { body: unsigned(), query }];
}

const combined =
  'Verify order events with the key that the scheme makes of both secrets (contract: Authentication 5), and with no other: one secret alone is known in more places.';

interface WrongKey {
  readonly id: string;
  readonly what: string;
  readonly keys: (credentials: PartnerCredentials) => readonly string[];
  readonly advice: string;
}

/** Keys other than that for order events, which wrong code verifies with. */
export const wrongKeys: readonly WrongKey[] = [
  {
    id: 'key-partner-alone',
    what: 'the partner secret alone',
    keys: ({ partnerSecretKey }) => [partnerSecretKey],
    advice: combined,
  },
  {
    id: 'key-merchant-alone',
    what: 'a merchant secret alone',
    keys: merchantSecrets,
    advice: combined,
  },
  {
    id: 'key-reversed',
    what: 'the two secrets in the wrong order',
    keys: (credentials) =>
      merchantSecrets(credentials).map((merchant) => credentials.partnerSecretKey + merchant),
    advice: combined,
  },
  {
    id: 'key-public',
    what: 'the public key, which is no secret',
    keys: ({ partnerPublicKey, partnerSecretKey }) => [partnerPublicKey, partnerPublicKey + partnerSecretKey],
    advice: 'Never verify with the public key: it is sent with every request.',
  },
  {
    id: 'key-missing',
    what: 'the text that code makes of secrets that are not set: nothing, "undefined", "null"',
    keys: () => ['', 'undefined', 'undefinedundefined', 'null', 'nullnull', 'None', 'NoneNone'],
    advice: 'Refuse to start without the secrets: a key made of missing ones is known to everybody.',
  },
];

/** Deliveries signed with a wrong key, or with none. */
export const keyCases: readonly AttackCase[] = [
  ...wrongKeys.map(({ id, what, keys, advice }) =>
    refused({
      id,
      what: `a delivery signed with ${what}`,
      fault: `verifies with ${what}`,
      advice,
      deliveries: (probes, credentials) => keys(credentials).map((key) => ({ body: signedBy(probes, key) })),
    }),
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

function merchantSecrets({ merchantSecretKey, merchantSecretKeys = {} }: PartnerCredentials): string[] {
  return [merchantSecretKey, ...Object.values(merchantSecretKeys)].filter(
    (merchant) => merchant !== undefined,
  );
}

function signedBy({ unsigned, sign }: Probes, key: string): string {
  const text = unsigned();
  return withSignature(text, sign(text, { key }));
}
