import { type AttackCase, type CaseTable, judgeRefusal, refused } from '../attack-case.ts';
import type { CauseTable } from '../cause.ts';
import { type Probes, withSignature } from '../probes.ts';
import { unsignedCaseIds } from './forgeries.ts';

const exact =
  'Accept exactly one spelling of a signature: the length, alphabet and case of the scheme, checked before it is decoded. Nothing forged passes here, but one delivery then has several signatures.';
export const strict =
  'Check that the signature is text of exactly the length and alphabet of the scheme before it is decoded and compared.';
const oneSignature =
  'Refuse a body with more than one top-level signature: which of them counts, and what the other one is part of, depends on the parser.';
const topLevel = 'Take the signature only from the own top-level member of the parsed body.';

/** Misspelled and misplaced signatures of authentic bodies. */
export const signatureCases = {
  'signature-empty': signed('an empty signature', () => ''),
  'signature-first-digit': signed('a signature whose first letter is wrong', (right) =>
    withOtherCharacter(right, 0),
  ),
  'signature-middle-digit': signed('a signature of which one of the middle letters is wrong', (right) =>
    withOtherCharacter(right, right.length >> 1),
  ),
  'signature-last-digit': signed('a signature of which one of the last letters is wrong', (right) =>
    // The last letter itself may hold padding in base64.
    withOtherCharacter(right, right.length - 4),
  ),
  'signature-short': signed('the right signature but for its last letters', (right) => right.slice(0, -4)),
  'signature-half': signed('the first half of the right signature', (right) => right.slice(0, 64)),
  'signature-long': signed('the right signature and as much again', (right) => right + right),
  'signature-not-a-digest': signed('a signature of the right length that cannot be decoded', (right) =>
    '!'.repeat(right.length),
  ),
  'signature-not-ascii': refused({
    what: 'signatures of the right length with letters beyond ASCII: é, a fullwidth 1, half of a surrogate pair',
    advice: strict,
    deliveries: ({ unsigned, sign }) =>
      ['\u00e9', '\uff11', '\ud800'].map((letter) => {
        const text = unsigned();
        return { body: withSignature(text, letter.repeat(sign(text).length)) };
      }),
  }),
  'signature-respelled': signed('the right signature in other letters (case, padding)', respell, 'weak'),
  'signature-trailing': signed(
    'the right signature with something behind it',
    (right) => `${right}!!`,
    'weak',
  ),
  'signature-in-array': signed('the right signature in an array', (right) => [right], 'weak'),
  'signature-words': refused({
    what: 'words in place of a signature: none, null, undefined, true, test, valid, skip',
    advice: strict,
    deliveries: ({ unsigned }) =>
      ['none', 'null', 'undefined', 'true', 'test', 'valid', 'skip', '0', '*'].map((word) => ({
        body: withSignature(unsigned(), word),
      })),
  }),
  'signature-wrong-type': refused({
    what: 'signatures that are no text: true, 0, null, an object, an array',
    advice: strict,
    deliveries: ({ unsigned }) =>
      [true, 0, null, {}, []].map((signature) => ({ body: withSignature(unsigned(), signature) })),
  }),
  'signatures-first-right': refused({
    what: 'two signatures, the first one right',
    advice: oneSignature,
    deliveries: (probes) => [{ body: twoSignatures(probes, 'first') }],
  }),
  'signatures-last-right': refused({
    what: 'two signatures, the last one right',
    advice: oneSignature,
    deliveries: (probes) => [{ body: twoSignatures(probes, 'last') }],
  }),
  'signatures-escaped': refused({
    what: 'two signatures, the first one wrong and with its name as \\u0073ignature',
    advice: oneSignature,
    deliveries: (probes) => [{ body: twoSignatures(probes, 'last', '\\u0073ignature') }],
  }),
  'signature-escaped-name': {
    what: 'an authentic delivery with the name of its signature as \\u0073ignature',
    expected: '2xx or 4xx',
    // It has the same meaning, but no sender writes it: both answers are sound.
    async run({ probes, post }) {
      const body = probes.authentic().replace('"signature"', '"\\u0073ignature"');
      return judgeRefusal(await post({ body }), { ifAccepted: 'ok', advice: '' });
    },
  },
  'signature-nested': refused({
    what: 'the right signature in a nested object, none at the top',
    advice: topLevel,
    deliveries: ({ unsigned, sign }) => {
      const text = unsigned();
      return [{ body: `${text.slice(0, -1)},"meta_data":{"signature":"${sign(text)}"}}` }];
    },
  }),
  'signature-inherited': refused({
    what: 'the right signature in a member __proto__, none at the top',
    advice: `${topLevel} Do not merge a parsed body into another object: a member __proto__ then sets what all members are looked up in.`,
    deliveries: ({ unsigned, sign }) => {
      const text = unsigned();
      return [{ body: `${text.slice(0, -1)},"__proto__":{"signature":"${sign(text)}"}}` }];
    },
  }),
} satisfies CaseTable;

function signed(
  what: string,
  write: (right: string, probes: Probes) => unknown,
  ifAccepted?: 'weak',
): AttackCase {
  return refused({
    what,
    ifAccepted,
    advice: ifAccepted === undefined ? strict : exact,
    deliveries: (probes) => {
      const text = probes.unsigned();
      return [{ body: withSignature(text, write(probes.sign(text), probes)) }];
    },
  });
}

function twoSignatures({ unsigned, sign }: Probes, right: 'first' | 'last', firstName = 'signature'): string {
  const text = unsigned();
  const signature = sign(text);
  const wrong = withOtherCharacter(signature, 0);
  const [first, last] = right === 'first' ? [signature, wrong] : [wrong, signature];
  return withSignature(`{"${firstName}":"${first}",${text.slice(1)}`, last);
}

/** Changes the letter at this place. */
export function withOtherCharacter(signature: string, at: number): string {
  const letter = signature[at] ?? '';
  const other = letter.toLowerCase() === 'a' ? 'b' : 'a';
  const cased = /[A-Z]/.test(signature) && !/[a-z]/.test(signature) ? other.toUpperCase() : other;
  return signature.slice(0, at) + cased + signature.slice(at + 1);
}

/** The same digest in letters that a lenient decoder accepts. */
function respell(right: string, { scheme }: Probes): string {
  switch (scheme.encoding) {
    case 'hex':
      return right.toUpperCase();
    case 'hex-upper':
      return right.toLowerCase();
    case 'base64':
    case 'base64-hex':
      return right.replace(/=+$/, '');
  }
}

const lengthsOfSignature = ['signature-short', 'signature-half', 'signature-long'] as const;
const spellings = ['signature-respelled', 'signature-trailing', 'signature-in-array'] as const;
const undecodable = ['signature-not-a-digest', 'signature-not-ascii'] as const;
const twoSignatureIds = ['signatures-first-right', 'signatures-last-right', 'signatures-escaped'] as const;

/** How signatures are compared. */
export const comparisonCauses = {
  'compares-prefix': {
    summary: 'compares only the beginning of a signature (a prefix)',
    shownBy: { accepted: ['signature-last-digit'] },
    unless: { accepted: ['signature-first-digit'] },
    explains: {
      accepted: [
        'signature-middle-digit',
        'signature-last-digit',
        ...lengthsOfSignature,
        ...spellings,
        'tells-refusals-apart',
      ],
    },
  },
  'compares-suffix': {
    summary: 'compares only the end of a signature',
    shownBy: { accepted: ['signature-first-digit'] },
    unless: { accepted: ['signature-last-digit'] },
    explains: {
      accepted: ['signature-first-digit', 'signature-middle-digit', 'signature-long', 'tells-refusals-apart'],
    },
  },
  'fails-open': {
    summary: 'accepts a delivery whose signature it fails to verify (it fails open)',
    advice: 'Refuse where the check of a signature throws, as where it says no.',
    shownBy: { accepted: undecodable },
    unless: { accepted: ['signature-first-digit', 'signature-last-digit'] },
    explains: {
      accepted: [
        ...undecodable,
        ...unsignedCaseIds,
        ...lengthsOfSignature,
        ...spellings,
        ...twoSignatureIds,
        'signature-words',
        'lone-surrogate',
        'acted-before-verification',
      ],
    },
  },
} as const satisfies CauseTable;

/** Which signatures of a delivery count. */
export const signatureCauses = {
  'two-signatures': {
    summary: 'accepts a body with two signatures',
    explains: { accepted: twoSignatureIds },
  },
  'accepts-cut-signature': {
    summary: 'compares a signature only as far as it goes: a part of the right one is enough',
    shownBy: { accepted: ['signature-short', 'signature-half'] },
    explains: {
      accepted: [
        'signature-empty',
        ...lengthsOfSignature,
        'signature-trailing',
        // One of the words can be how the right signature begins.
        'signature-words',
        'acted-before-verification',
      ],
    },
  },
  'several-spellings': {
    summary: 'accepts more than one spelling of the right signature',
    shownBy: { accepted: spellings },
    explains: { accepted: [...spellings, 'signature-long'] },
  },
  'fails-without-signature': {
    summary: 'answers 5xx to a delivery without a signature',
    shownBy: { failed: ['unsigned'] },
    explains: { failed: unsignedCaseIds },
  },
  'fails-on-odd-signature': {
    summary: 'answers 5xx to a signature of another length, alphabet or type',
    atLeast: 2,
    explains: {
      failed: [
        'signature-first-digit',
        'signature-middle-digit',
        'signature-last-digit',
        ...lengthsOfSignature,
        ...undecodable,
        ...spellings,
        'signature-words',
        'signature-empty',
        'signature-wrong-type',
        'signature-nested',
        'signature-inherited',
        'signature-of-another-body',
        'signature-escaped-name',
      ],
    },
  },
} as const satisfies CauseTable;
