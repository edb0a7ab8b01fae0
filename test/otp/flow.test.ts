import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeCode, readTypedCode } from '../../src/otp/flow.ts';
import { anyText } from '../support/any-text.ts';

/** Digits 0 to 9 of every numbering system that is written with decimal digits, as ICU has them. */
const numberingSystems = Intl.supportedValuesOf('numberingSystem').flatMap((name) => {
  const format = new Intl.NumberFormat(`en-u-nu-${name}`, { useGrouping: false });
  const digits = Array.from({ length: 10 }, (_, value) => format.format(value));
  return digits.every((digit) => /^\p{Nd}$/u.test(digit)) ? [{ name, digits }] : [];
});

describe('a code that is made', () => {
  it('takes each digit from 25 bytes, and none from a byte that would favour some', () => {
    const digits = Array.from({ length: 256 }, (_, byte) => {
      const rest = [byte, 0, 0, 0, 0, 0, 0];
      return makeCode(6, (count) => Uint8Array.from(rest.splice(0, count)))[0];
    });
    const usable = digits.slice(0, 250);
    expect(usable).toEqual(usable.map((_, byte) => String(byte % 10)));
    // The zero behind it.
    expect(digits.slice(250)).toEqual(['0', '0', '0', '0', '0', '0']);
    const bytes = [254, 7, 0, 249, 8, 1, 0, 0, 2, 0, 0, 0];
    expect(makeCode(6, (count) => Uint8Array.from(bytes.splice(0, count)))).toBe('709810');
  });

  it('is not waited for in vain if the source of random bytes is broken', () => {
    expect(() => makeCode(6, (bytes) => new Uint8Array(bytes).fill(255))).toThrow('broken');
    expect(() => makeCode(6, () => new Uint8Array(0))).toThrow('broken');
  });
});

describe('a code that is typed in', () => {
  it.each([
    ['493021', '493021'],
    [' 493 021 ', '493021'],
    ['493-021', '493021'],
    ['493–021', '493021'],
    ['\u200e493\u200b021\u202c', '493021'],
    ['٤٩٣٠٢١', '493021'],
    ['４９３０２１', '493021'],
    ['4٩3०２1', '493021'],
  ])('as %j is %s', (typed, code) => {
    expect(readTypedCode(typed, 6)).toBe(code);
  });

  it.each([
    ...['O93021', '49302l', '4930.21', 'four', 'null', '', ' ', '49302', '4930210', '493021 or 493022'],
    ...['Your code: 493021', `${' '.repeat(1_000)}493021`],
  ])('as %j is no code', (typed) => {
    expect(readTypedCode(typed, 6)).toBeUndefined();
  });

  it('is read in the digits of every script that has ten', () => {
    expect(numberingSystems.length).toBeGreaterThan(50);
    for (const { name, digits } of numberingSystems)
      expect([name, readTypedCode(digits.join(''), 10)]).toEqual([name, '0123456789']);
  });

  it('is itself however blanks and dashes are put between its digits', () => {
    const code = fc.stringMatching(/^\d{6,10}$/);
    const filler = fc.constantFrom('', ' ', '-', '–', '\t', '\u00a0', '\u2009', '\u200b');
    fc.assert(
      fc.property(code, fc.array(filler, { minLength: 11, maxLength: 11 }), (digits, fillers) => {
        const typed = [...digits].map((digit, place) => digit + (fillers[place] ?? '')).join('');
        expect(readTypedCode((fillers[10] ?? '') + typed, digits.length)).toBe(digits);
      }),
    );
  });

  it('of any text never throws', () => {
    fc.assert(fc.property(anyText, (text) => /^(?:\d{6}|undefined)$/.test(String(readTypedCode(text, 6)))));
  });
});
