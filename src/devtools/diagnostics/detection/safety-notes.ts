import { serializationRules } from '../../../signature/serializations.ts';
import type { SignatureScheme } from '../../../signature/signature-scheme.ts';
import type { SafetyNote, SafetyNoteCode } from './detection.ts';

/** What users of a scheme must know about its safety. */
export function safetyNotes(scheme: SignatureScheme): SafetyNote[] {
  return [...constructionNotes(scheme), ...textNotes(scheme), ...keyNotes(scheme)];
}

function constructionNotes({ construction }: SignatureScheme): SafetyNote[] {
  switch (construction) {
    case 'hmac':
      return [];
    case 'hash-prefix':
      return [
        note(
          'length-extension',
          'SHA-512 of secret + text can be extended: who has one signed body can sign the same text with more appended, without the secret. Ask the service for an HMAC.',
        ),
      ];
    case 'hash-suffix':
      return [
        note(
          'plain-hash',
          'A plain hash stands or falls with the collision resistance of SHA-512; an HMAC does not.',
        ),
      ];
  }
}

function textNotes({ serialization, joiner = '' }: SignatureScheme): SafetyNote[] {
  const untyped = note(
    'types-unsigned',
    '1 and "1", and null and the empty text, have the same signature: check the types of what you receive.',
  );
  const { pins, reads } = serializationRules(serialization);
  const guard = 'Compare every amount, address and id with your own record of the order.';
  if (pins === 'pairs') {
    return [
      note(
        'field-shifting',
        `Values are not escaped: one that holds "&name=" has the signature of a body with one member more. ${guard}`,
      ),
      untyped,
    ];
  }
  if (pins === 'values') {
    return [
      note(
        'field-shifting',
        `${
          joiner === ''
            ? 'Nothing stands between the values: text can move from one member to the next ("1" and "23", "12" and "3") under the same signature.'
            : 'A value that holds the joiner reads like two: text can move from one member to the next under the same signature.'
        } ${guard}`,
      ),
      note('names-unsigned', 'Only values are signed: members can be renamed as long as their order stays.'),
      untyped,
    ];
  }
  if (reads === 'text') return [];
  return [
    note(
      'lossy',
      'The parsed body is signed: texts that differ in the spelling of numbers, in integers beyond 2^53 or in repeated members have the same signature. Act on the parsed value only.',
    ),
  ];
}

function keyNotes({ orderKey }: SignatureScheme): SafetyNote[] {
  if (orderKey === 'merchant' || orderKey === 'partner') {
    const unused = orderKey === 'merchant' ? 'partner' : 'merchant';
    return [
      note(
        'secret-alone',
        `The key is the ${orderKey} secret alone: the ${unused} secret protects nothing. ${
          orderKey === 'partner'
            ? 'That is the key of general requests (contract: Authentication 5): if the sample is one, say purpose "general".'
            : ''
        }`.trim(),
      ),
    ];
  }
  if (orderKey === 'public+partner') {
    return [
      note('public-key', 'The public key is sent with every request: only the partner secret protects.'),
    ];
  }
  return [];
}

function note(code: SafetyNoteCode, message: string): SafetyNote {
  return { code, message };
}
