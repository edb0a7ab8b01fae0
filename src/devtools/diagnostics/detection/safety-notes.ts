import { serializationRules } from '../../../signature/serializations.ts';
import type { OrderKey, SignatureScheme } from '../../../signature/signature-scheme.ts';
import type { Finding } from '../finding.ts';

/**
 * - `length-extension`: a forger can append to the signed text.
 * - `plain-hash`: a plain hash instead of an HMAC.
 * - `field-shifting`: text can move from one member to another under the same signature.
 * - `names-unsigned`: members can be renamed as long as their order stays.
 * - `types-unsigned`: `1` and `"1"`, or null and the empty text, have the same signature.
 * - `lossy`: the parsed body is signed, so different texts have the same signature.
 * - `secret-alone`: the key for orders leaves one of the two secrets out.
 * - `public-key`: part of the key is not secret.
 * - `secrets-swapped`: the published order of the secrets fits as well if they were given in each other's place.
 */
export type SafetyNoteId =
  | 'length-extension'
  | 'plain-hash'
  | 'field-shifting'
  | 'names-unsigned'
  | 'types-unsigned'
  | 'lossy'
  | 'secret-alone'
  | 'public-key'
  | 'secrets-swapped';

/** What users of a scheme must know about its safety. */
export function safetyNotes(scheme: SignatureScheme): Finding<SafetyNoteId>[] {
  const { construction, orderKey = 'merchant+partner' } = scheme;
  return [...constructionNotes[construction], ...textNotes(scheme), ...keyNotes[orderKey]];
}

const constructionNotes: Readonly<Record<SignatureScheme['construction'], readonly Finding<SafetyNoteId>[]>> =
  {
    hmac: [],
    'hash-prefix': [
      note(
        'length-extension',
        'SHA-512 of secret + text can be extended: who has one signed body can sign the same text with more appended, without the secret.',
        'Ask the service for an HMAC.',
      ),
    ],
    'hash-suffix': [
      note(
        'plain-hash',
        'A plain hash stands or falls with the collision resistance of SHA-512; an HMAC does not.',
      ),
    ],
  };

const keyNotes: Readonly<Record<OrderKey, readonly Finding<SafetyNoteId>[]>> = {
  'merchant+partner': [],
  'partner+merchant': [
    note(
      'secrets-swapped',
      "The published order of the secrets fits as well if they were given in each other's place.",
      'Check which secret is which.',
    ),
  ],
  merchant: [
    note('secret-alone', 'The key is the merchant secret alone: the partner secret protects nothing.'),
  ],
  partner: [
    note(
      'secret-alone',
      'The key is the partner secret alone: the merchant secret protects nothing. That is the key of general requests (contract: Authentication 5).',
    ),
  ],
  'public+partner': [
    note('public-key', 'The public key is sent with every request: only the partner secret protects.'),
  ],
};

function textNotes({ serialization, joiner = '' }: SignatureScheme): Finding<SafetyNoteId>[] {
  const { pins, reads } = serializationRules(serialization);
  if (pins === 'pairs') {
    return [
      note(
        'field-shifting',
        'Values are not escaped: one that holds "&name=" has the signature of a body with one member more.',
        compareMembers,
      ),
      untyped,
    ];
  }
  if (pins === 'values') {
    const what =
      joiner === ''
        ? 'Nothing stands between the values: text can move from one member to the next ("1" and "23", "12" and "3") under the same signature.'
        : 'A value that holds the joiner reads like two: text can move from one member to the next under the same signature.';
    return [
      note('field-shifting', what, compareMembers),
      note('names-unsigned', 'Only values are signed: members can be renamed as long as their order stays.'),
      untyped,
    ];
  }
  return reads === 'text' ? [] : [lossy];
}

const compareMembers = 'Compare every amount, address and id with your own record of the order.';

const untyped = note(
  'types-unsigned',
  '1 and "1", and null and the empty text, have the same signature.',
  'Check the types of what you receive.',
);

const lossy = note(
  'lossy',
  'The parsed body is signed: texts that differ in the spelling of numbers, in integers beyond 2^53 or in repeated members have the same signature.',
  'Act on the parsed value only.',
);

function note(id: SafetyNoteId, what: string, advice?: string): Finding<SafetyNoteId> {
  return { id, verdict: 'weak', what, ...(advice !== undefined && { advice }) };
}
