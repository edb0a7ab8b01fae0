import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { removeSignature } from '../../src/signature/signed-body.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { codePoint } from '../support/any-text.ts';
import { hmacHex, orderKey, signedText } from '../support/bodies.ts';
import { refusal } from '../support/refusal.ts';
import { isForMutants, times } from '../support/repeat.ts';
import { growth, wellBelowQuadratic } from '../support/timing.ts';

const anyValue = fc.jsonValue({ maxDepth: 3, stringUnit: codePoint });
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
  .oneof(fc.string({ unit: codePoint }), tricky, fc.constantFrom('__proto__', 'constructor', 'toString'))
  .filter((name) => name !== 'signature');
const anyPlace = fc.nat({ max: 6 });
const anySignature = fc.oneof(fc.stringMatching(/^[0-9a-f]{128}$/), fc.string({ unit: codePoint }), tricky);

type Member = [name: string, value: unknown];

function withSignature(members: Member[], place: number, signature: string): Member[] {
  return members.toSpliced(place, 0, ['signature', signature]);
}

describe('a text without its signature is what the serializer would have written', () => {
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
      { seed: 22, numRuns: times(300, 3_000) },
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
