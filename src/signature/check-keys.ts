import { ConfigurationError } from '../errors/configuration-error.ts';

/** A key or a list of keys as a list with at least one. @throws {ConfigurationError} `invalid_credentials` */
export function checkKeys(key: string | readonly string[]): readonly string[] {
  const keys = typeof key === 'string' ? [key] : key;
  if (!Array.isArray(keys) || keys.length === 0) throw invalid('There is no signing key.');
  if (keys.some((one) => typeof one !== 'string' || one === '')) {
    throw invalid('A signing key is missing or empty.');
  }
  return keys;
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_credentials', message);
}
