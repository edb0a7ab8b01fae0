import { ConfigurationError } from '../errors/configuration-error.ts';

/**
 * A base URL without trailing slashes, so that a path of the contract can be appended.
 *
 * @throws {ConfigurationError} `invalid_deployment` unless it is absolute, http or https, and without credentials,
 *   query and fragment; also for `http:` to any host but this one unless `allowInsecureHttp` is set. The message does not
 *   show the value, which may hold a password.
 */
export function checkBaseUrl(
  name: string,
  value: unknown,
  { allowInsecureHttp = false }: { allowInsecureHttp?: boolean | undefined } = {},
): string {
  if (value === null || value === '') throw invalid(`${name} is empty.`);
  if (typeof value !== 'string' && !(value instanceof URL))
    throw invalid(`${name} must be a string or a URL.`);
  if (!URL.canParse(String(value))) throw invalid(`${name} must be an absolute URL.`);
  const url = new URL(String(value));
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw invalid(`${name} must be an http or https URL.`);
  if (url.username !== '' || url.password !== '') throw invalid(`${name} must not hold credentials.`);
  if (url.search !== '' || url.hash !== '') throw invalid(`${name} must not hold a query or a fragment.`);
  if (url.protocol === 'http:' && !allowInsecureHttp && !isLoopback(url.hostname)) {
    throw invalid(
      `${name} is http: keys and one-time codes would cross the network unencrypted. Use https, or set allowInsecureHttp: true where the network is your own.`,
    );
  }
  return url.origin + trimSlashes(url.pathname);
}

/** The host of a URL as DNS and sockets take it: a URL writes IPv6 addresses in brackets. */
export function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Whether a host name of a URL object is always this machine (RFC 6761: `localhost` and all names below it). */
export function isLoopback(hostname: string): boolean {
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return name === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(name);
}

function trimSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_deployment', message);
}
