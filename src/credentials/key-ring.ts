import { ConfigurationError } from '../errors/configuration-error.ts';
import { defineCredentials } from './define-credentials.ts';
import type { PartnerCredentials } from './partner-credentials.ts';
import { type KeyScheme, merchantsFor, signingKey } from './signing-key.ts';

/** Which key verified a delivery. Never the key itself. */
export interface MatchedKey {
  /** Place of the credentials in the list given (0 for a single one), or of the key in `keys`. */
  readonly index: number;
  readonly partnerId?: string;
  readonly partnerCode?: string;
  /** The name in `merchantSecretKeys`; absent for `merchantSecretKey`. */
  readonly merchant?: string;
}

/** Keys to verify with, and what to call each of them. */
export interface KeyRing {
  readonly keys: readonly string[];
  readonly labels: readonly MatchedKey[];
}

/**
 * Every merchant of every generation of credentials, in the order given.
 *
 * @throws {ConfigurationError} `invalid_credentials`
 */
export function keyRingOf(
  credentials: PartnerCredentials | readonly PartnerCredentials[],
  scheme: KeyScheme,
): KeyRing {
  const generations = isList(credentials) ? credentials : [credentials];
  if (generations.length === 0) throw invalid('credentials is an empty list.');
  const entries = generations.flatMap((generation, index) => {
    const checked = defineCredentials(generation);
    return merchantsFor(checked, scheme).map((merchant) => ({
      // Where a merchant secret is needed and there is none, this throws and says so.
      key: signingKey(checked, 'order', { merchant, scheme }),
      label: {
        index,
        ...(checked.partnerId !== undefined && { partnerId: checked.partnerId }),
        ...(checked.partnerCode !== undefined && { partnerCode: checked.partnerCode }),
        ...(merchant !== undefined && { merchant }),
      },
    }));
  });
  return { keys: entries.map(({ key }) => key), labels: entries.map(({ label }) => label) };
}

/** Keys given as they are, for a deployment that combines them differently. */
export function keyRingOfKeys(keys: readonly string[]): KeyRing {
  if (
    !Array.isArray(keys) ||
    keys.length === 0 ||
    keys.some((key) => typeof key !== 'string' || key === '' || key.trim() !== key)
  ) {
    throw invalid('keys must be a list of texts that are not empty and have no blanks around them.');
  }
  return { keys: [...keys], labels: keys.map((_, index) => ({ index })) };
}

function isList(
  value: PartnerCredentials | readonly PartnerCredentials[],
): value is readonly PartnerCredentials[] {
  return Array.isArray(value);
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_credentials', message);
}
