import type { AttackCase, CaseTable } from '../attack-case.ts';
import type { CauseId } from '../causes.ts';
import { refused } from '../judge.ts';
import { type Probes, withSignature } from '../probes.ts';

const verifyRaw =
  'Verify the bytes as they arrived. This receiver parses the body and verifies what it writes again, so other bodies pass under the same signature.';

/** A receiver that parses a body and writes it again sees no difference. */
const rewritten: readonly CauseId[] = ['re-serialises', 'signs-a-part'];

/** Signed deliveries that were altered. */
export const alteredCases = {
  'altered-amount': altered('one digit of the amount', '":10,', '":70,'),
  'altered-address': altered('one letter of the address', '"probe-of', '"qrobe-of'),
  'altered-event-name': altered('one letter of the event name', '"event_name":"e', '"event_name":"a'),
  'altered-nested': altered('one digit of a nested account number', '"0000000000"', '"0000000001"'),
  'altered-added-member': altered('a member more', '{', '{"meta_data":{"status":"refunded"},', rewritten),
  'altered-after-signature': refused({
    what: 'an authentic delivery with a member more behind its signature',
    causes: rewritten,
    advice: verifyRaw,
    deliveries: ({ authentic }) => [
      { body: `${authentic().slice(0, -1)},"meta_data":{"status":"refunded"}}` },
    ],
  }),
  'altered-white-space': refused({
    what: 'an authentic delivery with white space added after it was signed',
    causes: rewritten,
    ifAccepted: 'weak',
    advice: verifyRaw,
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
    rewritten,
  ),
  'altered-rounded-number': refused({
    what: 'an authentic delivery with the last digit of a number of 16 digits, which parsing rounds, altered after it was signed',
    causes: rewritten,
    advice: verifyRaw,
    deliveries: ({ authentic }) => [
      { body: authentic({ fee: 9007199254740992 }).replace('9007199254740992', '9007199254740993') },
    ],
  }),
} satisfies CaseTable;

/** A signed body with a part that was changed after signing. */
function altered(
  what: string,
  from: string,
  to: string,
  causes: readonly CauseId[] = ['signs-a-part'],
): AttackCase {
  return refused({
    what: `an authentic delivery with ${what} altered after it was signed`,
    causes,
    advice: verifyRaw,
    deliveries: ({ authentic }) => [{ body: authentic().replace(from, to) }],
  });
}

/** It is new each time: a receiver may know the order of an earlier attack. */
function withSecondOrderId(where: 'before' | 'after', body: (probes: Probes) => string): AttackCase {
  return refused({
    what: `an authentic delivery with a second order id, ${where} the signed one, added after it was signed`,
    causes: rewritten,
    advice: verifyRaw,
    deliveries: (probes) => [{ body: body(probes) }],
  });
}
