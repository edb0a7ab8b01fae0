import { keyPrefixes } from '../../credentials/check-key.ts';
import type { SigningPurpose } from '../../credentials/signing-key.ts';
import type { DetectionSecrets, NearMissCode, SecretName } from './detection.ts';
import { type KeyCandidates, keyCandidates, secretNames } from './key-candidates.ts';

/** Keys that would be tried if the secrets were different. */
export interface ChangedKeys {
  readonly code: NearMissCode;
  readonly message: string;
  readonly keys: KeyCandidates;
}

/** Every way in which the secrets may be wrong, the likeliest first. Keys tried before are left out. */
export function* changedSecrets(secrets: DetectionSecrets, purpose: SigningPurpose): Generator<ChangedKeys> {
  const tried = new Set(keyCandidates(secrets, purpose).keys());
  for (const { code, message, secrets: changed, purpose: other = purpose } of changes(secrets, purpose)) {
    // Only without separator, as reported: trying every separator would be too much work for a guess.
    const keys = new Map([...keyCandidates(changed, other, [''])].filter(([key]) => !tried.has(key)));
    for (const key of keys.keys()) tried.add(key);
    if (keys.size > 0) yield { code, message, keys };
  }
}

interface SecretChange {
  readonly code: NearMissCode;
  readonly message: string;
  readonly secrets: DetectionSecrets;
  readonly purpose?: SigningPurpose;
}

function* changes(secrets: DetectionSecrets, purpose: SigningPurpose): Generator<SecretChange> {
  yield* trimmed(secrets);
  yield* exchanged(secrets);
  yield* ended(secrets);
  yield* withoutPrefix(secrets);
  if (purpose === 'general') {
    yield {
      code: 'key-for-orders',
      message: 'Signed with the key for orders, not with the one for general requests: say purpose "order".',
      secrets,
      purpose: 'order',
    };
  }
}

function* trimmed(secrets: DetectionSecrets): Generator<SecretChange> {
  const padded = present(secrets).filter((name) => secrets[name] !== secrets[name]?.trim());
  if (padded.length === 0) return;
  yield {
    code: 'secret-padded',
    message: `Fits without the blanks or line break around ${list(padded)}: trim it where it is read.`,
    secrets: mapSecrets(secrets, (secret) => secret.trim()),
  };
}

/** Two secrets swapped, or all three rotated. */
function* exchanged(secrets: DetectionSecrets): Generator<SecretChange> {
  const [partner, merchant, pub] = secretNames;
  const orders: readonly (readonly SecretName[])[] = [
    [partner, merchant],
    [partner, pub],
    [merchant, pub],
    [partner, merchant, pub],
    [pub, merchant, partner],
  ];
  for (const names of orders) {
    if (names.some((name) => secrets[name] === undefined)) continue;
    const moved = { ...secrets };
    for (const [index, name] of names.entries()) {
      Object.assign(moved, { [name]: secrets[names[(index + 1) % names.length] ?? name] });
    }
    yield {
      code: 'secrets-swapped',
      message: `Fits with ${list(names)} in each other's place: they were given swapped.`,
      secrets: moved,
    };
  }
}

/** The signer read its secret from a file or form, with a line end or blank behind it. */
function* ended(secrets: DetectionSecrets): Generator<SecretChange> {
  const names: SecretName[] = present(secrets).filter((name) => name !== 'partnerPublicKey');
  const groups = names.length > 1 ? [...names.map((name) => [name]), names] : [names];
  for (const [ending, what] of Object.entries(endings)) {
    for (const group of groups) {
      yield {
        code: ending === ' ' ? 'secret-with-blank' : 'secret-with-newline',
        message: `Fits with ${what} behind ${list(group)}: the signer's copy of the secret ends so. Ask the service to trim it; until then, sign and verify with a key that has it.`,
        secrets: mapSecrets(secrets, (secret, name) => (group.includes(name) ? secret + ending : secret)),
      };
    }
  }
}

const endings: Readonly<Record<string, string>> = {
  '\n': 'a line feed',
  '\r\n': 'a carriage return and a line feed',
  ' ': 'a blank',
};

function* withoutPrefix(secrets: DetectionSecrets): Generator<SecretChange> {
  yield {
    code: 'secret-without-prefix',
    message: 'Fits without the prefixes of the secrets (such as sk_partner_): the signer leaves them out.',
    secrets: mapSecrets(secrets, (secret) => secret.slice(prefixLength(secret))),
  };
}

function prefixLength(secret: string): number {
  const prefix = Object.values(keyPrefixes).find((each) => secret.startsWith(each));
  return prefix?.length ?? 0;
}

function mapSecrets(
  secrets: DetectionSecrets,
  change: (secret: string, name: SecretName) => string,
): DetectionSecrets {
  return Object.fromEntries(present(secrets).map((name) => [name, change(secrets[name] ?? '', name)]));
}

function present(secrets: DetectionSecrets): SecretName[] {
  return secretNames.filter((name) => secrets[name] !== undefined);
}

function list(names: readonly string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : names.join('');
}
