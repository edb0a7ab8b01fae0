import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/internal/json.ts';
import { findElement, findMembers } from '../../src/internal/json-scanner.ts';
import { codePoint } from '../support/any-text.ts';
import { times } from '../support/repeat.ts';
import { growth, wellBelowQuadratic } from '../support/timing.ts';
import { seeded, writeLoosely } from './loose-json.ts';

const anyJson = fc.jsonValue({ maxDepth: 4, stringUnit: codePoint }).map((value) => value as JsonValue);
/** Names as the contract has them, short so that they occur often and resemble each other. */
const plainName = fc.stringMatching(/^[sig_1]{0,4}$/);
const anyName = fc.oneof(
  { weight: 3, arbitrary: plainName },
  { weight: 1, arbitrary: fc.string({ unit: codePoint, maxLength: 4 }) },
);
const anyObject = fc.dictionary(anyName, anyJson, { maxKeys: 8 }).map((value) => value as JsonObject);
const anySeed = fc.integer();

function slice(text: string, span: { start: number; end: number } | undefined): unknown {
  return span && JSON.parse(text.slice(span.start, span.end));
}

describe('the members of a name', () => {
  it('are those that JSON.parse sees, in any spelling of text and name', () => {
    fc.assert(
      fc.property(anyObject, plainName, anySeed, (value, name, seed) => {
        const text = writeLoosely(value, seeded(seed));
        const found = findMembers(text, name).map((member) => slice(text, member.value));
        expect(found).toEqual(Object.hasOwn(JSON.parse(text), name) ? [JSON.parse(text)[name]] : []);
      }),
      { seed: 11, numRuns: times(600, 2_000) },
    );
  });

  it('are found each, in order, when the name is repeated', () => {
    const text = '{"a":1,"b":{"a":2},"\\u0061":3,"a":[4]}';
    expect(findMembers(text, 'a').map((member) => slice(text, member.value))).toEqual([1, 3, [4]]);
  });

  it.each([
    ['a longer name', '{"signatures":1}'],
    ['another case behind an escape', '{"\\u0053ignature":1}'],
    ['an escaped backslash before the escape', '{"\\\\u0073ignature":1}'],
    ['a letter that looks alike', '{"\\u0455ignature":1}'],
    ['a nested member', '{"a":{"signature":1},"b":[{"signature":1}]}'],
    ['a value', '{"a":"signature","b":["signature"]}'],
  ])('are not %s', (_, text) => {
    expect(findMembers(text, 'signature')).toEqual([]);
  });
});

describe('an element', () => {
  it('is the one that JSON.parse sees at its index', () => {
    fc.assert(
      fc.property(fc.array(anyJson, { minLength: 1, maxLength: 6 }), anySeed, (value, seed) => {
        const text = writeLoosely(value, seeded(seed));
        const found = value.map((_, index) => slice(text, findElement(text, index)));
        expect(found).toEqual(JSON.parse(text));
      }),
      { seed: 14, numRuns: times(300, 1_000) },
    );
  });

  it.each([
    ['in an empty array', '[]', 0],
    ['one past the end', '[1,2]', 2],
    ['before the first', '[1,2]', -1],
  ])('is undefined %s', (_, text, index) => {
    expect(findElement(text, index)).toBeUndefined();
  });
});

describe('the scan takes linear time over', () => {
  const fill = (piece: string) => (size: number) => piece.repeat(Math.ceil(size / piece.length));
  const inObject =
    (piece: string, open = '{"a":"', close = '"}') =>
    (size: number) =>
      open + fill(piece)(size) + close;
  const nested = (open: string, close: string) => (size: number) =>
    `{"a":${open.repeat(size / 2)}1${close.repeat(size / 2)}}`;

  it.each([
    ['escaped quotes', inObject('\\"')],
    ['escaped names', inObject('\\u0073ignature')],
    ['members almost of the name', inObject('"\\u0073\\u0069gnaturE":1,', '{', '"a":1}')],
    ['white space', inObject(' \t\r\n', '{"a":', '1}')],
    ['nested arrays', nested('[', ']')],
    ['raw quotes, which are not JSON', fill('"')],
    ['raw backslashes, which are not JSON', inObject('\\', '{"', '')],
    ['white space alone, which is not JSON', fill(' ')],
  ])('%s', (_, makeText) => {
    const scan = (text: string) => [findMembers(text, 'signature'), findElement(text, 2 ** 31)];
    expect(growth(makeText, scan)).toBeLessThan(wellBelowQuadratic);
  });
});
