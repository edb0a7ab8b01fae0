import { keyPrefixes } from '../../../credentials/partner-credentials.ts';
import type { SigningPurpose } from '../../../credentials/signing-key.ts';
import { changedBodies } from './changed-bodies.ts';
import type { Sample } from './samples.ts';
import {
  type KeyCandidates,
  keyCandidates,
  publicKeys,
  type SecretName,
  secretNames,
  type UncheckedKeys,
} from './scheme-space.ts';
import { searchSchemes, textCandidates } from './search-schemes.ts';
import { type SignatureFinding, type SignatureFindingId, signatureFinding } from './signature-finding.ts';

/** What would have to be different in the secrets or the body, so that a scheme fits the sample. */
export function findNearMisses(
  sample: Sample,
  { secrets, purpose }: { secrets: UncheckedKeys; purpose: SigningPurpose },
): SignatureFinding[] {
  const findings: SignatureFinding[] = [];
  const texts = textCandidates(sample);
  for (const { id, what, keys } of changedSecrets(secrets, purpose)) {
    if (searchSchemes(sample, { keys, texts }).length > 0) findings.push(signatureFinding(id, what));
  }
  const keys = keyCandidates(secrets, purpose, ['']);
  for (const { id, what, texts } of changedBodies(sample)) {
    if (searchSchemes(sample, { keys, texts }).length > 0) findings.push(signatureFinding(id, what));
  }
  return findings;
}

/** The keys of changed secrets. */
interface ChangedKeys {
  readonly id: SignatureFindingId;
  readonly what: string;
  readonly keys: KeyCandidates;
}

/** Every way in which the secrets may be wrong, the likeliest first, without keys tried before. */
function* changedSecrets(secrets: UncheckedKeys, purpose: SigningPurpose): Generator<ChangedKeys> {
  yield { id: 'forged', what: withPublicKey, keys: publicKeys(secrets) };
  yield { id: 'forged', what: withoutKey, keys: new Map([['', [{}]]]) };
  const tried = new Set([...keyCandidates(secrets, purpose).keys(), ...publicKeys(secrets).keys()]);
  for (const { id, what, secrets: changed, purpose: other = purpose } of changes(secrets, purpose)) {
    // Tries keys without a separator, as reported: all separators would be too much work.
    const keys = new Map([...keyCandidates(changed, other, [''])].filter(([key]) => !tried.has(key)));
    for (const key of keys.keys()) tried.add(key);
    if (keys.size > 0) yield { id, what, keys };
  }
}

const withPublicKey = 'Signed with the public key alone, which anybody knows: a forgery, or a test of one.';
const withoutKey = 'Signed without any key, which anybody can do: a forgery.';

interface SecretChange {
  readonly id: SignatureFindingId;
  readonly what: string;
  readonly secrets: UncheckedKeys;
  readonly purpose?: SigningPurpose;
}

function* changes(secrets: UncheckedKeys, purpose: SigningPurpose): Generator<SecretChange> {
  yield* trimmed(secrets);
  yield* exchanged(secrets);
  yield* ended(secrets);
  yield* withoutPrefix(secrets);
  if (purpose === 'general') {
    yield {
      id: 'key-for-orders',
      what: 'Signed with the key for orders, not with the one for general requests: say purpose "order".',
      secrets,
      purpose: 'order',
    };
  }
}

function* trimmed(secrets: UncheckedKeys): Generator<SecretChange> {
  const padded = present(secrets).filter((name) => secrets[name] !== secrets[name]?.trim());
  if (padded.length === 0) return;
  yield {
    id: 'secret-padded',
    what: `Fits without the blanks or line break around ${list(padded)}: trim it where it is read.`,
    secrets: mapSecrets(secrets, (secret) => secret.trim()),
  };
}

/** Two secrets swapped, or all three rotated. */
function* exchanged(secrets: UncheckedKeys): Generator<SecretChange> {
  const orders: readonly (readonly SecretName[])[] = [
    ['partnerSecretKey', 'merchantSecretKey'],
    ['partnerSecretKey', 'partnerPublicKey'],
    ['merchantSecretKey', 'partnerPublicKey'],
    ['partnerSecretKey', 'merchantSecretKey', 'partnerPublicKey'],
    ['partnerPublicKey', 'merchantSecretKey', 'partnerSecretKey'],
  ];
  for (const names of orders) {
    if (names.some((name) => secrets[name] === undefined)) continue;
    const moved = { ...secrets };
    for (const [index, name] of names.entries()) {
      Object.assign(moved, { [name]: secrets[names[(index + 1) % names.length] ?? name] });
    }
    yield {
      id: 'secrets-swapped',
      what: `Fits with ${list(names)} in each other's place: they were given swapped.`,
      secrets: moved,
    };
  }
}

/** The signer read its secret from a file or form, with a line end or blank at its end. */
function* ended(secrets: UncheckedKeys): Generator<SecretChange> {
  const names: SecretName[] = present(secrets).filter((name) => name !== 'partnerPublicKey');
  const groups = names.length > 1 ? [...names.map((name) => [name]), names] : [names];
  for (const [ending, name] of Object.entries(endings)) {
    for (const group of groups) {
      yield {
        id: ending === ' ' ? 'secret-with-blank' : 'secret-with-newline',
        what: `Fits with ${name} behind ${list(group)}: the signer's copy of the secret ends so. Ask the service to trim it; until then, sign and verify with a key that has it.`,
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

function* withoutPrefix(secrets: UncheckedKeys): Generator<SecretChange> {
  yield {
    id: 'secret-without-prefix',
    what: 'Fits without the prefixes of the secrets (such as sk_partner_): the signer leaves them out.',
    secrets: mapSecrets(secrets, (secret) => secret.slice(prefixLength(secret))),
  };
}

function prefixLength(secret: string): number {
  const prefix = Object.values(keyPrefixes).find((candidate) => secret.startsWith(candidate));
  return prefix?.length ?? 0;
}

function mapSecrets(
  secrets: UncheckedKeys,
  change: (secret: string, name: SecretName) => string,
): UncheckedKeys {
  return Object.fromEntries(present(secrets).map((name) => [name, change(secrets[name] ?? '', name)]));
}

function present(secrets: UncheckedKeys): SecretName[] {
  return secretNames.filter((name) => secrets[name] !== undefined);
}

function list(names: readonly string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : names.join('');
}
