import { warnOnce } from '../errors/warn.ts';
import { nearestSpelling } from '../options/nearest-name.ts';
import { environmentVariables, merchantPrefix } from './environment-variables.ts';
import { invalidEnvironment } from './invalid-environment.ts';

const ownPrefix = 'PARTNER_EXCHANGE_';
const prefixes = /^(partner|merchant|messenger)_/i;

/**
 * Finds set variables whose name is nearly one of ours: they would be ignored otherwise. Those with our own prefix are
 * refused. The shorter prefixes may belong to another program, so they only get a warning.
 *
 * @throws {ConfigurationError} naming both
 */
export function checkSpelling(env: object): void {
  const unset = environmentVariables.map(({ name }) => name).filter((name) => !Reflect.get(env, name));
  for (const name of Object.keys(env)) {
    if (!prefixes.test(name) || isKnown(name) || !Reflect.get(env, name)) continue;
    const meant = nearestSpelling(name, unset) ?? nearestMerchant(name);
    if (meant === undefined) continue;
    const message = `The environment variable ${name} is not read: did you mean ${meant}?`;
    if (name.toUpperCase().startsWith(ownPrefix)) throw invalidEnvironment(message);
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
