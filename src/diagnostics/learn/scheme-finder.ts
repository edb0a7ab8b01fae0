import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import { defaultScheme, type SignatureScheme } from '../../signature/signature-scheme.ts';
import { tryVerify } from '../../signature/try-verify.ts';
import type { VerifiedBody } from '../../signature/verify-body.ts';
import { detectScheme } from '../detection/detect-scheme.ts';
import { makeKey, merchantSecrets } from '../detection/scheme-space.ts';
import { type Conclusion, type RowTally, shown } from './evidence.ts';

/** A body that one of the keys has signed. */
export interface GenuineBody extends Pick<VerifiedBody, 'value' | 'json'> {
  readonly merchant: string | undefined;
}

/** A search takes tenths of a second, and strangers can post as much as they like. */
const maxSearches = 20;
/** Further bodies tell schemes apart no better. */
const maxComparisons = 100;

/** Finds the schemes that fit all genuine bodies, while they come. A body that no key signed says nothing of them. */
export function createSchemeFinder(sets: readonly PartnerCredentials[], configured: SignatureScheme) {
  let schemes: readonly SignatureScheme[] = [];
  let searches = 0;
  let comparisons = 0;
  const keysOf = new Map<SignatureScheme, ReturnType<typeof keysUnder>>();

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
      const { survivors } = detectScheme(body, set);
      schemes = survivors.map(({ scheme }) => scheme);
      if (schemes.length > 0) return;
    }
  }

  return {
    /** The content of a genuine body; `undefined` for any other. */
    read(body: string | Uint8Array): GenuineBody | undefined {
      if (schemes.length === 0) search(body);
      const [first, ...others] = schemes;
      if (first === undefined) return undefined;
      const genuine = verified(body, first);
      if (others.length === 0 || (genuine !== undefined && comparisons >= maxComparisons)) return genuine;
      const fitting = schemes.filter((scheme) => verified(body, scheme) !== undefined);
      const [best] = fitting;
      if (best === undefined) return undefined;
      comparisons++;
      schemes = fitting;
      return verified(body, best);
    },
    /** The most plausible first. */
    get schemes(): readonly SignatureScheme[] {
      return schemes;
    },
  };
}

function keysUnder(sets: readonly PartnerCredentials[], scheme: SignatureScheme) {
  return sets.flatMap(merchantSecrets).flatMap(({ secrets, merchant }) => {
    const key = makeKey(secrets, scheme, 'order');
    return key === undefined ? [] : [{ key, merchant }];
  });
}

/** One signature proves a scheme, since nobody else has the keys; what the schemes that fit differ in is open. */
export function concludeScheme(
  { part, howToSee }: { readonly part: keyof SignatureScheme; readonly howToSee: string },
  {
    schemes,
    signed,
    configured,
  }: {
    readonly schemes: readonly SignatureScheme[];
    readonly signed: RowTally;
    readonly configured: SignatureScheme;
  },
): Conclusion {
  const [best] = schemes;
  const open = { verdict: 'not-seen', samples: 0, found: [], howToSee } as const;
  if (best === undefined) return open;
  const parts = new Set(schemes.map((scheme) => scheme[part] ?? assumed[part]));
  if (parts.size > 1) return { ...open, found: [...parts].slice(0, 5).map((value) => `${value}`) };
  if (part === 'keySeparator' && !(best.orderKey ?? assumed.orderKey).includes('+')) return open;
  const [value = ''] = parts;
  const evidence = { ...shown(signed.for), found: [JSON.stringify(value)] };
  return value === (configured[part] ?? assumed[part])
    ? { verdict: 'proven', ...evidence }
    : { verdict: 'refuted', ...evidence, set: { signature: best } };
}

/** With the parts that the default scheme leaves out. */
const assumed = {
  ...defaultScheme,
  separator: '',
  joiner: '',
  keySeparator: '',
  orderKey: 'merchant+partner',
} as const;
