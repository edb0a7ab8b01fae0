import type { AttackCase, CaseTable } from '../attack-case.ts';
import type { CauseId } from '../causes.ts';
import { refused } from '../judge.ts';
import { type ProbeMembers, type Probes, withSignature } from '../probes.ts';

const verifyRawToRefuse =
  'Verify the bytes as they arrived. This receiver parses the body and verifies what it writes again, so other bodies pass under the same signature.';

/** A receiver that parses a body and writes it again sees no difference. */
const rewritten: readonly CauseId[] = ['re-serialises', 'signs-a-part'];

/** Signed deliveries that were altered. */
export const alteredCases = {
  'altered-amount': altered('one digit of the amount', '":10,', '":70,'),
  'altered-address': altered('one letter of the address', '"probe-of', '"qrobe-of'),
  'altered-status': altered('the last letter of a status', 'PENDING"', 'PENDINH"', {
    members: { crypto_payment_status: 'PENDING' },
  }),
  'altered-event-name': altered('one letter of the event name', '"event_name":"e', '"event_name":"a'),
  'altered-member-name': altered('one letter of the name of a member', '"exchange_rate"', '"exchange_ratf"'),
  'altered-nested': altered('one digit of a nested account number', '"0000000000"', '"0000000001"'),
  'altered-added-member': altered('a member more', '{', '{"meta_data":{"status":"refunded"},', {
    causes: rewritten,
  }),
  'altered-removed-member': altered('a member less', ',"payment_link":null', ''),
  'altered-after-signature': refused({
    what: 'an authentic delivery with a member more behind its signature',
    causes: rewritten,
    advice: verifyRawToRefuse,
    deliveries: ({ authentic }) => [
      { body: `${authentic().slice(0, -1)},"meta_data":{"status":"refunded"}}` },
    ],
  }),
  'altered-white-space': refused({
    what: 'an authentic delivery with white space added after it was signed',
    causes: rewritten,
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
  'altered-null-to-1e999': altered(
    'a null as 1e999, which JSON.stringify writes as null',
    ':null',
    ':1e999',
    {
      causes: rewritten,
    },
  ),
  'altered-zero': alteredNumber('0 as -0, which many serializers write as 0', '0', '-0'),
  'altered-rounded-number': alteredNumber(
    'the last digit of a number of 16 digits, which parsing rounds',
    '9007199254740992',
    '9007199254740993',
  ),
} satisfies CaseTable;

interface Altered {
  readonly members?: ProbeMembers;
  readonly causes?: readonly CauseId[];
}

/** A signed body with a part that was changed after signing. */
function altered(
  what: string,
  from: string,
  to: string,
  { members, causes = ['signs-a-part'] }: Altered = {},
): AttackCase {
  return refused({
    what: `an authentic delivery with ${what} altered after it was signed`,
    causes,
    advice: verifyRawToRefuse,
    deliveries: ({ authentic }) => [{ body: authentic(members).replace(from, to) }],
  });
}

/** It is new each time: a receiver may know the order of an earlier attack. */
function withSecondOrderId(where: 'before' | 'after', body: (probes: Probes) => string): AttackCase {
  return refused({
    what: `an authentic delivery with a second order id, ${where} the signed one, added after it was signed`,
    causes: where === 'after' ? ['altered-after-signature', ...rewritten] : rewritten,
    advice: verifyRawToRefuse,
    deliveries: (probes) => [{ body: body(probes) }],
  });
}

function alteredNumber(what: string, from: string, to: string): AttackCase {
  const members = { fee: Number(from) };
  return altered(what, `"fee":${from}`, `"fee":${to}`, { members, causes: rewritten });
}
