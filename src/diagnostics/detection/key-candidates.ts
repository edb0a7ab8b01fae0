import type { SigningPurpose } from '../../credentials/signing-key.ts';
import type { DetectionSecrets, SecretName } from './detection.ts';
import { allKeyRules, type KeyRule } from './scheme-space.ts';

/** A key to try, and the rules that make it: several if secrets are equal. */
export type KeyCandidates = ReadonlyMap<string, readonly KeyRule[]>;

export const secretNames = [
  'partnerSecretKey',
  'merchantSecretKey',
  'partnerPublicKey',
] as const satisfies readonly SecretName[];

/** The secret that each part of an `orderKey` stands for. */
export const partNames = [
  ['partner', 'partnerSecretKey'],
  ['merchant', 'merchantSecretKey'],
  ['public', 'partnerPublicKey'],
] as const satisfies readonly (readonly [string, SecretName])[];

/** Every key that the secrets of one or several merchants can make, each once. */
export function keyCandidates(
  secrets: DetectionSecrets | readonly DetectionSecrets[],
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

/** The key that a rule makes; `undefined` if a secret is missing. */
export function makeKey(
  secrets: DetectionSecrets,
  { orderKey = 'merchant+partner', keySeparator = '' }: KeyRule,
  purpose: SigningPurpose,
): string | undefined {
  const names = purpose === 'general' ? ['partner'] : orderKey.split('+');
  const parts = names.map((name) => {
    const secret = partNames.find(([part]) => part === name)?.[1];
    return secret && secrets[secret];
  });
  return parts.every((part) => part) ? parts.join(keySeparator) : undefined;
}

/** The secrets of one merchant, and its name in `merchantSecretKeys`. */
export interface MerchantSecrets {
  readonly secrets: DetectionSecrets;
  readonly merchant: string | undefined;
}

/** The secrets of each merchant; one entry without a name if there is none. Accepts anything. */
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
export function presentSecrets(secrets: unknown): DetectionSecrets {
  if (typeof secrets !== 'object' || secrets === null) return {};
  const present: Partial<Record<SecretName, string>> = {};
  for (const name of secretNames) {
    // Not by Object.entries: the secrets of credentials are not enumerable.
    const value: unknown = Reflect.get(secrets, name);
    if (typeof value === 'string' && value !== '') present[name] = value;
  }
  return present;
}
