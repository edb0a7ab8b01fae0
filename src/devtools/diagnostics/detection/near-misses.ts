import { keyPrefixes } from '../../../credentials/partner-credentials.ts';
import type { SigningPurpose } from '../../../credentials/signing-key.ts';
import { type OrderKey, type SignatureScheme, schemeParts } from '../../../signature/signature-scheme.ts';
import { changedBodies } from './changed-bodies.ts';
import type { DetectionSecrets, NearMiss, NearMissCode, SecretName } from './detection.ts';
import type { Sample } from './samples.ts';
import {
  type KeyCandidates,
  keyCandidates,
  partNames,
  publicKeys,
  rankSchemes,
  secretNames,
} from './scheme-space.ts';
import { searchSchemes, textCandidates } from './search-schemes.ts';

type SampleNearMiss = Omit<NearMiss, 'samples'>;

/**
 * Finds schemes that fit a sample after one change to the secrets or the body. Of several after the same change it
 * keeps the best.
 */
export function findNearMisses(
  sample: Sample,
  { secrets, purpose }: { secrets: DetectionSecrets; purpose: SigningPurpose },
): SampleNearMiss[] {
  const found: SampleNearMiss[] = [];
  const texts = textCandidates(sample);
  for (const { code, message, keys } of changedSecrets(secrets, purpose)) {
    const [scheme] = rankSchemes(searchSchemes(sample, { keys, texts }));
    if (scheme) found.push({ code, message, scheme });
  }
  const keys = keyCandidates(secrets, purpose, ['']);
  for (const { code, message, texts } of changedBodies(sample)) {
    const [scheme] = rankSchemes(searchSchemes(sample, { keys, texts }));
    if (scheme) found.push({ code, message, scheme });
  }
  return found;
}

/** The keys of changed secrets. */
interface ChangedKeys {
  readonly code: NearMissCode;
  readonly message: string;
  readonly keys: KeyCandidates;
}

/** Every way in which the secrets may be wrong, the likeliest first, without keys tried before. */
function* changedSecrets(secrets: DetectionSecrets, purpose: SigningPurpose): Generator<ChangedKeys> {
  yield { code: 'forged', message: forgedMessage, keys: publicKeys(secrets) };
  yield { code: 'forged', message: keylessMessage, keys: new Map([['', [{}]]]) };
  const tried = new Set([...keyCandidates(secrets, purpose).keys(), ...publicKeys(secrets).keys()]);
  for (const { code, message, secrets: changed, purpose: other = purpose } of changes(secrets, purpose)) {
    // Tries keys without a separator, as reported: all separators would be too much work.
    const keys = new Map([...keyCandidates(changed, other, [''])].filter(([key]) => !tried.has(key)));
    for (const key of keys.keys()) tried.add(key);
    if (keys.size > 0) yield { code, message, keys };
  }
}

const forgedMessage = 'Signed with the public key alone, which anybody knows: a forgery, or a test of one.';
const keylessMessage = 'Signed without any key, which anybody can do: a forgery.';

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
      code: 'secrets-swapped',
      message: `Fits with ${list(names)} in each other's place: they were given swapped.`,
      secrets: moved,
    };
  }
}

/** The signer read its secret from a file or form, with a line end or blank at its end. */
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
  const prefix = Object.values(keyPrefixes).find((candidate) => secret.startsWith(candidate));
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

/**
 * Schemes that fit only because secrets are swapped: `partner+merchant` with swapped secrets is the published
 * `merchant+partner`, and no sample can decide between them.
 *
 * @param samples the indexes of the samples that the schemes fit
 */
export function findSwappedSecrets(
  schemes: readonly SignatureScheme[],
  { secrets, samples }: { secrets: DetectionSecrets; samples: readonly number[] },
): NearMiss[] {
  return schemes.flatMap((scheme) => {
    const { orderKey = 'merchant+partner', ...rest } = scheme;
    const meant = byPrefix(orderKey, secrets);
    const evident = meant !== undefined && meant !== orderKey;
    if (!evident && orderKey !== 'partner+merchant') return [];
    const right = evident ? meant : 'merchant+partner';
    return {
      code: 'secrets-swapped' as const,
      message: evident
        ? "Judging by their prefixes, the secrets were given in each other's place: exchanged, they fit this scheme."
        : "The published order fits as well if partnerSecretKey and merchantSecretKey were given in each other's place: check which is which.",
      scheme: { ...rest, ...(right !== 'merchant+partner' && { orderKey: right }) },
      samples,
    };
  });
}

/** The parts of a key by their prefixes; `undefined` if no scheme has that order. */
function byPrefix(orderKey: OrderKey, secrets: DetectionSecrets): OrderKey | undefined {
  const parts = orderKey.split('+').map((part) => {
    const name = partNames.find(([each]) => each === part)?.[1];
    const secret = name && secrets[name];
    return partNames.find(([, each]) => secret?.startsWith(keyPrefixes[each]))?.[0] ?? part;
  });
  return schemeParts.orderKey.find((name) => name === parts.join('+'));
}
