import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import { defaultScheme, type SignatureScheme, schemeParts } from '../../../signature/signature-scheme.ts';
import type { VerifiedBody } from '../../../signature/verify-body.ts';
import { isUsable, readSample } from '../detection/samples.ts';
import {
  allTextRules,
  makeKey,
  merchantSecrets,
  normalizeScheme,
  rankSchemes,
} from '../detection/scheme-space.ts';
import { fittingSchemes } from '../detection/search-schemes.ts';
import { tryVerify } from '../try-verify.ts';
import { type Conclusion, type RowTally, shown } from './evidence.ts';

/** A body that one of the keys has signed. */
export interface GenuineBody extends Pick<VerifiedBody, 'value' | 'json'> {
  readonly merchant: string | undefined;
}

/** A search takes tenths of a second, and strangers can post as much as they like. */
const maxSearches = 20;
/** Each takes milliseconds. */
const maxMisses = 500;
/** Further signatures, and further texts with one signature, tell schemes apart no better. */
const maxSignatures = 100;
const maxTexts = 8;

/**
 * Finds the schemes that fit the genuine bodies. A body that no key signed says nothing of them. Neither does a copy:
 * the holder of a signed body can write it in another spelling, which a loose scheme verifies. So of each signature the
 * best of its texts counts, in whatever order they came.
 */
export function createSchemeFinder(sets: readonly PartnerCredentials[], configured: SignatureScheme) {
  let candidates: readonly SignatureScheme[] = [];
  let schemes: readonly SignatureScheme[] = [];
  let searches = 0;
  let misses = 0;
  const keysOf = new Map<SignatureScheme, ReturnType<typeof keysUnder>>();
  /** The candidates that verify each text, by the digest that signs it. */
  const compared = new Map<string, ReadonlySet<SignatureScheme>[]>();

  function verified(body: string | Uint8Array, scheme: SignatureScheme): GenuineBody | undefined {
    const keys = keysOf.get(scheme) ?? keysUnder(sets, scheme);
    keysOf.set(scheme, keys);
    if (keys.length === 0) return undefined;
    const texts = keys.map(({ key }) => key);
    const { refusal, value, json, keyIndex } = tryVerify(body, texts, scheme);
    return refusal === undefined ? { value, json, merchant: keys[keyIndex]?.merchant } : undefined;
  }

  function search(body: string | Uint8Array): void {
    // The configured scheme costs next to nothing, and is not counted.
    if (verified(body, configured) === undefined && ++searches > maxSearches) return;
    for (const set of sets) {
      candidates = schemesLike(fittingSchemes(body, set));
      if (candidates.length > 0) return;
    }
  }

  function compare(body: string | Uint8Array): void {
    const sample = misses < maxMisses ? readSample(body) : undefined;
    if (sample === undefined || !isUsable(sample)) return;
    const digest = Buffer.from(sample.claimedDigest).toString('hex');
    const texts = compared.get(digest) ?? [];
    if (texts.length >= maxTexts || (texts.length === 0 && compared.size >= maxSignatures)) return;
    const possible = candidates.filter(({ encoding }) => sample.encodings.includes(encoding));
    const fitting = possible.filter((scheme) => verified(body, scheme) !== undefined);
    if (fitting.length === 0) misses++;
    else record(digest, fitting);
  }

  function record(digest: string, fitting: readonly SignatureScheme[]): void {
    compared.set(digest, [...(compared.get(digest) ?? []), new Set(fitting)]);
    schemes = schemesOf(candidates, [...compared.values()]);
  }

  return {
    /** Takes each body once, before it is read. */
    consider(body: string | Uint8Array): void {
      if (candidates.length === 0) search(body);
      compare(body);
    },
    /** The content of a genuine body; `undefined` for any other. */
    read(body: string | Uint8Array): GenuineBody | undefined {
      const [best] = schemes;
      return best && verified(body, best);
    },
    /** The most plausible first. */
    get schemes(): readonly SignatureScheme[] {
      return schemes;
    },
  };
}

/** Those that differ from one of these in the text and the encoding alone: a copy can have both of its own. */
function schemesLike(found: readonly SignatureScheme[]): SignatureScheme[] {
  const alike = found.flatMap(({ serialization: _, joiner: __, ...others }) =>
    allTextRules().flatMap((text) =>
      schemeParts.encoding.map((encoding) => normalizeScheme({ ...others, ...text, encoding })),
    ),
  );
  return [...new Map(alike.map((scheme) => [JSON.stringify(scheme), scheme])).values()];
}

/** The candidates that verify all that the best of them does: it verifies a text of the most signatures. */
function schemesOf(
  candidates: readonly SignatureScheme[],
  compared: readonly (readonly ReadonlySet<SignatureScheme>[])[],
): SignatureScheme[] {
  const verifiedBy = (scheme: SignatureScheme) =>
    compared.filter((texts) => texts.some((fitting) => fitting.has(scheme))).length;
  const counts = new Map(candidates.map((scheme) => [scheme, verifiedBy(scheme)]));
  const most = Math.max(...counts.values());
  const [best] = rankSchemes(candidates.filter((scheme) => counts.get(scheme) === most));
  const genuine = compared.flat().filter((fitting) => best !== undefined && fitting.has(best));
  return rankSchemes(candidates.filter((scheme) => genuine.every((fitting) => fitting.has(scheme))));
}

function keysUnder(sets: readonly PartnerCredentials[], scheme: SignatureScheme) {
  return sets.flatMap(merchantSecrets).flatMap(({ secrets, merchant }) => {
    const key = makeKey(secrets, scheme, 'order');
    return key === undefined ? [] : [{ key, merchant }];
  });
}

/** What is known of the scheme: from events, or from an oracle. */
export interface SchemeEvidence {
  /** The schemes that fit, the most plausible first. */
  readonly schemes: readonly SignatureScheme[];
  /** The samples that show it. */
  readonly signed: RowTally;
  /** Parts that the samples cannot show. */
  readonly openParts?: readonly (keyof SignatureScheme)[];
}

/** One signature proves a scheme, since only the service has the keys. What else fits stays open. */
export function concludeScheme(
  { part, howToSee }: { readonly part: keyof SignatureScheme; readonly howToSee: string },
  { schemes, signed, configured, openParts = [] }: SchemeEvidence & { readonly configured: SignatureScheme },
): Conclusion {
  const [best] = schemes;
  const open = { verdict: 'not-seen', samples: 0, found: [], howToSee } as const;
  if (best === undefined || openParts.includes(part)) return open;
  const parts = new Set(schemes.map((scheme) => scheme[part] ?? assumed[part]));
  if (parts.size > 1) return { ...open, found: [...parts].slice(0, 5).map((value) => `${value}`) };
  if (part === 'keySeparator' && !(best.orderKey ?? assumed.orderKey).includes('+')) return open;
  const [value = ''] = parts;
  const evidence = { ...shown(signed.for), found: [JSON.stringify(value)] };
  return value === (configured[part] ?? assumed[part])
    ? { verdict: 'proven', ...evidence }
    : { verdict: 'refuted', ...evidence, set: { signature: best } };
}

/** The default scheme, with the parts that it leaves out. */
const assumed = {
  ...defaultScheme,
  separator: '',
  joiner: '',
  keySeparator: '',
  orderKey: 'merchant+partner',
} as const;
