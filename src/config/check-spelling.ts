import { nearestSpelling } from '../internal/nearest-name.ts';
import { warnOnce } from '../internal/warn.ts';
import { environmentVariables, invalidEnvironment, merchantPrefix } from './environment-variables.ts';

const ownPrefix = 'PARTNER_EXCHANGE_';
const prefixes = /^(partner|merchant|messenger)_/i;

interface MisspeltVariable {
  readonly name: string;
  readonly meant: string;
  /** It has our own prefix. The shorter prefixes may belong to another program. */
  readonly isOurs: boolean;
}

export function findMisspelt(env: object): readonly MisspeltVariable[] {
  const unset = environmentVariables.map(({ name }) => name).filter((name) => !Reflect.get(env, name));
  return Object.keys(env).flatMap((name) => {
    if (!prefixes.test(name) || isKnown(name) || !Reflect.get(env, name)) return [];
    const meant = nearestSpelling(name, unset) ?? nearestMerchant(name);
    return meant === undefined ? [] : [{ name, meant, isOurs: name.toUpperCase().startsWith(ownPrefix) }];
  });
}

/**
 * Refuses misspelt variables with our own prefix, and warns of the others.
 *
 * @throws {ConfigurationError} naming both
 */
export function checkSpelling(env: object): void {
  for (const { name, meant, isOurs } of findMisspelt(env)) {
    const message = `The environment variable ${name} is not read: did you mean ${meant}?`;
    if (isOurs) throw invalidEnvironment(message);
    warnOnce(message);
  }
}

function isKnown(name: string): boolean {
  if (name.startsWith(merchantPrefix) && name !== merchantPrefix) return true;
  return environmentVariables.some((variable) => variable.name === name);
}

/** `MERCHANT_SECRET_KEY_NGN` for `MERCHANT_SECERT_KEY_NGN`. */
function nearestMerchant(name: string): string | undefined {
  const end = name.lastIndexOf('_') + 1;
  const merchant = name.slice(end);
  if (merchant === '' || nearestSpelling(name.slice(0, end), [merchantPrefix]) === undefined)
    return undefined;
  return merchantPrefix + merchant;
}
