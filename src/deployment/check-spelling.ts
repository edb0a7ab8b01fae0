import { nearestSpelling } from '../internal/nearest-name.ts';
import { warnOnce } from '../internal/warn.ts';
import { invalidEnvironment, knownNames } from './environment-variables.ts';

/**
 * Refuses misspelt variables, and warns of unknown ones, which may belong to another version.
 *
 * @throws {ConfigurationError} naming both
 */
export function checkSpelling(env: object): void {
  const isSet = (name: string) => Boolean(Reflect.get(env, name));
  const unset = knownNames.filter((name) => !isSet(name));
  const isOurs = (name: string) => /^partner_exchange_/i.test(name) && !knownNames.includes(name);
  for (const name of Object.keys(env).filter(isOurs).filter(isSet)) {
    const message = `The environment variable ${name} is not read`;
    const meant = nearestSpelling(name, unset);
    if (meant !== undefined) throw invalidEnvironment(`${message}: did you mean ${meant}?`);
    warnOnce(`${message}: docs/guides/environment-files.md lists the names.`);
  }
}
