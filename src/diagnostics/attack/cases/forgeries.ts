import { createHash, randomBytes } from 'node:crypto';
import { secretKeysOf } from '../../../credentials/define-credentials.ts';
import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import { orderEventNames } from '../../../events/event-names.ts';
import { type AttackCase, type CaseTable, refused } from '../attack-case.ts';
import { type Probes, withSignature } from '../probes.ts';

const verifyFirst =
  'Verify the signature of every delivery before anything else, with a comparison that takes the same time for all, and refuse what does not match.';
const verifyRawToRefuse =
  'Verify the bytes as they arrived. This receiver parses the body and verifies what it writes again, so other bodies pass under the same signature.';

const otherEvents: readonly string[] = [...orderEventNames.slice(1), 'event.probe.unfamiliar'];

/** Deliveries without the right signature. */
export const forgedCases = {
  unsigned: refused({
    what: 'a delivery without a signature',
    advice: verifyFirst,
    deliveries: ({ unsigned }) => [{ body: unsigned() }],
  }),
  'unsigned-with-flags': refused({
    what: 'deliveries without a signature that call themselves tests, or verified, in headers, members and the query',
    advice:
      'Remove the way around the signature: whoever knows the header, the member or the query can forge. Give tests keys of their own.',
    deliveries: unsignedWithFlags,
  }),
  forged: refused({
    what: 'a delivery signed with another key',
    advice: verifyFirst,
    deliveries: ({ unsigned, sign }) => {
      const text = unsigned();
      return [{ body: withSignature(text, sign(text, { key: randomBytes(32).toString('hex') })) }];
    },
  }),
  'forged-other-events': refused({
    what: 'forged deliveries of every other event, and of one that the contract does not have',
    fault: 'verifies only some events',
    advice: verifyFirst,
    deliveries: ({ forged, unsigned }) =>
      otherEvents.map((event_name) => ({ body: forged(unsigned({ event_name })) })),
  }),
  'signature-of-another-body': refused({
    what: 'a delivery with the right signature of another one',
    advice: verifyFirst,
    deliveries: ({ forged }) => [{ body: forged() }],
  }),
} satisfies CaseTable;

/** Signed deliveries with another value or member. */
export const alteredCases = {
  'altered-amount': altered('one digit of the amount', '":10,', '":70,'),
  'altered-address': altered('one letter of the address', '"probe-of', '"qrobe-of'),
  'altered-status': altered('the last letter of a status', 'PENDING"', 'PENDINH"'),
  'altered-event-name': altered('one letter of the event name', 'event.buy.init', 'event.buy.inis'),
  'altered-member-name': altered('one letter of the name of a member', '"exchange_rate"', '"exchange_ratf"'),
  'altered-nested': altered('one digit of a nested account number', '"0000000000"', '"0000000001"'),
  'altered-added-member': altered('a member more', '{', '{"meta_data":{"status":"refunded"},'),
  'altered-removed-member': altered('a member less', ',"payment_link":null', ''),
} satisfies CaseTable;

/** Signed deliveries whose text was altered so that a receiver that parses it and writes it again sees no difference. */
export const rewrittenCases = {
  'altered-white-space': refused({
    what: 'an authentic delivery with white space added after it was signed',
    ifAccepted: 'weak',
    advice: verifyRawToRefuse,
    deliveries: ({ authentic }) => [{ body: authentic().replace(',"pair"', ', "pair"') }],
  }),
  'altered-duplicate-first': altered(
    'a second order id, before the signed one',
    '"partner_order_id":',
    '"partner_order_id":"probe-forged","partner_order_id":',
  ),
  'altered-duplicate-last': refused({
    what: 'an authentic delivery with a second order id, after the signed one',
    advice: verifyRawToRefuse,
    deliveries: ({ unsigned, sign }) => {
      const text = unsigned();
      const twice = `${text.slice(0, -1)},"partner_order_id":"probe-forged"}`;
      return [{ body: withSignature(twice, sign(text)) }];
    },
  }),
  'altered-null-to-1e999': altered('a null as 1e999, which JSON.stringify writes as null', ':null', ':1e999'),
  'altered-zero': alteredNumber('0 as -0, which many serializers write as 0', '0', '-0'),
  'altered-rounded-number': alteredNumber(
    'the last digit of a number of 16 digits, which parsing rounds',
    '9007199254740992',
    '9007199254740993',
  ),
} satisfies CaseTable;

/** A signed body with a part that was changed after signing. */
function altered(what: string, from: string, to: string): AttackCase {
  return refused({
    what: `an authentic delivery with ${what} altered after it was signed`,
    advice: verifyRawToRefuse,
    deliveries: ({ authentic }) => [{ body: authentic().replace(from, to) }],
  });
}

function alteredNumber(what: string, from: string, to: string): AttackCase {
  return refused({
    what: `an authentic delivery with ${what} altered after it was signed`,
    advice: verifyRawToRefuse,
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
    fault: `verifies with ${what}`,
    advice,
    deliveries: ({ unsigned, sign }, credentials) =>
      keys(credentials).map((key) => {
        const text = unsigned();
        return { body: withSignature(text, sign(text, { key })) };
      }),
  });
}
