import type { AttackCase, CaseTable } from '../attack-case.ts';
import { type CauseId, unsignedCauses } from '../causes.ts';
import { refused } from '../judge.ts';
import { type Probes, withSignature } from '../probes.ts';

const strict =
  'Check that the signature is text of exactly the length and alphabet of the scheme before it is decoded and compared.';
const oneSignature = 'Refuse a body with more than one top-level signature.';

const odd: CauseId = 'fails-on-odd-signature';
const length: readonly CauseId[] = ['compares-prefix', 'accepts-cut-signature', 'fails-open', odd];

/** Misspelled and misplaced signatures of authentic bodies. */
export const signatureCases = {
  'signature-empty': signed({
    what: 'an empty signature',
    causes: [...unsignedCauses, 'accepts-cut-signature'],
    write: () => '',
  }),
  'signature-first-digit': signed({
    what: 'a signature whose first letter is wrong',
    causes: [odd],
    write: (right) => withOtherCharacter(right, 0),
  }),
  'signature-last-digit': signed({
    what: 'a signature of which one of the last letters is wrong',
    causes: ['compares-prefix', odd],
    // The last letter itself may hold padding in base64.
    write: (right) => withOtherCharacter(right, right.length - 4),
  }),
  'signature-half': signed({
    what: 'the first half of the right signature',
    causes: length,
    write: (right) => right.slice(0, 64),
  }),
  'signature-long': signed({
    what: 'the right signature and as much again',
    causes: length,
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
  'signature-respelled': refused({
    what: 'the right signature in other letters (case, padding)',
    causes: length,
    ifAccepted: 'weak',
    faults: { accepted: 'accepts more than one spelling of the right signature' },
    advice:
      'Accept exactly one spelling of a signature: the length, alphabet and case of the scheme, checked before it is decoded. Nothing forged passes here, but one delivery then has several signatures.',
    deliveries: (probes) => {
      const text = probes.unsigned();
      return [{ body: withSignature(text, respell(probes.sign(text), probes)) }];
    },
  }),
  'signature-wrong-type': refused({
    what: 'signatures that are no text: true, 0, null, an object, an array',
    causes: unsignedCauses,
    advice: strict,
    deliveries: ({ unsigned }) =>
      [true, 0, null, {}, []].map((signature) => ({ body: withSignature(unsigned(), signature) })),
  }),
  'signatures-first-right': refused({
    what: 'two signatures, the first one right',
    causes: ['fails-open', 're-serialises', 'two-signatures'],
    advice: oneSignature,
    deliveries: (probes) => [{ body: twoSignatures(probes, 'first') }],
  }),
  'signatures-last-right': refused({
    what: 'two signatures, the last one right',
    causes: ['fails-open', 're-serialises', 'two-signatures'],
    advice: oneSignature,
    deliveries: (probes) => [{ body: twoSignatures(probes, 'last') }],
  }),
  'signature-nested': refused({
    what: 'the right signature in a nested object, none at the top',
    causes: unsignedCauses,
    advice: 'Take the signature only from the own top-level member of the parsed body.',
    deliveries: ({ unsigned, sign }) => {
      const text = unsigned();
      return [{ body: `${text.slice(0, -1)},"meta_data":{"signature":"${sign(text)}"}}` }];
    },
  }),
} satisfies CaseTable;

interface Signed extends Pick<AttackCase, 'what' | 'causes'> {
  /** The signature, made of the right one. */
  readonly write: (right: string) => string;
}

function signed({ write, ...described }: Signed): AttackCase {
  return refused({
    ...described,
    advice: strict,
    deliveries: ({ unsigned, sign }) => {
      const text = unsigned();
      return [{ body: withSignature(text, write(sign(text))) }];
    },
  });
}

function twoSignatures({ unsigned, sign }: Probes, right: 'first' | 'last'): string {
  const text = unsigned();
  const signature = sign(text);
  const wrong = withOtherCharacter(signature, 0);
  const [first, last] = right === 'first' ? [signature, wrong] : [wrong, signature];
  return withSignature(`{"signature":"${first}",${text.slice(1)}`, last);
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
