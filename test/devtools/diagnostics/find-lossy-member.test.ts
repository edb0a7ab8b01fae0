import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findLossyMember, isExactNumber } from '../../../src/devtools/diagnostics/find-lossy-member.ts';

describe('findLossyMember', () => {
  it.each([
    ['{"a":12345678901234567890}', ['a']],
    ['{"a":9007199254740993}', ['a']],
    ['{"x":{"y":[1,0.12345678901234567891]}}', ['x', 'y', 1]],
    ['{"a":1e999}', ['a']],
    ['{"a":1e-999}', ['a']],
    ['{"a":-0}', ['a']],
    ['{"a":-0.0e5}', ['a']],
    ['{"a":1,"a":1}', ['a']],
    ['{"a":1,"b":{"c":1,"\\u0063":2}}', ['b', 'c']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
  ])('names the member of %s', (text, path) => {
    expect(findLossyMember(text)?.path).toEqual(path);
  });

  it.each([
    '{"a":10.0,"b":1e2,"c":15000.50,"d":0.1,"e":9007199254740992,"f":0.0,"g":1e23}',
    '{"a":{"a":{"a":"12345678901234567890"}},"b":[{"a":1},{"a":1}]}',
    '{"2":true,"1":null," ":false,"":[]}',
    '{"a":1.7976931348623157e308,"b":5e-324}',
  ])('keeps quiet about %s, whose value stays', (text) => {
    expect(findLossyMember(text)).toBeUndefined();
  });

  it('holds the number that JSON.stringify writes for exact', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        expect(isExactNumber(JSON.stringify(number))).toBe(true);
      }),
    );
  });

  it('is right about every integer that JSON.stringify writes in full', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n - 10n ** 21n, max: 10n ** 21n - 1n }), (integer) => {
        expect(isExactNumber(String(integer))).toBe(JSON.stringify(Number(integer)) === String(integer));
      }),
    );
  });
});
