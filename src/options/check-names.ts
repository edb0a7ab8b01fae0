import { ConfigurationError, type ConfigurationErrorCode } from '../errors/configuration-error.ts';
import { nearestName } from './nearest-name.ts';

/**
 * The names of all options of a type, for {@link checkNames}. It does not compile when a name is missing or unknown.
 */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Refuses options that are not an object, and unknown names, with the nearest known name in the message. Without this
 * check a misspelt option would be ignored.
 *
 * @param owner what the options belong to, as the user calls it: `createWebhooks`, `retry`
 * @throws {ConfigurationError}
 */
export function checkNames(
  owner: string,
  options: unknown,
  names: Readonly<Record<string, true>>,
  code: ConfigurationErrorCode = 'invalid_option',
): void {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError(code, `${owner} needs an options object.`);
  }
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name));
  if (unknown === undefined) return;
  const known = Object.keys(names);
  const near = nearestName(unknown, known);
  const hint = near === undefined ? `Its options are ${known.join(', ')}.` : `Did you mean "${near}"?`;
  throw new ConfigurationError(code, `"${unknown.slice(0, 64)}" is not an option of ${owner}. ${hint}`);
}
