import type { SigningPurpose } from '../../credentials/signing-key.ts';
import type { DetectionSecrets, SecretName } from './detection.ts';
import { allKeyRules, type KeyRule } from './scheme-space.ts';

/** A key to try, and the rules by which it is made: several where secrets are alike. */
export type KeyCandidates = ReadonlyMap<string, readonly KeyRule[]>;

export const secretNames = [
  'partnerSecretKey',
  'merchantSecretKey',
  'partnerPublicKey',
] as const satisfies readonly SecretName[];

/** What a part of an `orderKey` stands for. */
export const partNames = [
  ['partner', 'partnerSecretKey'],
  ['merchant', 'merchantSecretKey'],
  ['public', 'partnerPublicKey'],
] as const satisfies readonly (readonly [string, SecretName])[];

/** Every key that can be made of the secrets, each once. */
export function keyCandidates(
  secrets: DetectionSecrets,
  purpose: SigningPurpose,
  separators?: readonly string[],
): KeyCandidates {
  const candidates = new Map<string, KeyRule[]>();
  for (const rule of allKeyRules(purpose, separators)) {
    const key = makeKey(secrets, rule, purpose);
    if (key === undefined) continue;
    const rules = candidates.get(key);
    if (rules) rules.push(rule);
    else candidates.set(key, [rule]);
  }
  return candidates;
}

/** The key that a rule makes; `undefined` where it needs a secret that is not there. */
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

/** The secrets that are there: text that is not empty. Takes anything, since callers may be plain JavaScript. */
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
