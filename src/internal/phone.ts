import parsePhoneNumber, { type CountryCode, isSupportedCountry } from 'libphonenumber-js/min';
import { ValidationError } from '../errors/errors.ts';
import { defineOptions, invalidOption, type OptionTable } from './options.ts';
import { latinDigits } from './printable-text.ts';

/** Options of {@link normalizePhone}. */
export interface NormalizePhoneOptions {
  /**
   * Country of numbers that are written without `+`, as two capital letters (ISO 3166-1): `NG`. Without it such numbers
   * are refused.
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
 * Checks its country and its length, but not whether it is assigned: numbering plans change.
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
 * The parser removes only one national prefix: of `+234 00801 234 5678` a zero stays, a second spelling with limits
 * of its own.
 */
function isItself(number: string): boolean {
  return parsePhoneNumber(number)?.number === number;
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

/**
 * A phone number with only its first four and last two characters shown, for logs and metrics:
 * `+234********78`.
 *
 * @param phone in E.164
 */
export function maskPhone(phone: string): string {
  // A short number shows less.
  const shown = Math.min(4, Math.floor(phone.length / 3));
  return phone.slice(0, shown) + '*'.repeat(phone.length - shown - 2) + phone.slice(-2);
}
