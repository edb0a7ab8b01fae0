import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findDeviations } from '../../../../src/devtools/diagnostics/mismatch/find-deviations.ts';
import { times } from '../../../support/repeat.ts';

describe('the deviations of a text', () => {
  it('are none exactly when writing it again gives the same text', () => {
    const name = fc.constantFrom('a', 'b', '1', '2', '10', '01', '4294967295', '__proto__', 'é');
    const literal = fc.constantFrom(
      '1',
      '10.0',
      '1e2',
      '-0',
      '9007199254740993',
      'null',
      '"é"',
      '"\\u00e9"',
      '"\\/"',
      '1e21',
      '1e+21',
      '1E400',
      '0.1',
    );
    const object = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, literal, tie('object'), tie('array')),
      object: fc
        .array(fc.tuple(name, tie('value')), { maxLength: 4 })
        .map((members) => `{${members.map(([key, value]) => `"${key}":${value}`).join(',')}}`),
      array: fc.array(tie('value'), { maxLength: 3 }).map((elements) => `[${elements.join(',')}]`),
    })).object;
    fc.assert(
      fc.property(
        fc.oneof(
          object,
          fc.json(),
          fc.jsonValue().map((value) => JSON.stringify(value, null, 1)),
        ),
        (text) => {
          const same = JSON.stringify(JSON.parse(text)) === text;
          expect(findDeviations(text).length === 0).toBe(same);
        },
      ),
      { numRuns: times(500, 2_000) },
    );
  });

  it.each([
    ['{"a": 1}', 'white-space', 5],
    ['{"a":10.0}', 'number-spelling', 5],
    ['{"a":1e2}', 'number-spelling', 5],
    ['{"a":-0}', 'number-spelling', 5],
    ['{"a":9007199254740993}', 'number-precision', 5],
    ['{"a":"\\/"}', 'string-escape', 5],
    ['{"a":"\\u00E9"}', 'string-escape', 5],
    ['{"a":1,"7":2}', 'index-order', 7],
    ['{"10":1,"7":2}', 'index-order', 8],
    ['{"a":1,"a":2}', 'repeated-member', 7],
    ['{"a":[{"b":1,"b":2}],"c":1}', 'repeated-member', 13],
  ])('say what and where: %s is %s at %i', (text, code, offset) => {
    expect(findDeviations(text)).toMatchObject([{ code, offset, count: 1 }]);
  });

  it('are counted where they are alike', () => {
    expect(findDeviations('{"a":10.0,"b":20.00,"c":1e2}')).toMatchObject([
      { code: 'number-spelling', offset: 5, count: 2 },
      { code: 'number-spelling', offset: 24, count: 1 },
    ]);
  });

  it('never show a value', () => {
    const text = '{"account":"0123456789\\/", "amount":98765.430, "98":1}';
    const printed = JSON.stringify(findDeviations(text).map(({ description }) => description));
    for (const value of ['account', '0123', '98765', '"98"']) expect(printed).not.toContain(value);
  });

  it('of deep nesting take no stack', () => {
    const text = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(findDeviations(text)).toEqual([]);
  });
});
