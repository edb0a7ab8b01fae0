import { defineCredentials } from './define-credentials.ts';
import {
  haveDifferentNames,
  invalid,
  type KeyOrigin,
  namesOf,
  type PartnerCredentials,
  type PartnerNames,
} from './partner-credentials.ts';
import { type KeyScheme, merchantsFor, signingKey } from './signing-key.ts';

/** Which key verified a delivery. Never the key itself. */
export interface MatchedKey {
  /** The place of the credentials in the given list (0 for a single one). */
  readonly index: number;
  /** `partnerId` of the credentials, or of other keys of their rotation. */
  readonly partnerId?: string;
  /** `partnerCode` of the same. */
  readonly partnerCode?: string;
  /** The name in `merchantSecretKeys`; absent for `merchantSecretKey`. */
  readonly merchant?: string;
  /** The rotation of the credentials; absent if they come from elsewhere. */
  readonly origin?: KeyOrigin;
}

export interface VerificationKey {
  readonly text: string;
  /** What may be shown of it. */
  readonly matched: MatchedKey;
  /** Names the partner, alike for all its keys in every generation; empty where the configuration does not say. */
  readonly partner: string;
}

/**
 * The sets may be generations of one partner, several partners, or both.
 *
 * @param origin of the sets, if they come from a rotation
 * @throws {ConfigurationError} `invalid_credentials`
 */
export function verificationKeysOf(
  credentials: PartnerCredentials | readonly PartnerCredentials[],
  scheme: KeyScheme,
  origin?: KeyOrigin,
): readonly VerificationKey[] {
  const sets = [credentials].flat().map(defineCredentials);
  if (sets.length === 0) throw invalid('credentials is an empty list.');
  const partners = partnersOf(sets);
  const rotated = origin && rotationOf(sets, origin);
  return sets.flatMap((checked, index) =>
    merchantsFor(checked, scheme).map((merchant) => ({
      partner: rotated?.[index]?.partner ?? partners[index] ?? '',
      // Throws when a merchant secret is needed and missing.
      text: signingKey(checked, 'order', { merchant, scheme }),
      matched: {
        index,
        ...namesOf(checked),
        ...(merchant !== undefined && { merchant }),
        ...rotated?.[index]?.matched,
      },
    })),
  );
}

type RotatedSet = { readonly partner: string; readonly matched: Omit<MatchedKey, 'index' | 'merchant'> };

/**
 * The sets of one rotation are one partner: its first name is in the digests of all, and each is shown with all names.
 * `undefined` for a set with another name: `load` may add some, and earlier versions stored any name.
 */
function rotationOf(
  sets: readonly PartnerCredentials[],
  origin: KeyOrigin,
): readonly (RotatedSet | undefined)[] {
  let names: ReturnType<typeof namesOf> = {};
  const areOfRotation = sets.map((set) => {
    const isOfRotation = !haveDifferentNames(set, names);
    if (isOfRotation) names = { ...namesOf(set), ...names };
    return isOfRotation;
  });
  if (haveDifferentNames(origin, names)) return [];
  const partner = nameText(origin) ?? '';
  return sets.map((set, index) =>
    areOfRotation[index] ? { partner, matched: { ...names, ...namesOf(set), origin } } : undefined,
  );
}

/** Part of each digest: it must not change. */
function nameText({ partnerId, partnerCode }: PartnerNames): string | undefined {
  if (partnerId !== undefined) return `id ${partnerId}`;
  return partnerCode === undefined ? undefined : `code ${partnerCode}`;
}

/**
 * The partner of each set: its `partnerId`, otherwise its `partnerCode`. A set with only a code belongs to the
 * partner whose ID another set gives with that code; a set with neither to the only partner that the list names.
 * Otherwise it has none. The keys do not tell: every generation has new ones.
 */
function partnersOf(sets: readonly PartnerCredentials[]): string[] {
  const sameCode = Map.groupBy(sets, ({ partnerCode }) => partnerCode);
  // There may be thousands of partners.
  const idOfCode = new Map(
    [...sameCode].map(([code, those]) => [code, onlyValue(those.map(({ partnerId }) => partnerId))]),
  );
  const named = sets.map(({ partnerId, partnerCode }) => {
    const idOfSameCode = partnerCode === undefined ? undefined : idOfCode.get(partnerCode);
    return nameText({ partnerId: partnerId ?? idOfSameCode, partnerCode });
  });
  const fallback = onlyValue(named) ?? '';
  return named.map((partner) => partner ?? fallback);
}

function onlyValue(values: readonly (string | undefined)[]): string | undefined {
  const [only, ...others] = new Set(values.filter((value) => value !== undefined));
  return others.length === 0 ? only : undefined;
}
