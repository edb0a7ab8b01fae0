import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/internal/json.ts';
import { removeSignature } from '../../src/signature/signed-body.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { seeded, writeLoosely } from '../internal/loose-json.ts';
import { hmacHex, orderKey, signedText } from '../support/bodies.ts';
import { refusal } from '../support/refusal.ts';
import { isForMutants, times } from '../support/repeat.ts';
import { growth, wellBelowQuadratic } from '../support/timing.ts';

const anyValue = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' });
const tricky = fc.constantFrom(
  'signature',
  '"signature"',
  '"signature":"x",',
  '\\u0073ignature',
  ',',
  '{',
  '',
);
const anyName = fc
  .oneof(fc.string({ unit: 'binary' }), tricky, fc.constantFrom('__proto__', 'constructor', 'toString'))
  .filter((name) => name !== 'signature');
/** Members in an order that an object can have: JavaScript lists integer-like names first. */
const anyMembers = fc
  .dictionary(anyName, fc.oneof(anyValue, tricky), { maxKeys: 6 })
  .map((object) => Object.entries(object).filter(([name]) => !/^\d+$/.test(name)));
const anyPlace = fc.nat({ max: 6 });
const anySignature = fc.oneof(fc.stringMatching(/^[0-9a-f]{128}$/), fc.string({ unit: 'binary' }), tricky);

type Member = [name: string, value: unknown];

function withSignature(members: Member[], place: number, signature: string): Member[] {
  return members.toSpliced(place, 0, ['signature', signature]);
}

describe('a text without its signature is what the serializer would have written', () => {
  it('at any indentation, wherever the signature stood', () => {
    const indentation = fc.oneof(fc.nat({ max: 10 }), fc.constantFrom('\t', ' \t', '    \t'));
    fc.assert(
      fc.property(anyMembers, anyPlace, anySignature, indentation, (members, place, signature, indent) => {
        const sent = Object.fromEntries(withSignature(members, place, signature));
        expect(removeSignature(JSON.stringify(sent, null, indent))).toBe(
          JSON.stringify(Object.fromEntries(members), null, indent),
        );
      }),
      { seed: 21, numRuns: times(700, 3_000) },
    );
  });

  it('with any separators, also with integer-like and repeated names', () => {
    const separators = fc.constantFrom([',', ':'], [', ', ': '], [' , ', ' : '], [',\n', ':'], [' ,', ': ']);
    const members = fc.array(
      fc.tuple(fc.oneof(anyName, fc.constantFrom('1', '10', '0')), fc.oneof(anyValue, tricky)),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(members, anyPlace, anySignature, separators, (rest, place, signature, [item, colon]) => {
        const write = (list: Member[]) =>
          `{${list.map(([name, value]) => `${JSON.stringify(name)}${colon}${JSON.stringify(value)}`).join(item)}}`;
        expect(removeSignature(write(withSignature(rest, place, signature)))).toBe(write(rest));
      }),
      { seed: 22, numRuns: times(700, 3_000) },
    );
  });

  it.each([
    ['last', '{"a":1,"signature":"x"}', '{"a":1}'],
    ['first', '{"signature":"x", "a":1}', '{"a":1}'],
    ['first, with space inside the braces', '{ "signature": "x", "a": 1 }', '{ "a": 1 }'],
    ['last, with space inside the braces', '{ "a": 1, "signature": "x" }', '{ "a": 1 }'],
    ['in the middle', '{"a":1,"signature":"x","b":2}', '{"a":1,"b":2}'],
    ['in the middle of padded commas', '{"a":1 , "signature":"x" , "b":2}', '{"a":1 , "b":2}'],
    ['alone', '{"signature":"x"}', '{}'],
    ['alone, pretty-printed', '{\n  "signature": "x"\n}', '{}'],
    ['with white space around the object', ' {"a":1,"signature":"x"}\n', ' {"a":1}\n'],
  ])('%s', (_, text, expected) => {
    expect(removeSignature(text)).toBe(expected);
  });
});

describe('removing the signature', () => {
  it('leaves a text that parses to the rest, however it was written', () => {
    fc.assert(
      fc.property(anyMembers, anyPlace, anySignature, fc.integer(), (members, place, signature, seed) => {
        // Sound: the arbitraries make JSON values only.
        const sent = Object.fromEntries(withSignature(members, place, signature)) as JsonObject;
        const { signature: _, ...rest } = JSON.parse(writeLoosely(sent, seeded(seed)));
        expect(JSON.parse(removeSignature(writeLoosely(sent, seeded(seed))))).toEqual(rest);
      }),
      { seed: 23, numRuns: times(300, 1_000) },
    );
  });

  // The same length and the same meaning; only the second has what could mislead a search.
  it.each([
    ['an escape', '"pad":"AAAAAA"', '"pad":"\\u0041"'],
    ['the word as a value', '"pad":"signaturX"', '"pad":"signature"'],
    ['a nested signature', '"pad":{"signaturX":"y"}', '"pad":{"signature":"y"}'],
    ['the word inside a string', '"pad":"\\"signaturX\\""', '"pad":"\\"signature\\""'],
  ])('finds the same member beside what resembles it: %s', (_, plain, marked) => {
    const plainMembers = fc
      .array(
        fc.tuple(fc.stringMatching(/^[a-z]{1,5}$/), fc.oneof(fc.integer(), fc.boolean(), fc.constant('t'))),
        {
          maxLength: 4,
        },
      )
      .map((members) => members.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`));
    fc.assert(
      fc.property(plainMembers, anyPlace, anyPlace, (members, padPlace, place) => {
        const text = (pad: string) =>
          `{ ${members.toSpliced(padPlace, 0, pad).toSpliced(place, 0, '"signature" : "x"').join(' , ')} }`;
        const expected = removeSignature(text(plain)).replace(plain, () => marked);
        expect(removeSignature(text(marked))).toBe(expected);
      }),
      { seed: 24, numRuns: times(200, 500) },
    );
  });

  it.each([
    ['spelled alike', '{"signature":"x","signature":"x"}'],
    ['one behind an escape', '{"signature":"x","\\u0073ignature":"x"}'],
  ])('is refused for two signatures %s', (_, text) => {
    expect(refusal(() => removeSignature(text))).toBe('SignatureError signature_duplicated');
  });
});

describe.skipIf(isForMutants)('verifying takes linear time over', () => {
  const repeated = (piece: string, open: string, close: string) => (size: number) =>
    signedText(open + piece.repeat(Math.ceil(size / piece.length)) + close);

  it.each([
    ['an honest text', repeated('{"id":12345,"name":"Ada"},', '{"a":[', '0]}')],
    ['escaped quotes', repeated('\\"', '{"a":"', '"}')],
    ['escaped backslashes', repeated('\\\\', '{"a":"', '"}')],
    ['the name in a string', repeated('\\"signature\\":', '{"a":"', '"}')],
    ['the name behind escapes', repeated('"\\u0073ignatura":1,', '{', '"a":1}')],
    ['nested signatures', repeated('{"signature":"x"},', '{"a":[', '0]}')],
    ['white space', repeated(' \t\r\n', '{"a":', '1}')],
    [
      'white space before the signature',
      (size: number) => `{"a":1,${' \t\r\n'.repeat(size / 4)}"signature":"${hmacHex('{"a":1}')}"}`,
    ],
    ['brackets', (size: number) => signedText(`{"a":${'['.repeat(size / 2)}${']'.repeat(size / 2)}}`)],
  ])('%s', (_, makeText) => {
    const verify = (text: string) => verifyBody(text, { key: orderKey });
    expect(growth(makeText, verify)).toBeLessThan(wellBelowQuadratic);
  });

  it('a body of signatures alone, which is refused', () => {
    const member = `"signature":"${hmacHex('{}')}"`;
    const makeText = (size: number) => `{${`${member},`.repeat(size / member.length)}${member}}`;
    const verify = (text: string) => refusal(() => verifyBody(text, { key: orderKey }));
    expect(growth(makeText, verify)).toBeLessThan(wellBelowQuadratic);
  });
});
