import { keyPrefixes } from '../../../credentials/partner-credentials.ts';
import type { SigningPurpose } from '../../../credentials/signing-key.ts';
import { serializationRules, type TextRules } from '../../../signature/serializations.ts';
import {
  type Construction,
  type Encoding,
  type OrderKey,
  type SignatureScheme,
  schemeParts,
} from '../../../signature/signature-scheme.ts';

/**
 * Keys as issued, unchecked: swapped, padded and incomplete ones are to be found. {@link PartnerCredentials} are such
 * keys.
 */
export interface UncheckedKeys {
  /** The partner secret. */
  readonly partnerSecretKey?: string | undefined;
  /** The merchant secret. */
  readonly merchantSecretKey?: string | undefined;
  /** Further merchants by name. Each is tried with every body. */
  readonly merchantSecretKeys?: Readonly<Record<string, string>> | undefined;
  /** The public key, which some services make part of the key for orders. */
  readonly partnerPublicKey?: string | undefined;
}

export type SecretName = Exclude<keyof UncheckedKeys, 'merchantSecretKeys'>;

/** Separators between secret and text. Some services end a query with `&key=`. */
export const separators: readonly string[] = ['', '|', ':', '&', '&key='];

/** Separators between joined values. */
export const joiners: readonly string[] = ['', '|', ':', '.', '&', ',', '\n'];

/** Separators between the two parts of a key. */
export const keySeparators: readonly string[] = ['', '|', ':', '.', '-', '_', '&', ',', '/', '\n'];

/** How the secret enters the digest. */
type FormRule = Pick<SignatureScheme, 'construction' | 'separator'>;

/** How the key is made. Empty: the scheme's default, or the partner secret for a general request. */
type KeyRule = Pick<SignatureScheme, 'orderKey' | 'keySeparator'>;

interface SchemeRules {
  readonly form: FormRule;
  readonly text: TextRules;
  readonly key: KeyRule;
  readonly encoding: Encoding;
}

export function allFormRules(): FormRule[] {
  return schemeParts.construction.flatMap((construction): FormRule[] =>
    construction === 'hmac'
      ? [{ construction }]
      : separators.map((separator) => ({ construction, ...(separator && { separator }) })),
  );
}

export function allTextRules(): TextRules[] {
  return schemeParts.serialization.flatMap((serialization) =>
    serializationRules(serialization).takesJoiner
      ? joiners.map((joiner) => ({ serialization, ...(joiner && { joiner }) }))
      : [{ serialization }],
  );
}

/** @param between the key separators to try */
export function allKeyRules(purpose: SigningPurpose, between: readonly string[] = keySeparators): KeyRule[] {
  // General requests have one key, whatever the scheme says about orders.
  if (purpose === 'general') return [{}];
  return schemeParts.orderKey.flatMap((orderKey) => {
    const name = orderKey === 'merchant+partner' ? {} : { orderKey };
    return hasTwoParts(orderKey)
      ? between.map((keySeparator) => ({ ...name, ...(keySeparator && { keySeparator }) }))
      : [name];
  });
}

/** Names only what differs from the default and has an effect, so each scheme has one form. */
export function composeScheme({ form, text, key, encoding }: SchemeRules): SignatureScheme {
  const { construction, ...separator } = form;
  const { serialization, ...joiner } = text;
  return { construction, serialization, encoding, ...separator, ...joiner, ...key };
}

/** Drops the parts of a scheme that equal the default or have no effect. */
export function normalizeScheme(scheme: SignatureScheme): SignatureScheme {
  const { construction, serialization, encoding, separator, joiner, orderKey, keySeparator } = scheme;
  return {
    construction,
    serialization,
    encoding,
    ...(separator && construction !== 'hmac' && { separator }),
    ...(joiner && serializationRules(serialization).takesJoiner && { joiner }),
    ...(orderKey && orderKey !== 'merchant+partner' && { orderKey }),
    ...(keySeparator && hasTwoParts(orderKey ?? 'merchant+partner') && { keySeparator }),
  };
}

function hasTwoParts(orderKey: OrderKey): boolean {
  return orderKey.includes('+');
}

/** A key to try, and the rules that make it: several if secrets are equal. */
export type KeyCandidates = ReadonlyMap<string, readonly KeyRule[]>;

/** The secret of each part of an `orderKey`. */
const partNames = [
  ['partner', 'partnerSecretKey'],
  ['merchant', 'merchantSecretKey'],
  ['public', 'partnerPublicKey'],
] as const satisfies readonly (readonly [string, SecretName])[];

export const secretNames: readonly SecretName[] = partNames.map(([, name]) => name);

/** The distinct keys that the secrets of one or several merchants can make. */
export function keyCandidates(
  secrets: UncheckedKeys | readonly UncheckedKeys[],
  purpose: SigningPurpose,
  separators?: readonly string[],
): KeyCandidates {
  const candidates = new Map<string, Set<KeyRule>>();
  for (const rule of allKeyRules(purpose, separators)) {
    for (const each of [secrets].flat()) {
      const key = makeKey(each, rule, purpose);
      if (key === undefined) continue;
      candidates.set(key, (candidates.get(key) ?? new Set()).add(rule));
    }
  }
  return new Map([...candidates].map(([key, rules]) => [key, [...rules]]));
}

/** The key of a rule; `undefined` if a secret is missing, and for the public key alone, which anybody has. */
export function makeKey(
  secrets: UncheckedKeys,
  { orderKey = 'merchant+partner', keySeparator = '' }: KeyRule,
  purpose: SigningPurpose,
): string | undefined {
  const names = purpose === 'general' ? ['partner'] : orderKey.split('+');
  const parts = names.map((name) => {
    const secret = partNames.find(([part]) => part === name)?.[1];
    return secret && secrets[secret];
  });
  if (!parts.every((part) => part)) return undefined;
  const known = publicTexts(secrets);
  return parts.every((part) => known.includes(part ?? '')) ? undefined : parts.join(keySeparator);
}

/** The keys that anybody can make from the public key. */
export function publicKeys(secrets: UncheckedKeys): KeyCandidates {
  const texts = publicTexts(secrets).flatMap((text) => {
    const bare = text.trim();
    return [text, bare, bare.replace(keyPrefixes.partnerPublicKey, '')];
  });
  return new Map(texts.flatMap((text) => [text, text + text]).map((key) => [key, [{}]]));
}

/** Every text with the prefix of a public key; without any, the text in its place. */
function publicTexts(secrets: UncheckedKeys): string[] {
  const given = secretNames.flatMap((name) => secrets[name] ?? []);
  const begins = (prefix: string) => (text: string) => text.trim().startsWith(prefix);
  const evident = given.filter(begins(keyPrefixes.partnerPublicKey));
  const { partnerPublicKey } = secrets;
  if (evident.length > 0 || !partnerPublicKey) return evident;
  const { partnerSecretKey, merchantSecretKey } = keyPrefixes;
  return [partnerSecretKey, merchantSecretKey].some((prefix) => begins(prefix)(partnerPublicKey))
    ? []
    : [partnerPublicKey];
}

interface MerchantSecrets {
  readonly secrets: UncheckedKeys;
  readonly merchant: string | undefined;
}

/** The secrets of each merchant; one entry without a name if it has no merchant. Accepts anything. */
export function merchantSecrets(given: unknown): MerchantSecrets[] {
  const { merchantSecretKey, ...others } = presentSecrets(given);
  const single = {
    secrets: { ...others, ...(merchantSecretKey && { merchantSecretKey }) },
    merchant: undefined,
  };
  const byName: unknown =
    typeof given === 'object' && given !== null ? Reflect.get(given, 'merchantSecretKeys') : undefined;
  if (typeof byName !== 'object' || byName === null) return [single];
  const named = Object.entries(byName).map(([merchant, key]) => ({
    secrets: { ...others, ...presentSecrets({ merchantSecretKey: key }) },
    merchant,
  }));
  return merchantSecretKey !== undefined || named.length === 0 ? [single, ...named] : named;
}

/** The secrets that are non-empty text. Accepts anything, since callers may be plain JavaScript. */
function presentSecrets(secrets: unknown): UncheckedKeys {
  if (typeof secrets !== 'object' || secrets === null) return {};
  const present: Partial<Record<SecretName, string>> = {};
  for (const name of secretNames) {
    // Not by Object.entries, since the secrets of credentials are not enumerable.
    const value: unknown = Reflect.get(secrets, name);
    if (typeof value === 'string' && value !== '') present[name] = value;
  }
  return present;
}

/** Published first, then reported (Authentication 5 and 7), then keys with both secrets, then one secret alone. */
const orderKeys: readonly OrderKey[] = [
  'merchant+partner',
  'public+partner',
  'partner+merchant',
  'partner',
  'merchant',
];

/** The safest first. */
const constructions: readonly Construction[] = ['hmac', 'hash-suffix', 'hash-prefix'];

/** The most plausible and safest first, and of those the simplest; without one where another says the same. */
export function rankSchemes(schemes: readonly SignatureScheme[]): SignatureScheme[] {
  const fitting = new Set(schemes.map((scheme) => JSON.stringify(scheme)));
  return schemes
    .filter((scheme) => {
      const { likeUnspaced } = serializationRules(scheme.serialization);
      return !fitting.has(JSON.stringify({ ...scheme, serialization: likeUnspaced }));
    })
    .map((scheme) => ({ scheme, places: placesOf(scheme) }))
    .sort((left, right) => compare(left.places, right.places))
    .map(({ scheme }) => scheme);
}

function placesOf(scheme: SignatureScheme): number[] {
  const { separator = '', joiner = '', keySeparator = '' } = scheme;
  return [
    orderKeys.indexOf(scheme.orderKey ?? 'merchant+partner'),
    constructions.indexOf(scheme.construction),
    [separator, joiner, keySeparator].filter((text) => text !== '').length,
    serializationRules(scheme.serialization).preference,
    joiners.indexOf(joiner),
    separators.indexOf(separator),
    keySeparators.indexOf(keySeparator),
    // Few services write capitals.
    Number(scheme.encoding === 'hex-upper'),
  ];
}

function compare(left: readonly number[], right: readonly number[]): number {
  for (const [index, place] of left.entries()) {
    const difference = place - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
