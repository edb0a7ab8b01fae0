import { isLoopback } from '../../deployment/base-url.ts';
import { invalidOption } from '../../options/check-values.ts';

/**
 * Checks, before anything is sent, that an attack stays on this machine or goes to a host that its owner has named. It
 * goes by the name alone: a name that resolves to this machine today may lead elsewhere tomorrow.
 *
 * @throws {ConfigurationError} `invalid_option`
 */
export function checkOwnHost(url: URL, iOwnThisHost: unknown): void {
  if (iOwnThisHost !== undefined && (typeof iOwnThisHost !== 'string' || iOwnThisHost === '')) {
    throw invalidOption('iOwnThisHost must be the name of the host, as in the URL.');
  }
  if (isLoopback(url.hostname)) return;
  const named = iOwnThisHost?.toLowerCase();
  if (named === url.hostname || named === url.host) return;
  throw invalidOption(
    named === undefined
      ? `attackReceiver only attacks this machine, and ${url.hostname} is another one. If it is yours, name it: iOwnThisHost: '${url.hostname}'.`
      : `iOwnThisHost does not name the host of the URL, which is ${url.hostname}.`,
  );
}
