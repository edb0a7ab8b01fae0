import * as fc from 'fast-check';
import { getCountries, getCountryCallingCode, getExampleNumber } from 'libphonenumber-js/min';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import { isValidationError } from '../../src/errors/errors.ts';
import { maskPhone, normalizePhone } from '../../src/internal/phone.ts';
import { refusal, thrownBy } from '../support/refusal.ts';

describe('normalizePhone', () => {
  it.each([
    ['+2348012345678', '+2348012345678'],
    [' +234 801 234 5678 ', '+2348012345678'],
    ['+234 (0)801-234-5678', '+2348012345678'],
    ['+234.801.234.5678', '+2348012345678'],
    ['＋２３４８０１２３４５６７８', '+2348012345678'],
    ['+٢٣٤٨٠١٢٣٤٥٦٧٨', '+2348012345678'],
    ['+२३४८०१२३४५६७८', '+2348012345678'],
    ['\u202a+234\u00a0801\u00a0234\u00a05678\u202c', '+2348012345678'],
    ['+44 20 7946 0018', '+442079460018'],
    ['+39 06 1234 5678', '+390612345678'],
    ['+1 (415) 555-2671', '+14155552671'],
  ])('%j is %s', (text, number) => {
    expect(normalizePhone(text)).toBe(number);
  });

  it('reads a national notation when it is told the country', () => {
    expect(normalizePhone('0801 234 5678', { country: 'NG' })).toBe('+2348012345678');
    expect(normalizePhone('+44 20 7946 0018', { country: 'NG' })).toBe('+442079460018');
  });

  it.each([
    ...['', '+', '0801 234 5678', '2348012345678', '002348012345678', '+234801', '+234801234567890123'],
    ...['+9990000000', 'call +2348012345678', '+2348012345678 or +2348012345679', '+2348012345678 ext. 5'],
    // A second national prefix would make another spelling of a number out of it.
    ...['+23400801 234 5678', '+234 (0)0 801 234 5678', '+2340008012345678', '+44 00 7123 45678'],
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
    expect(refusal(() => normalizePhone('0801', { contry: 'NG' } as object))).toBe(
      'ConfigurationError invalid_option',
    );
  });

  it('takes the example numbers of all countries, and gives no number that it reads as another one', () => {
    for (const country of getCountries()) {
      const example = getExampleNumber(country, examples)?.number ?? '';
      expect(normalizePhone(example)).toBe(example);
      for (const zeros of ['0', '00', '000', '01', '8', '06']) {
        const national = example.slice(1 + getCountryCallingCode(country).length);
        let number: string;
        try {
          number = normalizePhone(`+${getCountryCallingCode(country)}${zeros}${national}`);
        } catch (error) {
          expect(isValidationError(error)).toBe(true);
          continue;
        }
        expect(normalizePhone(number)).toBe(number);
      }
    }
  });

  it('gives E.164, which it reads as itself, or a ValidationError, for any text', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^\+?[\d ()-]{1,20}$/));
    fc.assert(
      fc.property(text, (any) => {
        let number: string;
        try {
          number = normalizePhone(any);
        } catch (error) {
          return isValidationError(error);
        }
        return /^\+[1-9]\d{4,14}$/.test(number) && normalizePhone(number) === number;
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('maskPhone', () => {
  it.each([
    ['+2348012345678', '+234********78'],
    ['+442079460018', '+442*******18'],
    ['+29012345', '+29****45'],
  ])('of %s shows %s', (phone, shown) => {
    expect(maskPhone(phone)).toBe(shown);
  });
});
