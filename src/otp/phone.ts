import parsePhoneNumber, {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  type PhoneNumber,
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

/** @throws {ConfigurationError} `invalid_option` */
export function checkPrefixes(prefixes: unknown): readonly string[] | 'any' {
  if (prefixes === 'any') return prefixes;
  const isPrefix = (prefix: unknown) => typeof prefix === 'string' && /^\+[1-9]\d{0,14}$/.test(prefix);
  if (Array.isArray(prefixes) && prefixes.length > 0 && prefixes.every(isPrefix)) return [...prefixes];
  throw invalidOption(
    "allowedPrefixes must be 'any', or a list of prefixes like '+234': with the country code, as normalizePhone writes numbers.",
  );
}

/** Longer than any spelling of fifteen digits. */
const maxLength = 64;

/**
 * A phone number in E.164 (`+2348012345678`), read from text with blanks, dashes, brackets or digits of other scripts.
 * `00` is read as `+`, and the zero of a national prefix is removed.
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
  if (text.length > maxLength) throw notPhone(notRead);
  const written = latinDigits(text)
    .trim()
    .replace(/^\(?00\)?[\s().-]*/, '+');
  if (/^[^\d+]*\+/.test(written)) return readInternational(written);
  if (country !== undefined) return readNational(written, country);
  throw notPhone(
    'must be a phone number that begins with "+" and its country code; to read others, give the country ("NG") to createOtp or normalizePhone',
  );
}

const notRead = 'must be a phone number, with as many digits as its country has, and nothing else';

/** @throws {ValidationError} */
function readInternational(written: string): string {
  const parsed = parse(written);
  if (parsed?.isValid()) return parsed.number;
  // It may be a landline, or a range that is new. The parser also cuts off what looks like the code of a carrier, which
  // makes another number, and leaves a zero where a plan has none, which makes a second spelling of one.
  const isAsTyped = parsed?.number === `+${digitsOf(written)}` && !parsed.nationalNumber.startsWith('0');
  if (isAsTyped && parsed.isPossible() && parse(parsed.number)?.number === parsed.number)
    return parsed.number;
  throw notPhone(notRead);
}

/** @throws {ValidationError} */
function readNational(written: string, country: CountryCode): string {
  const national = parse(written, country);
  // The parser also reads the prefixes of calls abroad, which begin the numbers of other countries.
  if (national?.isValid() && national.countryCallingCode === getCountryCallingCode(country)) {
    const isOwnForm = digitsOf(national.formatNational()) === digitsOf(written);
    const abroad = parse(`+${written}`);
    if (isOwnForm || !abroad?.isValid() || abroad.number === national.number) return national.number;
  }
  throw notPhone(
    `must be a mobile number as it is written in ${country}, or begin with "+" and its country code`,
  );
}

/** `undefined` also for a number with an extension. */
function parse(text: string, defaultCountry?: CountryCode): PhoneNumber | undefined {
  const parsed = parsePhoneNumber(text, { extract: false, ...(defaultCountry && { defaultCountry }) });
  return parsed?.ext === undefined ? parsed : undefined;
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
