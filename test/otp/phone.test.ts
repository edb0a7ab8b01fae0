import * as fc from 'fast-check';
import { parsePhoneNumberFromString as parseAny } from 'libphonenumber-js/max';
import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  getExampleNumber,
} from 'libphonenumber-js/mobile';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import { isValidationError } from '../../src/errors/errors.ts';
import { normalizePhone } from '../../src/otp/phone.ts';
import { anyText } from '../support/any-text.ts';
import { refusal, thrownBy } from '../support/refusal.ts';
import { some, times } from '../support/repeat.ts';

describe('normalizePhone', () => {
  it.each([
    ['+2348012345678', '+2348012345678'],
    [' +234 801 234 5678 ', '+2348012345678'],
    ['+234 (0)801-234-5678', '+2348012345678'],
    ['＋２３４８０１２３４５６７８', '+2348012345678'],
    ['+٢٣٤٨٠١٢٣٤٥٦٧٨', '+2348012345678'],
    ['\u202a+234\u00a0801\u00a0234\u00a05678\u202c', '+2348012345678'],
    ['+55 34 3123 4567', '+553431234567'],
    ['+1 (415) 555-2671', '+14155552671'],
    ['00234 801 234 5678', '+2348012345678'],
    ['(00) 234-801-234-5678', '+2348012345678'],
  ])('%j is %s', (text, number) => {
    expect(normalizePhone(text)).toBe(number);
  });

  it.each([
    ...['', '+', '0801 234 5678', '2348012345678', '0002348012345678', '+234801', '+234801234567890123'],
    ...['+974 0 3312 3456', '+234 (0)0 801 234 5678', '+44 00 7123 45678', '+39 06 1234 5678'],
    ...['+9990000000', 'call +2348012345678', '+2348012345678 or +2348012345679', '+2348012345678 ext. 5'],
    ...['+234801234567O', 'javascript:alert(1)', `+234${' '.repeat(100)}8012345678`, '+2348012345678;ext=5'],
  ])('%j is refused, and not repeated', (text) => {
    const error = thrownBy(() => normalizePhone(text));
    expect(isValidationError(error) && error.message).toMatch(
      /^normalizePhone: to_phone: must be a phone number/,
    );
    expect(isValidationError(error) && error.message).not.toMatch(/\d/);
  });

  it('refuses what is no text, and a country that there is not', () => {
    // What a JavaScript caller may pass.
    expect(refusal(() => normalizePhone(2348012345678 as unknown as string))).toBe(
      'ValidationError invalid_input',
    );
    expect(refusal(() => normalizePhone('0801', { country: 'Nigeria' }))).toBe(
      'ConfigurationError invalid_option',
    );
  });

  it.each([
    ['0055 34 99123-4567', 'BR', '+5534991234567'],
    ['0057 351 1234567', 'CO', '+573511234567'],
    ['8012345678', 'NG', '+2348012345678'],
    ['029 922 1234', 'GH', '+233299221234'],
    ['234 801 234 5678', 'NG', '+2348012345678'],
    ['1 415 555 2671', 'US', '+14155552671'],
    ['011 15-2345-6789', 'AR', '+5491123456789'],
    ['+44 7400 123456', 'NG', '+447400123456'],
    ['+44 20 7946 0018', 'NG', '+442079460018'],
    ['0801 234 5678', 'NG', '+2348012345678'],
  ])('%j in %s is %s', (text, country, number) => {
    expect(normalizePhone(text, { country })).toBe(number);
  });

  it.each([
    ['971501234567', 'NG'],
    ['447400123456', 'NG'],
    // A landline cannot be told from a mistake.
    ['020 7946 0018', 'GB'],
    ['0801 234 567', 'NG'],
    ['0801 234 56789', 'NG'],
    // A number of Ghana without its zero, or one of Greenland without its +.
    ['299221234', 'GH'],
  ])('%j in %s is refused, since a code for it could reach somebody else', (text, country) => {
    const error = thrownBy(() => normalizePhone(text, { country }));
    expect(isValidationError(error) && error.message).toContain(
      `must be a mobile number as it is written in ${country}, or begin with "+" and its country code`,
    );
  });

  it('gives E.164, which it reads as itself, or a ValidationError, for any text', () => {
    const text = fc.oneof(
      anyText,
      fc.stringMatching(/^\+?[\d ()-]{1,20}$/),
      fc
        .tuple(fc.constantFrom(...countries), fc.stringMatching(/^[0-9]{4,12}$/))
        .map(([{ code }, digits]) => `+${code}${digits}`),
    );
    fc.assert(
      fc.property(text, fc.constantFrom(...countries), (any, { country }) => {
        const number = read(any);
        if (number === undefined) return;
        expect(number).toMatch(/^\+[1-9]\d{4,14}$/);
        expect([read(number), read(number, country)]).toEqual([number, number]);
      }),
      { numRuns: times(300, 5_000) },
    );
  });
});

const countries = getCountries().map((country) => {
  const example = getExampleNumber(country, examples);
  if (example === undefined) throw new Error(`no example of ${country}`);
  return { country, code: getCountryCallingCode(country), example };
});

/** `undefined` if it is refused. */
function read(text: string, country?: string): string | undefined {
  try {
    return normalizePhone(text, { country });
  } catch (error) {
    if (isValidationError(error)) return undefined;
    throw error;
  }
}

describe('the example number of each country', () => {
  const markets = some<CountryCode>(
    ['NG', 'BR', 'CO', 'JP', 'AU', 'ID', 'KH', 'DE', 'US', 'GB', 'RU', 'IT'],
    2,
  );

  it('is itself with + and with 00, in every country, with blanks, and as it is written there', () => {
    for (const { country, example } of countries) {
      const { number } = example;
      const abroad = [number, `00${number.slice(1)}`];
      const readings = [
        ...[...abroad, example.formatInternational()].map((text) => read(text)),
        read(example.formatNational(), country),
        ...markets.flatMap((market) => abroad.map((text) => read(text, market))),
      ];
      expect([country, ...new Set(readings)]).toEqual([country, number]);
    }
  });

  it('is one number or none without its +, and with zeros and national prefixes behind its country code', () => {
    let refused = 0;
    for (const { country, code, example } of countries) {
      const { nationalNumber } = example;
      for (const text of [nationalNumber, example.number.slice(1)]) {
        const number = read(text, country);
        if (number === undefined) refused++;
        else expect([country, text, number]).toEqual([country, text, example.number]);
      }
      for (const prefix of some(['0', '1', '00', '8', '06', '01', '15', '9', '044'], 2)) {
        const number = read(`+${code} ${prefix} ${nationalNumber}`);
        if (number === undefined || number === example.number) continue;
        // Another number of the plan, which has been typed as it is, digit by digit.
        const typed = `${prefix}${nationalNumber}`;
        const spellings = [typed, typed.replace(/^0/, '')].map((national) => `+${code}${national}`);
        expect([country, prefix, spellings]).toEqual([country, prefix, expect.arrayContaining([number])]);
      }
    }
    // Where another reading is possible.
    expect(refused).toBeLessThan(20);
  });

  it("is nobody else's in another country without its +: refused, or a number as it is written there", () => {
    for (const market of markets) {
      for (const { country, code, example } of countries) {
        const text = example.number.slice(1);
        const number =
          country === market || code === getCountryCallingCode(market) ? undefined : read(text, market);
        if (number === undefined) continue;
        const national = parseAny(number)?.formatNational().replace(/\D/g, '');
        expect([market, text, national]).toEqual([market, text, text]);
      }
    }
  });
});
