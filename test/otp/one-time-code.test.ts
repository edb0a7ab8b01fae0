import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeCode, readTypedCode } from '../../src/otp/flow.ts';
import { timeOf } from '../support/timing.ts';

/** Digits 0 to 9 of every numbering system that is written with decimal digits, as ICU has them. */
const numberingSystems = Intl.supportedValuesOf('numberingSystem').flatMap((name) => {
  const format = new Intl.NumberFormat(`en-u-nu-${name}`, { useGrouping: false });
  const digits = Array.from({ length: 10 }, (_, value) => format.format(value));
  return digits.every((digit) => /^\p{Nd}$/u.test(digit)) ? [{ name, digits }] : [];
});

const codes = 100_000;
/** What chi-square passes once in a hundred million runs with a fair source: 9 and 99 degrees of freedom. */
const mostOfTen = 55.4;
const mostOfHundred = 199.2;

describe('a code that is made', () => {
  it.each([6, 7, 8, 9, 10])('has %i digits', (length) => {
    for (let round = 0; round < 100; round++) {
      expect(makeCode(length, randomBytes)).toMatch(new RegExp(`^\\d{${length}}$`));
    }
  });

  it('may begin with zeros', () => {
    expect(makeCode(6, (bytes) => new Uint8Array(bytes))).toBe('000000');
  });

  it('takes no digit from a byte that would favour some', () => {
    const bytes = [255, 254, 253, 252, 251, 250, 249, 0, 248, 10, 20, 31];
    const random = (count: number) => Uint8Array.from(bytes.splice(0, count));
    expect(makeCode(6, random)).toBe('908001');
  });

  it('has each digit equally often, at each place and in all, and pairs of digits too (chi-square)', () => {
    const places = Array.from({ length: 6 }, () => new Array<number>(10).fill(0));
    const pairs = new Array<number>(100).fill(0);
    for (let made = 0; made < codes; made++) {
      const digits = [...makeCode(6, randomBytes)].map(Number);
      digits.forEach((digit, place) => {
        add(places[place] ?? [], digit);
      });
      add(pairs, (digits[0] ?? 0) * 10 + (digits[1] ?? 0));
    }
    const all = places.reduce((sum, counts) => sum.map((count, digit) => count + (counts[digit] ?? 0)));
    for (const counts of [...places, all]) expect(chiSquare(counts)).toBeLessThan(mostOfTen);
    expect(chiSquare(pairs)).toBeLessThan(mostOfHundred);
  });

  it('would not pass that test if bytes were taken modulo ten', () => {
    const all = new Array<number>(10).fill(0);
    for (const byte of randomBytes(codes * 6)) add(all, byte % 10);
    expect(chiSquare(all)).toBeGreaterThan(mostOfTen);
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
    ['4 9 3 0 2 1\n', '493021'],
    ['493\u00a0021', '493021'],
    ['\u200e493\u200b021\u202c', '493021'],
    ['٤٩٣٠٢١', '493021'],
    ['४९३०२१', '493021'],
    ['４９３０２１', '493021'],
    ['𝟒𝟗𝟑𝟎𝟐𝟏', '493021'],
    ['4٩3०２1', '493021'],
    ['493021 is your code. It is valid for 10 minutes: tell it to nobody.', '493021'],
    ['Your code: 493 021\nValid until 12:30', '493021'],
    ['G-493021', '493021'],
    ['493-021 ist Ihr Code (10 Minuten)', '493021'],
    ['Call +234 801 234 5678. 493021', '493021'],
    ['493021, again: 493021', '493021'],
    ['493021;', '493021'],
    ['رمزك هو ٤٩٣٠٢١، صالح لمدة ١٠ دقائق', '493021'],
  ])('as %j is %s', (typed, code) => {
    expect(readTypedCode(typed, 6)).toBe(code);
  });

  it.each([
    ...['O93021', '49302l', '4930.21', 'four', 'null', '', ' ', '49302', '4930210'],
    // Nobody can tell which.
    ...['493021 or 493022', 'Your code: 493 021 or 493 022', `${' '.repeat(1_000)}493021`],
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

  it('of any text never throws, and never takes long', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) =>
        /^(?:\d{6}|undefined)$/.test(String(readTypedCode(text, 6))),
      ),
    );
    const long = '٤'.repeat(10_000_000);
    expect(timeOf(() => readTypedCode(long, 6))).toBeLessThan(100);
  });
});

/** How far counts are from all being equal. */
function chiSquare(counts: readonly number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

function add(counts: number[], value: number): void {
  counts[value] = (counts[value] ?? 0) + 1;
}
