import { ConfigurationError } from '../errors/configuration-error.ts';

/**
 * A base URL without its trailing slashes, ready to have a path of the contract appended.
 *
 * @throws {ConfigurationError} `invalid_deployment` unless it is absolute, http or https, and without
 *   credentials, query and fragment. The message does not show the value: it may hold a password.
 */
export function checkBaseUrl(name: string, value: unknown): string {
  if (value === undefined || value === null || value === '') throw invalid(`${name} is missing.`);
  if (typeof value !== 'string' && !(value instanceof URL))
    throw invalid(`${name} must be a string or a URL.`);
  if (!URL.canParse(String(value))) throw invalid(`${name} must be an absolute URL.`);
  const url = new URL(String(value));
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw invalid(`${name} must be an http or https URL.`);
  if (url.username !== '' || url.password !== '') throw invalid(`${name} must not hold credentials.`);
  if (url.search !== '' || url.hash !== '') throw invalid(`${name} must not hold a query or a fragment.`);
  return url.origin + trimSlashes(url.pathname);
}

function trimSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_deployment', message);
}
