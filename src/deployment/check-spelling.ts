import { nearestSpelling } from '../internal/nearest-name.ts';
import { warnOnce } from '../internal/warn.ts';
import { invalidEnvironment, knownNames } from './environment-variables.ts';

const ownPrefix = 'PARTNER_EXCHANGE_';
const prefixes = /^(partner|merchant|messenger)_/i;

interface MisspeltVariable {
  readonly name: string;
  /** `undefined` for a name that is near none of ours. */
  readonly meant: string | undefined;
}

function findMisspelt(env: object): readonly MisspeltVariable[] {
  const unset = knownNames.filter((name) => !Reflect.get(env, name));
  return Object.keys(env)
    .filter(
      (name) => /^partner_exchange_/i.test(name) && !knownNames.includes(name) && Reflect.get(env, name),
    )
    .map((name) => ({ name, meant: nearestSpelling(name, unset) }));
}

/**
 * Refuses misspelt variables, and warns of unknown ones, which may belong to another version.
 *
 * @throws {ConfigurationError} naming both
 */
export function checkSpelling(env: object): void {
  for (const { name, meant } of findUnread(env)) {
    const message = `The environment variable ${name} is not read`;
    if (meant !== undefined) throw invalidEnvironment(`${message}: did you mean ${meant}?`);
    warnOnce(`${message}: docs/guides/environment-files.md lists the names.`);
  }
}
