import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/internal/json.ts';
import { decimalDigits, decimalLiteral } from '../../src/internal/json-scanner.ts';
import { seeded, writeLoosely } from '../internal/loose-json.ts';

describe('a number is read exactly as it is written', () => {
  it.each([
    '15000.10',
    '15000',
    '0',
    '-0',
    '-0.00',
    '1e2',
    '1E+2',
    '1.50e-7',
    '9007199254740993',
    '12345678901234567890',
    '0.30000000000000004441',
    '1e999',
  ])('%s', (literal) => {
    expect(decimalLiteral(`{"a":"x","n":${literal}}`, 'n')).toBe(literal);
    expect(decimalLiteral(`{ "n" : ${literal} , "a" : 1 }`, 'n')).toBe(literal);
    expect(decimalLiteral(`{\n\t"n":\t${literal}\r\n}\n`, 'n')).toBe(literal);
  });

  it.each([
    ['a nested member', '{"meta_data":{"fee":100.00},"fee":1}', ['meta_data', 'fee'], '100.00'],
    ['an element', '{"a":[1.0,2.00,3.000]}', ['a', 1], '2.00'],
    ['the last element', '{"a":[1.0,2.00,3.000]}', ['a', 2], '3.000'],
    ['a member of an element', '{"a":[{"n":1},{"m":3,"n":2.0}]}', ['a', 1, 'n'], '2.0'],
    ['an element of an element', '[[1],[2,3.0]]', [1, 1], '3.0'],
    ['after an empty array', '{"a":[[],5.0]}', ['a', 1], '5.0'],
    ['the whole text', ' 1.50 ', [], '1.50'],
    ['the last of repeated members, as JSON.parse reads it', '{"n":1.0,"n":2.0}', 'n', '2.0'],
    ['the last of repeated objects', '{"o":{"n":1.0},"o":{"n":2.0}}', ['o', 'n'], '2.0'],
    ['a name spelled with escapes', '{"\\u006e":1.0}', 'n', '1.0'],
    ['a name beyond ASCII', '{"montant_é":1.0}', 'montant_é', '1.0'],
    ['a name beyond ASCII, escaped', '{"montant_\\u00e9":1.0}', 'montant_é', '1.0'],
    ['a name called __proto__', '{"__proto__":1.0}', '__proto__', '1.0'],
    ['an empty name', '{"":1.0}', '', '1.0'],
    ['a name like an index', '{"0":1.0}', '0', '1.0'],
    ['a name with a slash', '{"a/b":1.0}', 'a/b', '1.0'],
  ])('at a path: %s', (_, text, path, literal) => {
    expect(decimalLiteral(text, path)).toBe(literal);
  });

  it.each([
    ['a slash', '{"a\\/b":1.0}', 'a/b'],
    ['a quote', '{"a\\"b":1.0}', 'a"b'],
    ['a backslash', '{"a\\\\b":1.0}', 'a\\b'],
    ['a line break', '{"a\\nb":1.0}', 'a\nb'],
  ])('at a name in which the text escapes %s', (_, text, name) => {
    expect(decimalLiteral(text, name)).toBe('1.0');
  });
});

describe('there is no literal', () => {
  it.each([
    ['of a missing member', '{"a":1}', 'n'],
    ['of a member that is only nested', '{"a":{"n":1}}', 'n'],
    ['of a name in another case', '{"N":1}', 'n'],
    ['of a string', '{"n":"1.0"}', 'n'],
    ['of true', '{"n":true}', 'n'],
    ['of null', '{"n":null}', 'n'],
    ['of an object', '{"n":{"a":1}}', 'n'],
    ['of an array', '{"n":[1]}', 'n'],
    ['of the last repeated member, when it is no number', '{"n":1,"n":"x"}', 'n'],
    ['below a number', '{"n":1}', ['n', 'a']],
    ['below a string', '{"n":"{\\"a\\":1}"}', ['n', 'a']],
    ['at an index of an object', '{"0":1}', [0]],
    ['at a name that is an element of an array', '{"a":["n",5]}', ['a', 'n']],
    ['at a name of an array', '[1]', ['0']],
    ['at an inherited name', '{"n":1}', 'toString'],
    ['of an array that is empty', '{"a":[]}', ['a', 0]],
    ['at a negative index', '[1]', [-1]],
    ['of a name whose spelling in the text is what was asked for', '{"a\\nb":1.0}', 'a\\nb'],
  ])('%s', (_, text, path) => {
    expect(decimalLiteral(text, path)).toBeUndefined();
  });

  it.each([
    ['one past the end of an array', '[[1,2],7,8]', [0, 2]],
    ['two past the end of an array', '[[1,2],7,8]', [0, 3]],
    ['past the end, where the next member is a number', '{"a":[1],"fee":5}', ['a', 3]],
  ])('of what follows an array: %s', (_, text, path) => {
    expect(decimalLiteral(text, path)).toBeUndefined();
  });

  it('that is longer than 100 characters', () => {
    const longest = `1.${'0'.repeat(98)}`;
    expect(decimalLiteral(`{"n":${longest}}`, 'n')).toBe(longest);
    expect(decimalLiteral(`{"n":${longest}0}`, 'n')).toBeUndefined();
    expect(decimalLiteral(`{"n":${'9'.repeat(300)}e-5}`, 'n')).toBeUndefined();
  });

  it.each(['', ' ', 'n', '{"n":1', '{"n":01}', '{n:1}', '\uFEFF{"n":1}', "{'n':1}", '{"n":1}}', '{"n":+1}'])(
    'in a text that is not JSON: %j',
    (text) => {
      expect(decimalLiteral(text, 'n')).toBeUndefined();
    },
  );
});

describe('any number in any JSON', () => {
  it('is read at the value that JSON.parse gives it', () => {
    const anyName = fc.stringMatching(/^[a-c_1]{1,2}$/);
    const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
        fc.constantFrom<JsonValue>('1', null, true),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(anyName, tie('tree'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(tree, fc.integer(), (value, seed) => {
        const text = writeLoosely(value, seeded(seed));
        for (const { path, found } of leaves(value)) {
          const literal = decimalLiteral(text, path);
          expect(literal).toBe(typeof found === 'number' ? JSON.stringify(found) : undefined);
        }
      }),
      { seed: 31, numRuns: 1_000 },
    );
  });
});

function leaves(
  value: JsonValue,
  path: (string | number)[] = [],
): { path: (string | number)[]; found: unknown }[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => leaves(item, [...path, index]));
  if (typeof value !== 'object' || value === null) return [{ path, found: value }];
  return Object.entries(value).flatMap(([name, member]) => leaves(member, [...path, name]));
}

describe('plain digits', () => {
  it.each([
    ['1E-07', '0.0000001'],
    ['-1.50e-3', '-0.00150'],
    ['1e2', '100'],
    ['1.2345e2', '123.45'],
    ['12.5e+3', '12500'],
    ['12.5e0', '12.5'],
    ['0.05e2', '5'],
    ['0.05e1', '0.5'],
    ['-0e5', '-0'],
    ['0.000e999999999', '0'],
    ['9007199254740993', '9007199254740993'],
    ['15000.10', '15000.10'],
    ['1e99', `1${'0'.repeat(99)}`],
  ])('of %s are %s, as a number and as text', (written, plain) => {
    expect(decimalDigits(`{"a":${written}}`, 'a')).toBe(plain);
    expect(decimalDigits(`{"a":"${written}"}`, 'a')).toBe(plain);
  });

  it.each(['1e100', '-1e99', '1e-99', '1e999999999', '1e-999999999999999999999'])(
    'are not more than 100: %s',
    (written) => {
      expect(decimalDigits(`{"a":${written}}`, 'a')).toBeUndefined();
    },
  );

  it('have the value of the number, and no exponent', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
        fc.integer({ min: -60, max: 60 }),
        (units, exponent) => {
          const digits = decimalDigits(`[${units}e${exponent}]`, [0]) ?? '';
          expect(digits).toMatch(/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/);
          const [whole = '', fraction = ''] = digits.split('.');
          const scale = 60n - BigInt(fraction.length);
          expect(BigInt(whole + fraction) * 10n ** scale).toBe(units * 10n ** BigInt(60 + exponent));
        },
      ),
    );
  });
});
