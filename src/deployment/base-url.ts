import { ConfigurationError } from '../errors/errors.ts';
import { invalidOption } from '../internal/options.ts';

/** @throws {ConfigurationError} `invalid_option`, without the value, which may hold a password */
export function readUrl(given: unknown, name: string): URL {
  if (given === null || given === '') throw invalidOption(`${name} is empty.`);
  if (typeof given !== 'string' && !(given instanceof URL))
    throw invalidOption(`${name} must be a string or a URL.`);
  if (!URL.canParse(String(given))) throw invalidOption(`${name} must be an absolute URL.`);
  const url = new URL(String(given));
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw invalidOption(`${name} must be an http or https URL.`);
  if (url.username !== '' || url.password !== '') throw invalidOption(`${name} must not hold credentials.`);
  if (url.search !== '' || url.hash !== '')
    throw invalidOption(`${name} must not hold a query or a fragment.`);
  return url;
}

/**
 * Returns the URL without trailing slashes.
 *
 * @throws {ConfigurationError} `invalid_deployment` for `http:` to another host, unless `allowInsecureHttp` is set
 */
export function baseUrlOf(
  name: string,
  url: URL,
  { allowInsecureHttp }: { allowInsecureHttp: boolean },
): string {
  if (url.protocol === 'http:' && !allowInsecureHttp && !isLoopbackHost(url.hostname)) {
    throw new ConfigurationError(
      'invalid_deployment',
      `${name} is http: keys and one-time codes would cross the network unencrypted.`,
      { remedy: 'Use https, or set allowInsecureHttp of defineDeployment where the network is your own.' },
    );
  }
  return url.origin + trimSlashes(url.pathname);
}

/** As DNS and sockets take it: a URL writes IPv6 addresses in brackets. */
export function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Whether a host is always this machine. Most resolvers ask the DNS for names below `localhost`, despite RFC 6761. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** Whether a host can be of a real service: not this machine, and no name that is reserved for tests (RFC 6761). */
export function canBeRealHost(hostname: string): boolean {
  return !isLoopbackHost(hostname) && !/\.(?:localhost|example|test|invalid)$/.test(hostname);
}

function trimSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}
