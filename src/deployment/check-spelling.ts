import { nearestSpelling } from '../internal/nearest-name.ts';
import { warnOnce } from '../internal/warn.ts';
import { invalidEnvironment, knownNames, merchantPrefix } from './environment-variables.ts';

const ownPrefix = 'PARTNER_EXCHANGE_';
const prefixes = /^(partner|merchant|messenger)_/i;

export interface MisspeltVariable {
  readonly name: string;
  /** `undefined` for a name with our own prefix that is near none of ours. */
  readonly meant: string | undefined;
  /** It has our own prefix. The shorter prefixes may belong to another program. */
  readonly isOurs: boolean;
}

export function findMisspelt(env: object): readonly MisspeltVariable[] {
  const unset = knownNames.filter((name) => !Reflect.get(env, name));
  return Object.keys(env).flatMap((name) => {
    if (!prefixes.test(name) || isKnown(name) || !Reflect.get(env, name)) return [];
    const meant = nearestSpelling(name, unset) ?? nearestMerchant(name);
    const isOurs = name.toUpperCase().startsWith(ownPrefix);
    return meant === undefined && !isOurs ? [] : [{ name, meant, isOurs }];
  });
}

/**
 * Refuses misspelt variables with our own prefix, and warns of the others. An unknown one with our prefix may belong to
 * another version: it is named.
 *
 * @throws {ConfigurationError} naming both
 */
export function checkSpelling(env: object): void {
  for (const { name, meant, isOurs } of findMisspelt(env)) {
    const advice = meant === undefined ? describeLike(name) : `did you mean ${meant}?`;
    const message = `The environment variable ${name} is not read: ${advice}`;
    if (isOurs && meant !== undefined) throw invalidEnvironment(message);
    warnOnce(message);
  }
}

function isKnown(name: string): boolean {
  if (name.startsWith(merchantPrefix) && name !== merchantPrefix) return true;
  return knownNames.includes(name);
}

/** The names that end like `BASE_URL` of `PARTNER_EXCHANGE_BASE_URL`. */
function describeLike(name: string): string {
  const end = name.toUpperCase().slice(ownPrefix.length);
  const like = end === '' ? [] : knownNames.filter((known) => known.endsWith(`_${end}`));
  return like.length === 0
    ? 'docs/guides/environment-files.md lists the names.'
    : `did you mean ${like.join(' or ')}?`;
}

/** `MERCHANT_SECRET_KEY_NGN` for `MERCHANT_SECERT_KEY_NGN`. */
function nearestMerchant(name: string): string | undefined {
  const end = name.lastIndexOf('_') + 1;
  const merchant = name.slice(end);
  if (merchant === '' || nearestSpelling(name.slice(0, end), [merchantPrefix]) === undefined)
    return undefined;
  return merchantPrefix + merchant;
}
