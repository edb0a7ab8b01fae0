import { invalid } from './check-key.ts';
import { defineCredentials } from './define-credentials.ts';
import type { PartnerCredentials } from './partner-credentials.ts';
import { type KeyScheme, merchantsFor, signingKey } from './signing-key.ts';

/** Which key verified a delivery. Never the key itself. */
export interface MatchedKey {
  /** The place of the credentials in the given list (0 for a single one), or of the key in `keys`. */
  readonly index: number;
  readonly partnerId?: string;
  readonly partnerCode?: string;
  /** The name in `merchantSecretKeys`; absent for `merchantSecretKey`. */
  readonly merchant?: string;
}

/** The keys to verify with, and what is known of each: the lists run in parallel. */
export interface VerificationKeys {
  readonly keys: readonly string[];
  readonly labels: readonly MatchedKey[];
  /**
   * Whose key it is: the same text for all keys of one partner, in every generation; empty where the configuration does
   * not say.
   */
  readonly partners: readonly string[];
}

/**
 * Every merchant of every set of credentials, in the given order. The sets may be generations of one partner, several
 * partners, or both.
 *
 * @throws {ConfigurationError} `invalid_credentials`
 */
export function verificationKeysOf(
  credentials: PartnerCredentials | readonly PartnerCredentials[],
  scheme: KeyScheme,
): VerificationKeys {
  const sets = (isList(credentials) ? credentials : [credentials]).map((set) => defineCredentials(set));
  if (sets.length === 0) throw invalid('credentials is an empty list.');
  const partners = partnersOf(sets);
  const entries = sets.flatMap((checked, index) =>
    merchantsFor(checked, scheme).map((merchant) => ({
      partner: partners[index] ?? '',
      // Throws when a merchant secret is needed and missing.
      key: signingKey(checked, 'order', { merchant, scheme }),
      label: {
        index,
        ...(checked.partnerId !== undefined && { partnerId: checked.partnerId }),
        ...(checked.partnerCode !== undefined && { partnerCode: checked.partnerCode }),
        ...(merchant !== undefined && { merchant }),
      },
    })),
  );
  return {
    keys: entries.map(({ key }) => key),
    labels: entries.map(({ label }) => label),
    partners: entries.map(({ partner }) => partner),
  };
}

/**
 * The partner of each set of credentials: its `partnerId`, otherwise its `partnerCode`. A set with only a code belongs
 * to the partner whose ID another set gives with that code. A set with neither belongs to the only partner that the
 * list names. If that leaves a choice, or no set names a partner, the set has no partner.
 *
 * The keys do not tell: every generation has new ones, the public key included.
 */
function partnersOf(sets: readonly PartnerCredentials[]): string[] {
  const sameCode = Map.groupBy(sets, ({ partnerCode }) => partnerCode);
  // Looked up once for each code: there may be thousands of partners.
  const idOfCode = new Map(
    [...sameCode].map(([code, those]) => [code, onlyValue(those.map(({ partnerId }) => partnerId))]),
  );
  const named = sets.map(({ partnerId, partnerCode }) => {
    if (partnerId === undefined && partnerCode === undefined) return undefined;
    const id = partnerId ?? idOfCode.get(partnerCode);
    return id === undefined ? `code ${partnerCode}` : `id ${id}`;
  });
  const fallback = onlyValue(named) ?? '';
  return named.map((partner) => partner ?? fallback);
}

/** The only value in a list; `undefined` if there is none or more than one. */
function onlyValue(values: readonly (string | undefined)[]): string | undefined {
  const [only, ...others] = new Set(values.filter((value) => value !== undefined));
  return others.length === 0 ? only : undefined;
}

/** Keys as they are, for a deployment that combines secrets differently: all of one partner. */
export function verificationKeysOfTexts(keys: readonly string[]): VerificationKeys {
  if (
    !Array.isArray(keys) ||
    keys.length === 0 ||
    keys.some((key) => typeof key !== 'string' || key === '' || key.trim() !== key)
  ) {
    throw invalid('keys must be a list of texts that are not empty and have no blanks around them.');
  }
  return { keys: [...keys], labels: keys.map((_, index) => ({ index })), partners: keys.map(() => '') };
}

function isList(
  value: PartnerCredentials | readonly PartnerCredentials[],
): value is readonly PartnerCredentials[] {
  return Array.isArray(value);
}
