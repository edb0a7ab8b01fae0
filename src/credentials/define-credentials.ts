import { concealMembers } from '../internal/conceal-members.ts';
import { defineOptions, type OptionTable, optional } from '../internal/options.ts';
import { checkNamedKey, checkSecretText, invalid, type PartnerCredentials } from './partner-credentials.ts';

const members = {
  partnerPublicKey: (key) => checkNamedKey('partnerPublicKey', key),
  partnerSecretKey: (key) => checkNamedKey('partnerSecretKey', key),
  merchantSecretKey: optional((key) => checkNamedKey('merchantSecretKey', key)),
  merchantSecretKeys: optional(checkMerchants),
  partnerId: optional(checkName),
  partnerCode: optional(checkName),
} satisfies OptionTable<PartnerCredentials>;

const readCredentials = defineOptions('credentials', members, 'invalid_credentials');

const secretMembers = ['partnerSecretKey', 'merchantSecretKey', 'merchantSecretKeys'] as const;

/**
 * Checks credentials and returns a frozen copy whose secrets can be read by name but are not enumerable: they
 * do not show in `console.log`, `util.inspect`, `JSON.stringify` or a spread copy.
 *
 * @throws {ConfigurationError} `invalid_credentials`, naming the key that is missing, blank, padded, swapped or unknown
 * @example
 * ```ts
 * const credentials = defineCredentials({
 *   partnerPublicKey: process.env.PARTNER_PUBLIC_KEY ?? '',
 *   partnerSecretKey: process.env.PARTNER_SECRET_KEY ?? '',
 *   merchantSecretKey: process.env.MERCHANT_SECRET_KEY,
 * });
 * ```
 */
export function defineCredentials(credentials: PartnerCredentials): PartnerCredentials {
  if (typeof credentials !== 'object' || credentials === null) {
    throw invalid(
      'Credentials are missing.',
      'readEnvironment() returns them where PARTNER_PUBLIC_KEY is set.',
    );
  }
  const read = readCredentials(credentials);
  const copy = Object.fromEntries(Object.entries(read).filter(([, given]) => given !== undefined));
  concealMembers(
    copy,
    secretMembers,
    () => `PartnerCredentials { partnerPublicKey: '${read.partnerPublicKey}', secrets: [redacted] }`,
  );
  // Sound: it has the members that were read.
  return Object.freeze(copy) as unknown as PartnerCredentials;
}

function checkMerchants(merchants: unknown): Readonly<Record<string, string>> {
  if (typeof merchants !== 'object' || merchants === null) {
    throw invalid('merchantSecretKeys must be an object of name and key.');
  }
  const keys = Object.entries(merchants).map(
    ([name, key]) => [name, checkNamedKey('merchantSecretKey', key, `merchantSecretKeys.${name}`)] as const,
  );
  if (keys.length === 0) throw invalid('merchantSecretKeys is empty.', 'Leave it out.');
  return Object.freeze(Object.fromEntries(keys));
}

function checkName(given: unknown, name: string): string {
  if (typeof given !== 'string' || given === '' || given.trim() !== given) {
    throw invalid(`${name} must be text without blanks around it.`);
  }
  // It is sent as a header.
  if (name === 'partnerId') checkSecretText(given, name);
  return given;
}

/** All keys of a set, the public key included: no error or log may show them. */
export function allKeysOf(credentials: PartnerCredentials): string[] {
  return [credentials.partnerPublicKey, ...secretKeysOf(credentials)];
}

export function secretKeysOf(credentials: PartnerCredentials): string[] {
  const { partnerSecretKey, merchantSecretKey, merchantSecretKeys = {} } = credentials;
  const single = merchantSecretKey === undefined ? [] : [merchantSecretKey];
  return [partnerSecretKey, ...single, ...Object.values(merchantSecretKeys)];
}

// Sound: the names of a table of its members.
const memberNames = Object.keys(members) as readonly (keyof PartnerCredentials)[];

/** A copy with every member that has a value, in a fixed order. Its secrets are enumerable: never show it. */
export function plainCredentials(credentials: PartnerCredentials): PartnerCredentials {
  const present = memberNames.filter((name) => credentials[name] !== undefined);
  const copies = present.map((name) => [name, structuredClone(credentials[name])]);
  // Sound: it has the members that have a value.
  return Object.fromEntries(copies) as unknown as PartnerCredentials;
}

export function areSameCredentials(one: PartnerCredentials, other: PartnerCredentials): boolean {
  return JSON.stringify(plainCredentials(one)) === JSON.stringify(plainCredentials(other));
}
