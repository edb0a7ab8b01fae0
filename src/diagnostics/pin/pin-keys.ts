import { isKeyRing, type KeyRing, loadedKeys } from '../../credentials/key-ring.ts';
import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import { merchantsFor, signingKey } from '../../credentials/signing-key.ts';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import { checkKeys } from '../../signature/check-keys.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';

/** Give one of the two. */
export interface PinKeys {
  /** The key that signs, or several. */
  key?: string | readonly string[] | undefined;
  /**
   * Every key that they make under the scheme is tried: for orders with each merchant, and for general requests. Of a
   * key ring those that it has read: `await ring.reload()` first.
   */
  credentials?: PartnerCredentials | readonly PartnerCredentials[] | KeyRing | undefined;
}

/** @throws {ConfigurationError} `invalid_credentials` @throws {KeyError} `keys_unavailable` */
export function pinKeys({ key, credentials }: PinKeys, scheme: SignatureScheme): readonly string[] {
  if ((key === undefined) === (credentials === undefined)) {
    throw new ConfigurationError('invalid_credentials', 'A pin needs either key or credentials.');
  }
  if (key !== undefined) return checkKeys(key);
  return checkKeys(generationsOf(credentials).flatMap((generation) => keysOf(generation, scheme)));
}

function keysOf(credentials: PartnerCredentials, scheme: SignatureScheme): string[] {
  const general = signingKey(credentials, 'general');
  const needsMerchant = (scheme.orderKey ?? 'merchant+partner').includes('merchant');
  const hasMerchant =
    credentials.merchantSecretKey !== undefined || credentials.merchantSecretKeys !== undefined;
  if (needsMerchant && !hasMerchant) return [general];
  const orders = merchantsFor(credentials, scheme).map((merchant) =>
    signingKey(credentials, 'order', { merchant, scheme }),
  );
  return [...orders, general];
}

function generationsOf(given: PinKeys['credentials']): readonly PartnerCredentials[] {
  if (given === undefined) return [];
  if (isKeyRing(given)) return loadedKeys(given).verifying;
  return isList(given) ? given : [given];
}

function isList(
  value: PartnerCredentials | readonly PartnerCredentials[],
): value is readonly PartnerCredentials[] {
  return Array.isArray(value);
}
