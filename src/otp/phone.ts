import parsePhoneNumber, {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  type PhoneNumber,
  validatePhoneNumberLength,
} from 'libphonenumber-js/mobile';
import { ValidationError } from '../errors/errors.ts';
import { defineOptions, invalidOption, type OptionTable } from '../internal/options.ts';
import { latinDigits } from '../internal/printable-text.ts';

/** Options of {@link normalizePhone}. */
export interface NormalizePhoneOptions {
  /**
   * Country of mobile numbers that are written without `+` or `00`, as two capital letters (ISO 3166-1): `NG`. Without it
   * such numbers are refused, and with it those of other countries.
   */
  country?: string | undefined;
}

const readOptions = defineOptions('normalizePhone', {
  country: checkCountry,
} satisfies OptionTable<NormalizePhoneOptions>);

/** How phone numbers must begin, as `normalizePhone` writes them, or `'any'`. */
export type AllowedPrefixes = readonly string[] | 'any';

/** @throws {ConfigurationError} `invalid_option` */
export function checkPrefixes(prefixes: unknown): AllowedPrefixes {
  if (prefixes === 'any') return prefixes;
  const isPrefix = (prefix: unknown) => typeof prefix === 'string' && /^\+[1-9]\d{0,14}$/.test(prefix);
  if (Array.isArray(prefixes) && prefixes.length > 0 && prefixes.every(isPrefix)) return [...prefixes];
  throw invalidOption(
    "allowedPrefixes must be 'any', or a list of prefixes like '+234': with the country code, as normalizePhone writes numbers.",
  );
}

/** @param phone in E.164 */
export function hasAllowedPrefix(phone: string, prefixes: AllowedPrefixes): boolean {
  return prefixes === 'any' || prefixes.some((prefix) => phone.startsWith(prefix));
}

/** Longer than any spelling of fifteen digits. */
const maxLength = 64;

/**
 * A phone number in E.164 (`+2348012345678`), read from text with blanks, dashes, brackets or digits of other scripts.
 * `00` is read as `+`. One phone has one spelling: zeros of a national prefix are removed, and numbers of Brazil,
 * Argentina and Mexico are written as their plans write mobile numbers now.
 *
 * Of a number with `+` the country and the length are checked, but not whether it is assigned: numbering plans change.
 * One without is a mobile number of `country`, or refused: a code must reach nobody else.
 *
 * @throws {ValidationError} that does not show the number
 * @throws {ConfigurationError} `invalid_option` for an unknown country
 * @example
 * ```ts
 * normalizePhone('+234 (0)801 234-5678'); // '+2348012345678'
 * normalizePhone('0801 234 5678', { country: 'NG' }); // the same
 * ```
 */
export function normalizePhone(text: string, options: NormalizePhoneOptions = {}): string {
  const { country } = readOptions(options);
  if (typeof text !== 'string') throw notPhone('must be text');
  if (text.length > maxLength) throw notPhone(lengthReasons.NOT_A_NUMBER);
  const written = latinDigits(text)
    .trim()
    .replace(/^\(?00\)?[\s().-]*/, '+');
  if (/^[^\d+]*\+/.test(written)) return readInternational(written);
  if (country !== undefined) return readNational(written, country);
  throw notPhone(
    'must be a phone number that begins with "+" and its country code; to read others, give the country ("NG") to createOtp or normalizePhone',
  );
}

/** @throws {ValidationError} */
function readInternational(written: string): string {
  const parsed = parse(written);
  if (parsed === undefined || parsed.ext !== undefined)
    throw notPhone(lengthReasons[lengthProblem(written) ?? 'NOT_A_NUMBER']);
  const mobile = mobileSpelling(parsed);
  if (mobile !== undefined) return mobile.number;
  if (!parsed.isPossible()) throw notPhone(lengthReasons[lengthProblem(written) ?? 'INVALID_LENGTH']);
  // It may be a landline, or a range that is new. The parser also cuts off what looks like the code of a carrier, and only
  // one of several national prefixes: then another number would come of it, or a second spelling of one.
  const { number, countryCallingCode: code, nationalNumber: national } = parsed;
  const isAsTyped = withoutZeros(digitsOf(written).slice(code.length)) === withoutZeros(national);
  const hasStrayZero = national.startsWith('0') && !codesOfZeros.includes(code);
  if (isAsTyped && !hasStrayZero && parse(number)?.number === number) return number;
  throw notPhone('must be a phone number: after the country code it begins as no number does there');
}

/** @throws {ValidationError} */
function readNational(written: string, country: CountryCode): string {
  const mobileOf = (parsed: PhoneNumber | undefined) =>
    parsed && parsed.ext === undefined ? mobileSpelling(parsed) : undefined;
  const code = getCountryCallingCode(country);
  const parsed = mobileOf(parse(written, country));
  // The parser also reads the prefixes of calls abroad, which begin the numbers of other countries.
  const own = parsed?.countryCallingCode === code ? parsed : undefined;
  const whole = mobileOf(parse(`+${written}`));
  const isOwnForm = own !== undefined && digitsOf(own.formatNational()) === digitsOf(written);
  if (own !== undefined && (isOwnForm || whole === undefined || whole.number === own.number))
    return own.number;
  if (own === undefined && whole?.countryCallingCode === code) return whole.number;
  throw notPhone(
    `must be a mobile number as it is written in ${country}, or begin with "+" and its country code`,
  );
}

function parse(text: string, defaultCountry?: CountryCode): PhoneNumber | undefined {
  return parsePhoneNumber(text, { extract: false, ...(defaultCountry && { defaultCountry }) });
}

/** The one spelling of a mobile number; `undefined` if it is none, which also landlines are. */
function mobileSpelling({ countryCallingCode: code, nationalNumber }: PhoneNumber): PhoneNumber | undefined {
  const { from = /$^/, to = '' } = respelled[code] ?? {};
  const stripped = codesOfZeros.includes(code) ? nationalNumber : withoutZeros(nationalNumber);
  const spellings = [nationalNumber, nationalNumber.replace(from, to), stripped];
  return spellings
    .map((national) => ({ parsed: parse(`+${code}${national}`), number: `+${code}${national}` }))
    .find(({ parsed, number }) => parsed?.number === number && parsed.isValid())?.parsed;
}

/** Mobile numbers whose plan has changed, or has two forms, by country code. */
const respelled: Readonly<Record<string, { readonly from: RegExp; readonly to: string }>> = {
  // Brazil: eight digits from 6 on got a ninth in front by 2016.
  '55': { from: /(?<=^\d\d)(?=[6-9]\d{7}$)/, to: '9' },
  // Argentina: from abroad, and in E.164, mobile numbers have a 9 in front.
  '54': { from: /^(?=\d{10}$)/, to: '9' },
  // Mexico: the 1 in front of mobile numbers ended in 2019.
  '52': { from: /^1(?=\d{10}$)/, to: '' },
};

/** Country codes with landlines that begin with 0 (Italy, Benin, Gabon, Rwanda, San Marino): there a zero is no mistake. */
const codesOfZeros = ['39', '229', '241', '250', '378'];

function lengthProblem(written: string) {
  return validatePhoneNumberLength(written);
}

const lengthReasons = {
  INVALID_COUNTRY: 'must be a phone number: no country has the code that it begins with',
  NOT_A_NUMBER: 'must be a phone number, and nothing else',
  TOO_SHORT: 'must be a phone number: it is too short for its country',
  TOO_LONG: 'must be a phone number: it is too long for its country',
  INVALID_LENGTH: 'must be a phone number: its country has none of this length',
} as const satisfies Record<NonNullable<ReturnType<typeof lengthProblem>>, string>;

function withoutZeros(digits: string): string {
  return digits.replace(/^0+/, '');
}

function digitsOf(text: string): string {
  return text.replace(/\D/g, '');
}

/** @throws {ConfigurationError} `invalid_option` */
export function checkCountry(country: unknown): CountryCode | undefined {
  if (country === undefined) return undefined;
  if (typeof country === 'string' && isSupportedCountry(country)) return country;
  throw invalidOption('country must be two capital letters of ISO 3166-1, like "NG".');
}

function notPhone(message: string): ValidationError {
  return new ValidationError('normalizePhone', [{ path: ['to_phone'], message }]);
}
