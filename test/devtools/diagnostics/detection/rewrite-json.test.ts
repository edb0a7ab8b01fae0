import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  javascriptNumber,
  phpNumber,
  pythonNumber,
  rewriteJson,
} from '../../../../src/devtools/diagnostics/detection/json-spellings.ts';
import { jsonTokens } from '../../../../src/internal/json-tokens.ts';

// json.dumps(json.loads(literal)), Python 3.
const python: [literal: string, written: string][] = [
  ['1e-7', '1e-07'],
  ['1.0', '1.0'],
  ['1e2', '100.0'],
  ['1e15', '1000000000000000.0'],
  ['1e16', '1e+16'],
  ['0.0001', '0.0001'],
  ['0.00001', '1e-05'],
  ['-0', '0'],
  ['-0.0', '-0.0'],
  ['1e22', '1e+22'],
  ['123456789012345678901234567890', '123456789012345678901234567890'],
  ['1.5e300', '1.5e+300'],
  ['12345678901234567.0', '1.2345678901234568e+16'],
  ['0.1e1', '1.0'],
  ['-2.50', '-2.5'],
];

describe('numbers are written as', () => {
  it.each(python)('Python writes %s: %s', (literal, written) => {
    expect(pythonNumber(literal)).toBe(written);
  });

  it.each([
    ['10.0', '10'],
    ['1e-7', '1.0e-7'],
    ['1.5e-7', '1.5e-7'],
    ['0.0001', '0.0001'],
    ['1e25', '1.0e+25'],
    ['15000.50', '15000.5'],
    ['9007199254740993', '9007199254740993'],
  ])('PHP writes %s: %s', (literal, written) => {
    expect(phpNumber(literal)).toBe(written);
  });

  it('JavaScript writes them', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        expect(javascriptNumber(number.toExponential())).toBe(JSON.stringify(number));
      }),
    );
  });
});

describe('a text in another spelling', () => {
  it('is what JSON.stringify writes, from any indentation', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1, 4, '\t'), (value, indent) => {
        const compact = JSON.stringify(value);
        const spelling = { comma: ',', colon: ':', number: javascriptNumber, quote: JSON.stringify };
        expect(rewriteJson(JSON.stringify(value, null, indent), spelling)).toBe(compact);
      }),
    );
  });

  it('is itself when nothing is asked for', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(rewriteJson(text, {})).toBe(text);
        expect([...jsonTokens(text)].map((token) => token.text).join('')).toBe(text);
      }),
    );
  });
});
