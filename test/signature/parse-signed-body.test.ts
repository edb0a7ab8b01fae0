import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SignatureError } from '../../src/errors/errors.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import { type Encoding, schemeParts } from '../../src/signature/signature-scheme.ts';
import { parseSignedBody } from '../../src/signature/signed-body.ts';
import { checkText } from '../proof/check-text.ts';
import { foreignSpaces } from '../proof/fuzz-texts.ts';
import { encoded } from '../proof/scheme-vectors.ts';
import { codePoint } from '../support/any-text.ts';
import { times } from '../support/repeat.ts';

const anyEncoding = fc.constantFrom(...schemeParts.encoding);
const anyDigest = fc.uint8Array({ minLength: 64, maxLength: 64 }).map((bytes) => Buffer.from(bytes));
const jsonSpace = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n', '\n  ', '\r');
const anySpace = fc.oneof({ weight: 5, arbitrary: jsonSpace }, fc.constantFrom(...foreignSpaces));
/** Of objects as JavaScript has them, integer-like names included: what JSON.stringify can have written. */
const anyObject = fc
  .dictionary(
    fc.oneof(
      fc.string({ unit: codePoint }),
      fc.constantFrom('1', '10', '9', '__proto__', 'signature"', '\\u0073ignature'),
    ),
    fc.jsonValue({ maxDepth: 3, stringUnit: codePoint }),
    { maxKeys: 5 },
  )
  // Sound: the arbitraries make JSON values only.
  .map((object) => object as JsonObject)
  .filter((object) => !Object.hasOwn(object, 'signature'));

interface Outcome {
  readonly code?: string;
  readonly value?: JsonObject;
  readonly json?: string;
  readonly claimedDigest?: string;
}

function outcomeOf(text: string, encoding: Encoding): Outcome {
  try {
    const { value, json, claimedDigest } = parseSignedBody(text, encoding);
    return { value, json, claimedDigest: Buffer.from(claimedDigest).toString('hex') };
  } catch (error) {
    if (error instanceof SignatureError) return { code: error.code };
    throw error;
  }
}

/**
 * The same for a body in which the member has to be looked for: only one that is last and spelled without an escape is
 * cut off. The escape means the same letter wherever it stands, and is written back in what is left.
 */
function searchedOutcomeOf(text: string, encoding: Encoding): Outcome {
  const outcome = outcomeOf(text.replaceAll('"signature"', '"\\u0073ignature"'), encoding);
  if (outcome.json === undefined) return outcome;
  return { ...outcome, json: outcome.json.replaceAll('"\\u0073ignature"', '"signature"') };
}

describe('a body comes apart into what its serializer would have written without the signature', () => {
  it.each(['', ';', ',', ' '])(
    'only with a colon behind the name of the signature: %j is not JSON',
    (mark) => {
      const digest = 'ab'.repeat(64);
      expect(outcomeOf(`{"a":1,"signature":"${digest}"}`, 'hex').value).toEqual({ a: 1, signature: digest });
      expect(outcomeOf(`{"a":1,"signature"${mark}"${digest}"}`, 'hex')).toEqual({ code: 'body_not_json' });
    },
  );

  it('at any indentation, wherever the signature stands, in every encoding', () => {
    const indentation = fc.oneof(fc.nat({ max: 10 }), fc.constantFrom('\t', '\r\n', ' \t'));
    fc.assert(
      fc.property(
        anyObject,
        fc.nat({ max: 5 }),
        anyDigest,
        anyEncoding,
        indentation,
        (rest, place, digest, encoding, indent) => {
          const signature = encoded(digest, encoding);
          const sent = Object.fromEntries(Object.entries(rest).toSpliced(place, 0, ['signature', signature]));
          expect(outcomeOf(JSON.stringify(sent, null, indent), encoding)).toEqual({
            value: JSON.parse(JSON.stringify(sent)),
            json: JSON.stringify(rest, null, indent),
            claimedDigest: digest.toString('hex'),
          });
        },
      ),
      { seed: 31, numRuns: times(300, 3_000) },
    );
  });
});

describe('a signature that is cut off the end is the one that a search finds', () => {
  const digest = Buffer.alloc(64, 0xa7);
  const scheme = { construction: 'hmac', serialization: 'as-sent' } as const;

  /** Both ways, and JSON.parse with a second reader. */
  function expectAgreement(text: string, encoding: Encoding): void {
    expect(outcomeOf(text, encoding)).toEqual(searchedOutcomeOf(text, encoding));
    expect(checkText(text, { ...scheme, encoding }).defect).toBeUndefined();
  }

  it('with any blanks, JSON or not, in any gap around a signature that is last', () => {
    const gaps = fc.tuple(anySpace, anySpace, anySpace, anySpace, anySpace, anySpace);
    fc.assert(
      fc.property(anyObject, gaps, anyDigest, anyEncoding, (rest, [a, b, c, d, e, f], bytes, encoding) => {
        const members = JSON.stringify(rest).slice(1, -1);
        const comma = members === '' ? '' : ',';
        const signature = encoded(bytes, encoding);
        const text = `{${members}${a}${comma}${b}"signature"${c}:${d}"${signature}"${e}}${f}`;
        expectAgreement(text, encoding);
      }),
      { seed: 32, numRuns: times(300, 3_000) },
    );
  });

  const gapNames = [
    'before the comma',
    'behind it',
    'behind the name',
    'before the value',
    'behind it',
    'last',
  ];
  const blanks = foreignSpaces.flatMap((blank) =>
    gapNames.map((where, gap) => ({ where, gap, blank, code: blank.charCodeAt(0).toString(16) })),
  );

  it.each(blanks)('with U+$code $where', ({ gap, blank }) => {
    for (const encoding of schemeParts.encoding) {
      const at = (index: number) => (index === gap ? blank : '');
      const value = `"${encoded(digest, encoding)}"`;
      const text = `{"a":1${at(0)},${at(1)}"signature"${at(2)}:${at(3)}${value}${at(4)}}${at(5)}`;
      expectAgreement(text, encoding);
      expect(outcomeOf(text, encoding)).toEqual({ code: 'body_not_json' });
    }
  });

  const notJson = 'body_not_json';
  const twice = 'signature_duplicated';
  it.each([
    ['a comma first', '{,"signature":"S"}', notJson],
    ['two commas', '{"a":1,,"signature":"S"}', notJson],
    ['a comma last, with a blank', '{"a":1,"signature":"S" , }', notJson],
    ['a comma behind a name', '{"a","signature":"S"}', notJson],
    ['a nested end', '{"a":{"b":1,"signature":"S"}', notJson],
    ['an end too many', '{"a":1,"signature":"S"}}', notJson],
    ['a value cut off', '{"a":"x,"signature":"S"}', notJson],
    ['an escape before the comma', '{"a":"x\\","signature":"S"}', notJson],
    ['nothing before it', ',"signature":"S"}', notJson],
    ['no colon', '{"a":1,"signature" "S"}', notJson],
    ['no closing quote', '{"a":1,"signature":"S}', notJson],
    ['another character in its place', '{"a":1,"signature":"Sx}', notJson],
    ['no closing brace', '{"a":1,"signature":"S"', notJson],
    ['two byte order marks', '\ufeff\ufeff{"a":1,"signature":"S"}', notJson],
    ['an array around', '[{"a":1,"signature":"S"}]', 'body_not_object'],
    ['an object around', '{"body":{"a":1,"signature":"S"}}', 'signature_missing'],
    ['an array in it', '{"a":[1,{"signature":"S"}]}', 'signature_missing'],
    ['two of them', '{"signature":"S","a":1,"signature":"S"}', twice],
    ['two of them at the end', '{"a":1,"signature":"S","signature":"S"}', twice],
    ['two of them, the first not text', '{"signature":null,"a":1,"signature":"S"}', twice],
    ['two of them, one escaped', '{"signatur\\u0065":"S","a":1,"signature":"S"}', twice],
    ['two of them, the last escaped', '{"signature":"S","a":1,"signatur\\u0065":"S"}', twice],
    ['two of them, the last malformed', '{"signature":"S","signature":""}', 'signature_malformed'],
    ['one within a text before it', '{"a":"\\"signature\\":\\"S\\"","signature":"S"}', undefined],
    ['an escaped quote before the comma', '{"a":"\\"","signature":"S"}', undefined],
    ['a backslash before the comma', '{"a":"\\\\","signature":"S"}', undefined],
    ['nothing beside it', '{"signature":"S"}', undefined],
    ['an empty object before it', '{"a":{},"signature":"S"}', undefined],
  ] as const)('with %s', (_, pattern, code) => {
    for (const encoding of schemeParts.encoding) {
      const text = pattern.replaceAll('S', encoded(digest, encoding));
      expectAgreement(text, encoding);
      expect(outcomeOf(text, encoding).code).toBe(code);
    }
  });
});
