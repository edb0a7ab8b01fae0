import * as fc from 'fast-check';
import { parsePhoneNumberFromString as parseAny } from 'libphonenumber-js/max';
import { getCountries, getCountryCallingCode, getExampleNumber } from 'libphonenumber-js/mobile';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import { isValidationError } from '../../src/errors/errors.ts';
import { maskPhone, normalizePhone } from '../../src/otp/phone.ts';
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
    ['00234 801 234 5678', '+2348012345678'],
    ['(00) 234-801-234-5678', '+2348012345678'],
    ['００２３４ ８０１ ２３４ ５６７８', '+2348012345678'],
  ])('%j is %s', (text, number) => {
    expect(normalizePhone(text)).toBe(number);
  });

  it('reads a national notation when it is told the country', () => {
    expect(normalizePhone('0801 234 5678', { country: 'NG' })).toBe('+2348012345678');
    expect(normalizePhone('+44 20 7946 0018', { country: 'NG' })).toBe('+442079460018');
  });

  it.each([
    ...['', '+', '0801 234 5678', '2348012345678', '0002348012345678', '+234801', '+234801234567890123'],
    ...['+9990000000', 'call +2348012345678', '+2348012345678 or +2348012345679', '+2348012345678 ext. 5'],
    '+44 00 7123 45678',
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

  it.each([
    ['0055 34 99123-4567', 'BR', '+5534991234567'],
    ['0057 351 1234567', 'CO', '+573511234567'],
    ['0081 90-1234-5678', 'JP', '+819012345678'],
    ['0061 412 345 678', 'AU', '+61412345678'],
    ['00234 801 234 5678', 'NG', '+2348012345678'],
    ['4915123456789', 'DE', '+4915123456789'],
    ['62 812 345 678', 'ID', '+62812345678'],
    ['38343201234', 'XK', '+38343201234'],
    ['8012345678', 'NG', '+2348012345678'],
    ['029 922 1234', 'GH', '+233299221234'],
    ['234 801 234 5678', 'NG', '+2348012345678'],
    ['1 415 555 2671', 'US', '+14155552671'],
    ['(11) 9123-4567', 'BR', '+5511991234567'],
    ['011 15-2345-6789', 'AR', '+5491123456789'],
    ['+44 7400 123456', 'NG', '+447400123456'],
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

  it.each([
    ['a zero that its plan does not have', '+974 3312 3456', ['+974 0 3312 3456', '+974 (0) 3312 3456']],
    ["Brazil's ninth digit", '+55 34 99123-4567', ['+55 34 9123-4567', '+55 (0)34 9123 4567']],
    [
      "Argentina's 9",
      '+54 9 11 2345-6789',
      ['+54 11 2345-6789', '+54 11 15 2345-6789', '+54 0 11 15 2345 6789'],
    ],
    ["Mexico's 1", '+52 55 1234 5678', ['+52 1 55 1234 5678']],
    [
      'the zero of a national prefix',
      '+234 801 234 5678',
      ['+234 0801 234 5678', '+234 (0)0 801 234 5678', '+2340008012345678'],
    ],
  ])('gives one phone one spelling: %s', (_, one, others) => {
    const number = `+${one.replace(/\D/g, '')}`;
    expect([one, ...others].map((text) => normalizePhone(text))).toEqual([
      number,
      ...others.map(() => number),
    ]);
  });

  it.each([
    ['+39 06 1234 5678', '+390612345678'],
    // Not the mobile number 312 345 6789.
    ['+39 031 2345 6789', '+3903123456789'],
    ['+378 0549 912716', '+3780549912716'],
    ['+55 34 3123 4567', '+553431234567'],
  ])('leaves a landline as it is: %s', (text, number) => {
    expect(normalizePhone(text)).toBe(number);
  });

  it.each([
    ['0801 234 5678', 'that begins with "+" and its country code; to read others, give the country'],
    ['+999 000 0000', 'no country has the code that it begins with'],
    ['+234 801', 'it is too short for its country'],
    ['+234 801 234 5678 90123', 'it is too long for its country'],
    ['+2348012345678 ext. 5', 'and nothing else'],
    ['+234801234567O', 'and nothing else'],
    // Australia's prefix for calls abroad.
    ['0011 44 7400 123456', 'it is too long for its country'],
    ['+974 0 4412 3456', 'after the country code it begins as no number does there'],
  ])('says the reason of %j that is true', (text, reason) => {
    const error = thrownBy(() => normalizePhone(text));
    expect(isValidationError(error) && error.message).toContain(reason);
    expect(isValidationError(error) && error.message.includes('"+"')).toBe(/^0[^0]/.test(text));
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
      { numRuns: 1_000 },
    );
  });
});

describe('the example number of each country', () => {
  const countries = getCountries().map((country) => {
    const example = getExampleNumber(country, examples);
    if (example === undefined) throw new Error(`no example of ${country}`);
    return { country, code: getCountryCallingCode(country), example };
  });
  const markets = ['NG', 'BR', 'CO', 'JP', 'AU', 'ID', 'KH', 'DE', 'US', 'GB', 'RU', 'IT'];
  /** `undefined` if it is refused. */
  const read = (text: string, country?: string): string | undefined => {
    try {
      return normalizePhone(text, { country });
    } catch (error) {
      if (isValidationError(error)) return undefined;
      throw error;
    }
  };

  it('is itself with + and with 00, in every country, with blanks, and as it is written there', () => {
    for (const { country, example } of countries) {
      const { number } = example;
      const digits = number.slice(1);
      expect([read(number), read(`00${digits}`), read(example.formatInternational())]).toEqual([
        number,
        number,
        number,
      ]);
      expect([country, read(example.formatNational(), country)]).toEqual([country, number]);
      for (const other of markets) {
        expect([other, read(number, other)]).toEqual([other, number]);
        expect([other, read(`00${digits}`, other)]).toEqual([other, number]);
      }
    }
  });

  it('is itself without its national prefix and without its +, or refused where another reading is possible', () => {
    let refused = 0;
    for (const { country, example } of countries) {
      for (const text of [example.nationalNumber, example.number.slice(1)]) {
        const number = read(text, country);
        if (number === undefined) refused++;
        else expect([country, text, number]).toEqual([country, text, example.number]);
      }
    }
    expect(refused).toBeLessThan(20);
  });

  it('is one number or none with zeros and national prefixes behind its country code', () => {
    for (const { country, code, example } of countries) {
      for (const prefix of ['0', '00', '1', '8', '06', '01', '15', '9', '044']) {
        const number = read(`+${code} ${prefix} ${example.nationalNumber}`);
        if (number === undefined || number === example.number) continue;
        // Another number of the plan, which has been typed as it is, digit by digit.
        const typed = `${prefix}${example.nationalNumber}`;
        const spellings = [typed, typed.replace(/^0/, '')].map((national) => `+${code}${national}`);
        expect([country, prefix, spellings]).toEqual([country, prefix, expect.arrayContaining([number])]);
      }
    }
  });

  it("is nobody else's in another country without its +: refused, or digit by digit a number as it is written there", () => {
    const other: string[] = [];
    for (const country of markets) {
      const code = countries.find((one) => one.country === country)?.code;
      for (const { code: foreign, example } of countries) {
        if (foreign === code) continue;
        const text = example.number.slice(1);
        const number = read(text, country);
        if (number === undefined) continue;
        const national = parseAny(number)?.formatNational().replace(/\D/g, '');
        expect([country, text, number, national]).toEqual([country, text, `+${code}${text}`, text]);
        other.push(number);
      }
    }
    expect(other.length).toBeLessThan(40);
  });

  it('is never made of a landline or a mobile number that a plan has, whatever zeros it begins with', () => {
    const codes = fc.oneof(
      fc.constantFrom(...new Set(countries.map(({ code }) => code))),
      fc.constantFrom('39', '229', '241', '250', '378'),
    );
    fc.assert(
      fc.property(codes, fc.stringMatching(/^0{1,2}[0-9]{5,10}$/), (code, digits) => {
        const typed = parseAny(`+${code}${digits}`);
        const isOfPerson = ['FIXED_LINE', 'MOBILE', 'FIXED_LINE_OR_MOBILE'].includes(typed?.getType() ?? '');
        // In Argentina the 9 makes no other number of it.
        if (!isOfPerson || typed?.number !== `+${code}${digits}` || code === '54') return;
        expect([typed.number, undefined]).toContain(read(typed.number));
      }),
      { numRuns: 5_000 },
    );
  });

  it('stays itself when it is read again, with any digits behind the country code', () => {
    const codes = fc.constantFrom(...new Set(countries.map(({ code }) => code)));
    const texts = fc.tuple(codes, fc.stringMatching(/^[0-9]{4,12}$/));
    fc.assert(
      fc.property(texts, fc.constantFrom(...countries), ([code, digits], { country }) => {
        const number = read(`+${code}${digits}`);
        if (number !== undefined) {
          expect(read(number)).toBe(number);
          expect(read(number, country)).toBe(number);
        }
        const national = digits.startsWith('00') ? undefined : read(digits, country);
        if (national !== undefined)
          expect(national.startsWith(`+${getCountryCallingCode(country)}`)).toBe(true);
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
