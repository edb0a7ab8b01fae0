import type { SignatureScheme } from '../signature/signature-scheme.ts';
import { checkKey, invalid } from './check-key.ts';
import type { PartnerCredentials } from './partner-credentials.ts';

/**
 * What a signature is for: `order` for order creation and order notification, `general` for everything else
 * (contract: Authentication 5).
 */
export type SigningPurpose = 'general' | 'order';

/** The part of a signature scheme that concerns keys: what the key for orders is made of. */
export type KeyScheme = Pick<SignatureScheme, 'orderKey' | 'keySeparator'>;

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
  const partner = () => checkKey('partnerSecretKey', credentials.partnerSecretKey);
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
      return checkKey('partnerPublicKey', credentials.partnerPublicKey) + keySeparator + partner();
    case 'merchant':
      return merchant();
    case 'partner':
      return partner();
  }
}

/**
 * The names of the merchants that have a key under a scheme. `undefined` stands for `merchantSecretKey`, or for no
 * merchant at all if the scheme needs none.
 */
export function merchantsFor(credentials: PartnerCredentials, scheme: KeyScheme): (string | undefined)[] {
  const needed = (scheme.orderKey ?? 'merchant+partner').includes('merchant');
  const names: (string | undefined)[] = needed ? Object.keys(credentials.merchantSecretKeys ?? {}) : [];
  return credentials.merchantSecretKey !== undefined || names.length === 0 ? [undefined, ...names] : names;
}

function merchantKey(credentials: PartnerCredentials, merchant: string | undefined): string {
  const named = credentials.merchantSecretKeys ?? {};
  if (merchant !== undefined) {
    if (!Object.hasOwn(named, merchant)) throw invalid(`merchantSecretKeys has no merchant "${merchant}".`);
    return checkKey('merchantSecretKey', named[merchant], `merchantSecretKeys.${merchant}`);
  }
  if (credentials.merchantSecretKey !== undefined) {
    return checkKey('merchantSecretKey', credentials.merchantSecretKey);
  }
  const [only, ...others] = Object.keys(named);
  if (only === undefined) {
    throw invalid(
      'merchantSecretKey is missing: orders are signed with the merchant and the partner secret.',
    );
  }
  if (others.length > 0) throw invalid('There are several merchants: say which one signs.');
  return checkKey('merchantSecretKey', named[only], `merchantSecretKeys.${only}`);
}
