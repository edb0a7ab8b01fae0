import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkKey, checkSecretText, invalid } from './check-key.ts';
import type { PartnerCredentials } from './partner-credentials.ts';

const memberNames: OptionNames<PartnerCredentials> = {
  partnerPublicKey: true,
  partnerSecretKey: true,
  merchantSecretKey: true,
  merchantSecretKeys: true,
  partnerId: true,
  partnerCode: true,
};
const secretMembers = ['partnerSecretKey', 'merchantSecretKey', 'merchantSecretKeys'] as const;
/** Node, Bun and Deno look under this name for how to print an object. */
const inspect = Symbol.for('nodejs.util.inspect.custom');

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
  if (typeof credentials !== 'object' || credentials === null) throw invalid('Credentials are missing.');
  checkNames('credentials', credentials, memberNames, 'invalid_credentials');
  const { partnerPublicKey, partnerSecretKey, merchantSecretKey, merchantSecretKeys } = credentials;
  const copy = {
    partnerPublicKey: checkKey('partnerPublicKey', partnerPublicKey),
    partnerSecretKey: checkKey('partnerSecretKey', partnerSecretKey),
    ...(merchantSecretKey !== undefined && {
      merchantSecretKey: checkKey('merchantSecretKey', merchantSecretKey),
    }),
    ...(merchantSecretKeys !== undefined && { merchantSecretKeys: checkMerchants(merchantSecretKeys) }),
    ...optionalText('partnerId', credentials.partnerId),
    ...optionalText('partnerCode', credentials.partnerCode),
  };
  for (const member of secretMembers) {
    if (member in copy) Object.defineProperty(copy, member, { enumerable: false });
  }
  Object.defineProperty(copy, inspect, {
    value: () => `PartnerCredentials { partnerPublicKey: '${partnerPublicKey}', secrets: [redacted] }`,
  });
  return Object.freeze(copy);
}

function checkMerchants(merchants: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (typeof merchants !== 'object' || merchants === null) {
    throw invalid('merchantSecretKeys must be an object of name and key.');
  }
  const entries = Object.entries(merchants);
  if (entries.length === 0) throw invalid('merchantSecretKeys is empty: leave it out.');
  return Object.freeze(
    Object.fromEntries(
      entries.map(([name, key]) => [name, checkKey('merchantSecretKey', key, `merchantSecretKeys.${name}`)]),
    ),
  );
}

function optionalText(name: 'partnerId' | 'partnerCode', value: unknown): Record<string, string> {
  if (value === undefined) return {};
  if (typeof value !== 'string' || value === '' || value.trim() !== value) {
    throw invalid(`${name} must be text without blanks around it.`);
  }
  // It is sent as a header.
  if (name === 'partnerId') checkSecretText(value, name);
  return { [name]: value };
}
