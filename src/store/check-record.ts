import { findNonJson } from '../json/check-json-data.ts';
import type { JsonValue } from '../json/json-value.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkInteger, invalidOption } from '../options/check-values.ts';
import type { ListOptions } from './record-store.ts';

/** One order of keys, and no characters with a meaning of their own, in every engine. */
const printable = /^[\x21-\x7e]*$/;
const maxKeyLength = 512;
const maxKeys = 1000;
const maxTextLength = 1024 * 1024;

/** The keys of a transaction, each once. @throws {ConfigurationError} `invalid_option` */
export function checkKeys(keys: readonly string[]): string[] {
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > maxKeys) {
    throw invalidOption(`The keys of a transaction must be a list of 1 to ${maxKeys}.`);
  }
  for (const key of keys) {
    if (typeof key !== 'string' || key === '' || key.length > maxKeyLength || !printable.test(key)) {
      throw invalidOption(`A key must be 1 to ${maxKeyLength} printable ASCII characters without blanks.`);
    }
  }
  return [...new Set(keys)];
}

/** The text of a value. @throws {ConfigurationError} `invalid_option`, without the value */
export function toRecordText(value: JsonValue): string {
  const issue = findNonJson(value);
  if (issue !== undefined || value === undefined) {
    throw invalidOption(`The value of a record ${issue?.message ?? 'must be JSON data'}.`);
  }
  const text = JSON.stringify(value);
  if (text.length > maxTextLength) throw invalidOption('The value of a record is longer than 1 MiB.');
  return text;
}

/** @throws {ConfigurationError} `invalid_option` */
export function checkExpiry(expiresAt: number | undefined): number | undefined {
  return expiresAt === undefined ? undefined : checkInteger('expiresAt', expiresAt, { least: 0 });
}

const listNames: OptionNames<ListOptions> = { prefix: true, after: true, limit: true };

/** @throws {ConfigurationError} `invalid_option` */
export function checkListOptions(options: ListOptions): ListOptions {
  checkNames('list', options, listNames);
  for (const name of ['prefix', 'after'] as const) {
    const text = options[name] ?? '';
    if (typeof text !== 'string' || text.length > maxKeyLength || !printable.test(text)) {
      throw invalidOption(`${name} must be up to ${maxKeyLength} printable ASCII characters without blanks.`);
    }
  }
  if (options.prefix === undefined)
    throw invalidOption('list needs a prefix; an empty one lists all records.');
  return { ...options, limit: checkInteger('limit', options.limit, { most: 1000 }) };
}
