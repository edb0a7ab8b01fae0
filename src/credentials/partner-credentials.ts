import { ConfigurationError } from '../errors/errors.ts';
import type { Text } from '../errors/remedies.ts';

/**
 * The keys that the service issues to a partner (contract: Partner credentials).
 *
 * Every option that accepts credentials accepts a plain object; `defineCredentials` checks it at once and makes a copy
 * that does not print its secrets.
 */
export interface PartnerCredentials {
  /** Bearer token of the partner's requests; begins with `pk_partner_`. */
  readonly partnerPublicKey: string;
  /** Signs general requests; begins with `sk_partner_`. */
  readonly partnerSecretKey: string;
  /** Signs orders and order events together with the partner secret. Usually begins with `sk_merchant_` (reported: not always). */
  readonly merchantSecretKey?: string | undefined;
  /** Further merchants by a name of your choice, e.g. the currency: reported, a partner can hold one merchant per currency. */
  readonly merchantSecretKeys?: Readonly<Record<string, string>> | undefined;
  /** Issued with the keys; sent as `x-partner-id` with orders (reported). */
  readonly partnerId?: string | undefined;
  /** The code chosen at onboarding; the default of `onboard` and `regenerateKeys`. */
  readonly partnerCode?: string | undefined;
}

type KeyName = 'partnerPublicKey' | 'partnerSecretKey' | 'merchantSecretKey';

/** How each key begins (contract: Partner credentials). */
export const keyPrefixes = {
  partnerPublicKey: 'pk_partner_',
  partnerSecretKey: 'sk_partner_',
  merchantSecretKey: 'sk_merchant_',
} as const satisfies Record<KeyName, string>;

/**
 * The merchant secret's own prefix is optional (a published sample has none), but that of another kind is refused.
 *
 * @throws {ConfigurationError} `invalid_credentials`; the message names the key and never shows it
 */
export function checkNamedKey(name: KeyName, value: unknown, label: string = name): string {
  const key = checkSecretText(value, label);
  const kind = Object.entries(keyPrefixes).find(([, prefix]) => key.startsWith(prefix));
  if (kind !== undefined && kind[0] !== name) {
    throw invalid(`${label} holds a key that begins with ${kind[1]}: are two keys swapped?`);
  }
  if (kind === undefined && name !== 'merchantSecretKey') {
    throw invalid(`${label} must begin with ${keyPrefixes[name]}.`);
  }
  if (key === keyPrefixes[name]) throw invalid(`${label} is only a prefix.`);
  return key;
}

/** Refuses blanks around it and control characters in it. */
export function checkSecretText(value: unknown, label: string): string {
  if (value === undefined || value === null || value === '') throw invalid(`${label} is missing.`);
  if (typeof value !== 'string') throw invalid(`${label} must be text.`);
  if (/^\s*Bearer\s/i.test(value)) {
    throw invalid(
      `${label} begins with "Bearer".`,
      'Give the key alone: where the service wants that word, it is added.',
    );
  }
  if (value.trim() !== value) {
    throw invalid(`${label} has blanks or a line break around it.`, 'Trim it where it is read.');
  }
  for (let index = 0; index < value.length; index++) {
    const unit = value.charCodeAt(index);
    if (unit < 0x21 || unit > 0x7e) throw invalid(`${label} has a character that no key or header can hold.`);
  }
  return value;
}

export function invalid(what: string, remedy?: Text): ConfigurationError {
  return new ConfigurationError('invalid_credentials', what, { remedy });
}
