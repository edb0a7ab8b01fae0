import { type AttackCase, type CaseTable, idsOf, refused } from '../attack-case.ts';
import type { CauseTable } from '../cause.ts';
import { type ProbeMembers, type Probes, withSignature } from '../probes.ts';

const verifyRawToRefuse =
  'Verify the bytes as they arrived. This receiver parses the body and verifies what it writes again, so other bodies pass under the same signature.';

/** Signed deliveries with another value or member. */
export const alteredCases = {
  'altered-amount': altered('one digit of the amount', '":10,', '":70,'),
  'altered-address': altered('one letter of the address', '"probe-of', '"qrobe-of'),
  'altered-status': altered('the last letter of a status', 'PENDING"', 'PENDINH"', {
    crypto_payment_status: 'PENDING',
  }),
  'altered-event-name': altered('one letter of the event name', '"event_name":"e', '"event_name":"a'),
  'altered-member-name': altered('one letter of the name of a member', '"exchange_rate"', '"exchange_ratf"'),
  'altered-nested': altered('one digit of a nested account number', '"0000000000"', '"0000000001"'),
  'altered-added-member': altered('a member more', '{', '{"meta_data":{"status":"refunded"},'),
  'altered-removed-member': altered('a member less', ',"payment_link":null', ''),
  'altered-after-signature': refused({
    what: 'an authentic delivery with a member more behind its signature',
    advice: verifyRawToRefuse,
    deliveries: ({ authentic }) => [
      { body: `${authentic().slice(0, -1)},"meta_data":{"status":"refunded"}}` },
    ],
  }),
} satisfies CaseTable;

/** Signed deliveries whose text was altered so that a receiver that parses it and writes it again sees no difference. */
export const rewrittenCases = {
  'altered-white-space': refused({
    what: 'an authentic delivery with white space added after it was signed',
    ifAccepted: 'weak',
    advice: verifyRawToRefuse,
    deliveries: ({ authentic }) => [{ body: authentic().replace(',"pair"', ', "pair"') }],
  }),
  'altered-duplicate-first': withSecondOrderId('before', ({ authentic, newId }) =>
    // In its own place: a parser keeps the place of the first one.
    authentic().replace('"partner_order_id":', `"partner_order_id":"${newId()}",$&`),
  ),
  'altered-duplicate-last': withSecondOrderId('after', ({ unsigned, sign, newId }) => {
    const text = unsigned();
    return withSignature(`${text.slice(0, -1)},"partner_order_id":"${newId()}"}`, sign(text));
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
function altered(what: string, from: string, to: string, members?: ProbeMembers): AttackCase {
  return refused({
    what: `an authentic delivery with ${what} altered after it was signed`,
    advice: verifyRawToRefuse,
    deliveries: ({ authentic }) => [{ body: authentic(members).replace(from, to) }],
  });
}

/** It is new each time: a receiver may know the order of an earlier attack. */
function withSecondOrderId(where: 'before' | 'after', body: (probes: Probes) => string): AttackCase {
  return refused({
    what: `an authentic delivery with a second order id, ${where} the signed one, added after it was signed`,
    advice: verifyRawToRefuse,
    deliveries: (probes) => [{ body: body(probes) }],
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

const alteredValues = idsOf(alteredCases);
const rewritten = idsOf(rewrittenCases);
/** A receiver that writes a body again spells these differently. */
const otherSpellings = [
  'authentic-white-space',
  'authentic-escapes',
  'authentic-numbers',
  'authentic-integer-name',
] as const;
/** What of a delivery is verified. */
export const alteredCauses = {
  're-serialises': {
    summary: 'verifies the body as it writes it again, not the bytes that arrived',
    shownBy: { lost: otherSpellings, accepted: rewritten },
    atLeast: 3,
    explains: {
      lost: [
        ...otherSpellings,
        'authentic-letters',
        'authentic-combined-letters',
        'authentic-precise-amounts',
        'authentic-quotes',
        'authentic-large',
        'authentic-60-kilobytes',
        'authentic-extra-members',
        'authentic-nested-signature',
        'respelled',
        // A member is lost on the way, or a missing one is written.
        'authentic-published',
        'authentic-third-party-error',
        'authentic-old',
        'kyc-error-first',
        'refund-after-credit',
        'close-without-credit',
        'close-alone',
        'authentic-other-shape',
      ],
      accepted: [
        ...rewritten,
        'altered-added-member',
        'altered-after-signature',
        'signatures-first-right',
        'signatures-last-right',
        'signatures-escaped',
      ],
    },
  },
  'altered-after-signature': {
    shownBy: { accepted: ['altered-after-signature'] },
    unless: { accepted: alteredValues.filter((id) => id !== 'altered-after-signature') },
    explains: { accepted: ['altered-after-signature', 'altered-duplicate-last'] },
  },
  'signs-a-part': {
    summary: 'verifies only a part of the body: the rest can be altered',
    advice: 'Verify the signature over the whole body as it arrived, without its signature member.',
    shownBy: { accepted: alteredValues },
    explains: { accepted: [...alteredValues, ...rewritten, 'delivered-signature'] },
  },
} as const satisfies CauseTable;
