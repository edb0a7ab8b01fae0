import parsePhoneNumber, { type CountryCode, isSupportedCountry } from 'libphonenumber-js/min';
import { ValidationError } from '../errors/validation-error.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { invalidOption } from '../options/check-values.ts';
import { latinDigits } from './latin-digits.ts';

export interface NormalizePhoneOptions {
  /**
   * Country of numbers that are written without `+`, as two capital letters (ISO 3166-1): `NG`. Without it such numbers
   * are refused.
   */
  country?: string | undefined;
}

const names: OptionNames<NormalizePhoneOptions> = { country: true };

/** Longer than any way to write fifteen digits; nothing longer is parsed. */
const maxLength = 64;

/**
 * A phone number in E.164 (`+2348012345678`), from the ways that people write one: with blanks, dashes, brackets, in
 * digits of other scripts. Its country and its length are checked. Whether it is assigned is not: numbering plans
 * change, and the service knows.
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
  checkNames('normalizePhone', options, names);
  const country = checkCountry(options.country);
  if (typeof text !== 'string') throw notPhone('must be text');
  const parsed =
    text.length > maxLength
      ? undefined
      : parsePhoneNumber(latinDigits(text).trim(), {
          extract: false,
          ...(country && { defaultCountry: country }),
        });
  if (parsed === undefined || parsed.ext !== undefined || !parsed.isPossible() || !isItself(parsed.number)) {
    throw notPhone(
      country === undefined
        ? 'must be a phone number that begins with "+" and its country code'
        : 'must be a phone number',
    );
  }
  return parsed.number;
}

/**
 * Only one national prefix is taken off: of `+234 00801 234 5678`, a zero would stay. That would be another spelling of
 * the same number, and each spelling would have limits of its own.
 */
function isItself(number: string): boolean {
  return parsePhoneNumber(number)?.number === number;
}

function checkCountry(country: string | undefined): CountryCode | undefined {
  if (country === undefined) return undefined;
  if (typeof country === 'string' && isSupportedCountry(country)) return country;
  throw invalidOption('country must be two capital letters of ISO 3166-1, like "NG".');
}

function notPhone(message: string): ValidationError {
  return new ValidationError('The phone number', [{ path: [], message }]);
}
