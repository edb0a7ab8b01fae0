import { ConfigurationError } from '../errors/configuration-error.ts';

/** A key or a list of keys as a list with at least one. @throws {ConfigurationError} `invalid_credentials` */
export function checkKeys(key: string | readonly string[]): readonly string[] {
  const keys = typeof key === 'string' ? [key] : key;
  if (!Array.isArray(keys) || keys.length === 0) throw invalid('There is no signing key.');
  for (const one of keys) checkKey(one);
  return keys;
}

/** The key itself. @throws {ConfigurationError} `invalid_credentials` */
export function checkKey(key: string): string {
  if (typeof key !== 'string' || key === '') throw invalid('A signing key is missing or empty.');
  return key;
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_credentials', message);
}
