import { checkKey, invalid } from './check-key.ts';
import type { PartnerCredentials } from './partner-credentials.ts';

/**
 * What a signature is for: `order` for order creation and order notification, `general` for everything else
 * (contract: Authentication 5).
 */
export type SigningPurpose = 'general' | 'order';

/**
 * The key that signs: the partner secret, or for orders the merchant secret followed by the partner secret
 * with nothing between (contract: Authentication 5; "nothing between" is reported).
 *
 * @param merchant which of `merchantSecretKeys`; not needed with a single merchant
 * @throws {ConfigurationError} `invalid_credentials` when the keys needed are missing or swapped
 */
export function signingKey(
  credentials: PartnerCredentials,
  purpose: SigningPurpose,
  merchant?: string,
): string {
  const partner = checkKey('partnerSecretKey', credentials?.partnerSecretKey);
  if (purpose === 'general') return partner;
  if (purpose !== 'order') throw invalid('The purpose of a signing key is "general" or "order".');
  return merchantKey(credentials, merchant) + partner;
}

/** The names under which the credentials hold merchants; `undefined` stands for `merchantSecretKey`. */
export function merchantNames(credentials: PartnerCredentials): (string | undefined)[] {
  const names: (string | undefined)[] = Object.keys(credentials.merchantSecretKeys ?? {});
  if (credentials.merchantSecretKey !== undefined) names.unshift(undefined);
  return names;
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
