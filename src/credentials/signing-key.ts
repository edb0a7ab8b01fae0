import { quotedName } from '../internal/printable-text.ts';
import { redactCredentials } from '../internal/redact-credentials.ts';
import type { SignatureScheme } from '../signature/signature-scheme.ts';
import type { PartnerCredentials } from './partner-credentials.ts';
import { checkNamedKey, invalid } from './partner-credentials.ts';

/**
 * What a signature is for: `order` for order creation and order notification, `general` for everything else
 * (contract: Authentication 5).
 */
export type SigningPurpose = 'general' | 'order';

/** What the key for orders is made of. */
export type KeyScheme = Pick<SignatureScheme, 'orderKey' | 'keySeparator'>;

/** Options of {@link signingKey}. */
export interface SigningKeyOptions {
  /** Which of `merchantSecretKeys` to use; not needed with a single merchant. */
  merchant?: string | undefined;
  /** The deployment's signature scheme, if it makes the key for orders differently. */
  scheme?: KeyScheme | undefined;
}

/**
 * The key that signs: the partner secret, or for orders the merchant secret followed by the partner secret
 * with nothing between (contract: Authentication 5; "nothing between" is reported).
 *
 * @throws {ConfigurationError} `invalid_credentials` when the keys needed are missing or swapped
 */
export function signingKey(
  credentials: PartnerCredentials,
  purpose: SigningPurpose,
  options: SigningKeyOptions = {},
): string {
  if (typeof credentials !== 'object' || credentials === null) throw invalid('Credentials are missing.');
  const partner = () => checkNamedKey('partnerSecretKey', credentials.partnerSecretKey);
  if (purpose === 'general') return partner();
  if (purpose !== 'order') throw invalid('The purpose of a signing key is "general" or "order".');
  const merchant = () => merchantKey(credentials, options.merchant);
  const { orderKey = 'merchant+partner', keySeparator = '' } = options.scheme ?? {};
  switch (orderKey) {
    case 'merchant+partner':
      return merchant() + keySeparator + partner();
    case 'partner+merchant':
      return partner() + keySeparator + merchant();
    case 'public+partner':
      return checkNamedKey('partnerPublicKey', credentials.partnerPublicKey) + keySeparator + partner();
    case 'merchant':
      return merchant();
    case 'partner':
      return partner();
  }
}

/**
 * The merchants that have a key under a scheme. `undefined` stands for `merchantSecretKey`, or for no merchant if the
 * scheme needs none.
 */
export function merchantsFor(credentials: PartnerCredentials, scheme: KeyScheme): (string | undefined)[] {
  const needed = (scheme.orderKey ?? 'merchant+partner').includes('merchant');
  const names: (string | undefined)[] = needed ? Object.keys(credentials.merchantSecretKeys ?? {}) : [];
  return credentials.merchantSecretKey !== undefined || names.length === 0 ? [undefined, ...names] : names;
}

/**
 * The merchant that is named, the one named like the order's currency (ledger: `several-merchants`), or the only one,
 * unless its name is that of another currency.
 * Never a default among several: the service would refuse its key.
 *
 * @param order its members under the published names
 * @returns a name in `merchantSecretKeys`; `undefined` for `merchantSecretKey`, or if the scheme needs no merchant
 * @throws {ConfigurationError} `invalid_credentials` if that leaves a choice
 */
export function merchantOfOrder(
  credentials: PartnerCredentials,
  order: { readonly fiat_currency?: unknown },
  { merchant, scheme = {} }: SigningKeyOptions = {},
): string | undefined {
  const candidates = merchantsFor(credentials, scheme);
  if (merchant !== undefined) return merchant;
  const currency = typeof order.fiat_currency === 'string' ? order.fiat_currency : '';
  const [single] = candidates;
  if (candidates.length === 1 && (single === undefined || !isOtherCurrency(single, currency))) return single;
  const named = candidates.filter((name) => name !== undefined);
  if (named.includes(currency)) return currency;
  const [only, ...others] = named.filter((name) => name.toLowerCase() === currency.toLowerCase());
  if (only !== undefined && others.length === 0) return only;
  throw invalid(
    "No merchant is named like the order's fiat_currency.",
    `Say with the merchant option which of merchantSecretKeys signs (${listOf(named)}).`,
  );
}

/** `GHS` for a merchant `NGN`, whose key signs no such order. A merchant may also have a name that is no currency. */
function isOtherCurrency(merchant: string, currency: string): boolean {
  const isCode = (name: string) => /^[A-Za-z]{3}$/.test(name);
  return isCode(merchant) && isCode(currency) && merchant.toUpperCase() !== currency.toUpperCase();
}

function merchantKey(credentials: PartnerCredentials, merchant: string | undefined): string {
  const { merchantSecretKey, merchantSecretKeys: named = {} } = credentials;
  const names = Object.keys(named);
  const isOnly = merchantSecretKey === undefined && names.length === 1;
  const name = merchant ?? (isOnly ? names[0] : undefined);
  if (name === undefined) {
    if (merchantSecretKey !== undefined) return checkNamedKey('merchantSecretKey', merchantSecretKey);
    if (names.length === 0) {
      throw invalid(
        'merchantSecretKey is missing: orders are signed with the merchant and the partner secret.',
      );
    }
    const remedy = `Say with the merchant option which one signs (${listOf(names)}).`;
    throw invalid('There are several merchants.', remedy);
  }
  if (!Object.hasOwn(named, name)) {
    throw invalid(`merchantSecretKeys has no merchant ${shown(name)}: it has ${listOf(names)}.`);
  }
  return checkNamedKey('merchantSecretKey', named[name], `merchantSecretKeys.${name}`);
}

function listOf(merchants: readonly string[]): string {
  return merchants.map(shown).join(', ') || 'none';
}

/** Name and key may have been swapped. */
function shown(merchant: string): string {
  return redactCredentials(quotedName(merchant));
}
