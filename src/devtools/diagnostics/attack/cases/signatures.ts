import type { AttackCase, CaseTable } from '../attack-case.ts';
import { type CauseId, unsignedCauses } from '../causes.ts';
import { refused } from '../judge.ts';
import { type Probes, withSignature } from '../probes.ts';

const exact =
  'Accept exactly one spelling of a signature: the length, alphabet and case of the scheme, checked before it is decoded. Nothing forged passes here, but one delivery then has several signatures.';
const strict =
  'Check that the signature is text of exactly the length and alphabet of the scheme before it is decoded and compared.';
const oneSignature =
  'Refuse a body with more than one top-level signature: which of them counts, and what the other one is part of, depends on the parser.';
const topLevel = 'Take the signature only from the own top-level member of the parsed body.';

const odd: CauseId = 'fails-on-odd-signature';
const unsigned: readonly CauseId[] = [...unsignedCauses, odd];
const length: readonly CauseId[] = ['compares-prefix', 'fails-open', 'accepts-cut-signature', odd];
const spelling: readonly CauseId[] = ['compares-prefix', 'fails-open', 'several-spellings', odd];
const two: readonly CauseId[] = ['fails-open', 're-serialises', 'two-signatures'];

/** Misspelled and misplaced signatures of authentic bodies. */
export const signatureCases = {
  'signature-empty': signed({
    what: 'an empty signature',
    causes: [...unsigned, 'accepts-cut-signature'],
    write: () => '',
  }),
  'signature-first-digit': signed({
    what: 'a signature whose first letter is wrong',
    causes: ['compares-suffix', odd],
    write: (right) => withOtherCharacter(right, 0),
  }),
  'signature-last-digit': signed({
    what: 'a signature of which one of the last letters is wrong',
    causes: ['compares-prefix', odd],
    // The last letter itself may hold padding in base64.
    write: (right) => withOtherCharacter(right, right.length - 4),
  }),
  'signature-short': signed({
    what: 'the right signature but for its last letters',
    causes: length,
    write: (right) => right.slice(0, -4),
  }),
  'signature-half': signed({
    what: 'the first half of the right signature',
    causes: length,
    write: (right) => right.slice(0, 64),
  }),
  'signature-long': signed({
    what: 'the right signature and as much again',
    causes: [...length, 'compares-suffix', 'several-spellings'],
    write: (right) => right + right,
  }),
  'signature-not-a-digest': signed({
    what: 'a signature of the right length that cannot be decoded',
    causes: ['fails-open', odd],
    write: (right) => '!'.repeat(right.length),
  }),
  'signature-not-ascii': refused({
    what: 'signatures of the right length with letters beyond ASCII: é, a fullwidth 1, half of a surrogate pair',
    causes: ['fails-open', odd],
    advice: strict,
    deliveries: ({ unsigned, sign }) =>
      ['\u00e9', '\uff11', '\ud800'].map((letter) => {
        const text = unsigned();
        return { body: withSignature(text, letter.repeat(sign(text).length)) };
      }),
  }),
  'signature-respelled': signed({
    what: 'the right signature in other letters (case, padding)',
    causes: spelling,
    ifAccepted: 'weak',
    write: respell,
  }),
  'signature-trailing': signed({
    what: 'the right signature with something behind it',
    causes: [...spelling, 'accepts-cut-signature'],
    ifAccepted: 'weak',
    write: (right) => `${right}!!`,
  }),
  'signature-in-array': signed({
    what: 'the right signature in an array',
    causes: spelling,
    ifAccepted: 'weak',
    write: (right) => [right],
  }),
  'signature-words': refused({
    what: 'words in place of a signature: none, null, undefined, true, test, valid, skip',
    // One of the words can be how the right signature begins.
    causes: ['fails-open', 'accepts-cut-signature', odd],
    advice: strict,
    deliveries: ({ unsigned }) =>
      ['none', 'null', 'undefined', 'true', 'test', 'valid', 'skip', '0', '*'].map((word) => ({
        body: withSignature(unsigned(), word),
      })),
  }),
  'signature-wrong-type': refused({
    what: 'signatures that are no text: true, 0, null, an object, an array',
    causes: unsigned,
    advice: strict,
    deliveries: ({ unsigned }) =>
      [true, 0, null, {}, []].map((signature) => ({ body: withSignature(unsigned(), signature) })),
  }),
  'signatures-first-right': refused({
    what: 'two signatures, the first one right',
    causes: two,
    advice: oneSignature,
    deliveries: (probes) => [{ body: twoSignatures(probes, 'first') }],
  }),
  'signatures-last-right': refused({
    what: 'two signatures, the last one right',
    causes: two,
    advice: oneSignature,
    deliveries: (probes) => [{ body: twoSignatures(probes, 'last') }],
  }),
  'signatures-escaped': refused({
    what: 'two signatures, the first one wrong and with its name as \\u0073ignature',
    causes: two,
    advice: oneSignature,
    deliveries: (probes) => [{ body: twoSignatures(probes, 'last', '\\u0073ignature') }],
  }),
  'signature-nested': refused({
    what: 'the right signature in a nested object, none at the top',
    causes: unsigned,
    advice: topLevel,
    deliveries: ({ unsigned, sign }) => {
      const text = unsigned();
      return [{ body: `${text.slice(0, -1)},"meta_data":{"signature":"${sign(text)}"}}` }];
    },
  }),
  'signature-inherited': refused({
    what: 'the right signature in a member __proto__, none at the top',
    causes: unsigned,
    advice: `${topLevel} Do not merge a parsed body into another object: a member __proto__ then sets what all members are looked up in.`,
    deliveries: ({ unsigned, sign }) => {
      const text = unsigned();
      return [{ body: `${text.slice(0, -1)},"__proto__":{"signature":"${sign(text)}"}}` }];
    },
  }),
} satisfies CaseTable;

interface Signed extends Pick<AttackCase, 'what' | 'causes'> {
  /** The signature, made of the right one. */
  readonly write: (right: string, probes: Probes) => unknown;
  readonly ifAccepted?: 'weak';
}

function signed({ write, ifAccepted, ...described }: Signed): AttackCase {
  return refused({
    ...described,
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
function withOtherCharacter(signature: string, at: number): string {
  const letter = signature[at] ?? '';
  const other = letter.toLowerCase() === 'a' ? 'b' : 'a';
  const cased = /[A-Z]/.test(signature) && !/[a-z]/.test(signature) ? other.toUpperCase() : other;
  return signature.slice(0, at) + cased + signature.slice(at + 1);
}

/** A digest in other letters that a lenient decoder accepts. */
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
