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

/** Keys to verify with, and what is known of each of them, at the same place of each list. */
export interface KeyRing {
  readonly keys: readonly string[];
  readonly labels: readonly MatchedKey[];
  /**
   * Whose key it is: the same text for all keys of one partner, also of several generations; empty where nothing in
   * the configuration says it.
   */
  readonly partners: readonly string[];
}

/**
 * Every merchant of every set of credentials, in the order given. The sets may be generations of one partner, or
 * partners, or both.
 *
 * @throws {ConfigurationError} `invalid_credentials`
 */
export function keyRingOf(
  credentials: PartnerCredentials | readonly PartnerCredentials[],
  scheme: KeyScheme,
): KeyRing {
  const sets = (isList(credentials) ? credentials : [credentials]).map((set) => defineCredentials(set));
  if (sets.length === 0) throw invalid('credentials is an empty list.');
  const partners = partnersOf(sets);
  const entries = sets.flatMap((checked, index) =>
    merchantsFor(checked, scheme).map((merchant) => ({
      partner: partners[index] ?? '',
      // Where a merchant secret is needed and there is none, this throws and says so.
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
 * The partner of each set of credentials: its `partnerId`, else its `partnerCode`. A set that gives only the code is of
 * the partner whose ID another set gives with that code; a set that gives neither is of the one partner that the list
 * names. Where that leaves a choice, or no set names a partner, the set is of none.
 *
 * The keys themselves say nothing: every generation has others, the public one too.
 */
function partnersOf(sets: readonly PartnerCredentials[]): string[] {
  const named = sets.map(({ partnerId, partnerCode }) => {
    if (partnerId === undefined && partnerCode === undefined) return undefined;
    const sameCode = sets.filter((set) => set.partnerCode === partnerCode);
    const id = partnerId ?? onlyValue(sameCode.map((set) => set.partnerId));
    return id === undefined ? `code ${partnerCode}` : `id ${id}`;
  });
  const fallback = onlyValue(named) ?? '';
  return named.map((partner) => partner ?? fallback);
}

/** The one value in a list; `undefined` when it has none or several. */
function onlyValue(values: readonly (string | undefined)[]): string | undefined {
  const [only, ...others] = new Set(values.filter((value) => value !== undefined));
  return others.length === 0 ? only : undefined;
}

/** Keys given as they are, for a deployment that combines them differently: all of one partner. */
export function keyRingOfKeys(keys: readonly string[]): KeyRing {
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

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_credentials', message);
}
