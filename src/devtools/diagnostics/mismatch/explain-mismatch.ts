import { isKeyRing, type KeyRing } from '../../../credentials/key-ring.ts';
import type { SigningPurpose } from '../../../credentials/signing-key.ts';
import { defineOptions, type OptionTable, unchecked } from '../../../internal/options.ts';
import { checkScheme, defaultScheme, type SignatureScheme } from '../../../signature/signature-scheme.ts';
import { findNearMisses } from '../detection/near-misses.ts';
import { isUsable, readSample, type Sample } from '../detection/samples.ts';
import {
  keyCandidates,
  merchantSecrets,
  normalizeScheme,
  rankSchemes,
  type UncheckedKeys,
} from '../detection/scheme-space.ts';
import { isVerified, schemesOf } from '../detection/search-schemes.ts';
import {
  type SignatureFinding,
  type SignatureFindingId,
  signatureFinding,
} from '../detection/signature-finding.ts';

/** Options of {@link explainMismatch}. */
export interface ExplainOptions {
  /**
   * The keys that failed verification first, then others that may have signed: generations, partners. They are not
   * checked, so that padded and swapped ones are found. A key ring needs `await ring.reload()` first.
   */
  credentials?: UncheckedKeys | readonly UncheckedKeys[] | KeyRing | undefined;
  /** The scheme that failed verification. @default `defaultScheme` */
  scheme?: SignatureScheme | undefined;
  /** Which key verification used: `order` is the one for orders and events, `general` the partner secret. @default 'order' */
  purpose?: SigningPurpose | undefined;
}

/**
 * Why a signature does not match, for a developer's terminal: plain data without secrets, signatures or values of
 * the body. It does not decide whether a body can be trusted: only `verifyBody` does.
 */
export interface MismatchExplanation {
  /** The most telling first; never empty. */
  readonly findings: readonly SignatureFinding[];
}

/**
 * Explains why the signature of a body does not match: what would have matched, and what to do next.
 *
 * For a developer's terminal, never for an HTTP reply, since the closest guess helps a forger. It accepts nothing;
 * only `verifyBody` does. It takes up to some seconds.
 *
 * @param body as it was passed to `verifyBody`; anything is examined, even a parsed object
 * @throws {ConfigurationError} `invalid_scheme` or `invalid_option`; nothing else, whatever the body and the keys
 * @example
 * ```ts
 * const { findings } = explainMismatch(rawBody, { credentials, scheme: deployment.signature });
 * for (const { id, what, advice } of findings) console.error(id, what, advice);
 * ```
 */
export function explainMismatch(body: string | Uint8Array, options: ExplainOptions): MismatchExplanation {
  const settings = readOptions(options ?? {});
  const scheme = normalizeScheme(checkScheme(settings.scheme ?? defaultScheme));
  const purpose = settings.purpose === 'general' ? 'general' : 'order';
  const sample = readSample(body);
  if (!isUsable(sample)) return { findings: [sample] };
  const candidates = candidateKeys(settings.credentials).filter(
    ({ secrets }) => keyCandidates(secrets, purpose).size > 0,
  );
  if (candidates.length === 0) {
    return { findings: [signatureFinding('no-secret', 'There is no secret to try.')] };
  }
  const mismatch: Mismatch = { sample, scheme, purpose, candidates };
  return { findings: withSameScheme(mismatch) ?? withOtherScheme(mismatch) ?? withNearMisses(mismatch) };
}

const readOptions = defineOptions('explainMismatch', {
  credentials: unchecked<NonNullable<ExplainOptions['credentials']>>(),
  scheme: unchecked<SignatureScheme>(),
  purpose: unchecked<SigningPurpose>(),
} satisfies OptionTable<ExplainOptions>);

interface Mismatch {
  readonly sample: Sample;
  readonly scheme: SignatureScheme;
  readonly purpose: SigningPurpose;
  readonly candidates: readonly CandidateKeys[];
}

/** How many keys are searched fully, and for near misses. */
const maxSearched = 8;
const maxNearMissSearched = 2;

function withSameScheme({ sample, scheme, purpose, candidates }: Mismatch): SignatureFinding[] | undefined {
  const index = candidates.findIndex(({ secrets }) =>
    isVerified(sample, scheme, { merchants: [secrets], purpose }),
  );
  const signer = candidates[index];
  if (signer === undefined) return undefined;
  if (index > 0) return [otherKey(signer)];
  const what =
    'Nothing is off with this scheme and the first key: the code that refused the body used others. This is no verification.';
  return [signatureFinding('no-mismatch', what)];
}

function withOtherScheme({ sample, scheme, purpose, candidates }: Mismatch): SignatureFinding[] | undefined {
  for (const [index, signer] of candidates.slice(0, maxSearched).entries()) {
    const [closest] = rankSchemes(schemesOf(sample, { merchants: [signer.secrets], purpose })).sort(
      (left, right) => compareSchemes(scheme, left).length - compareSchemes(scheme, right).length,
    );
    if (closest === undefined) continue;
    const findings = compareSchemes(scheme, closest);
    const isRewritten = findings.some(({ id }) => id === 'other-serialization');
    return [
      ...findings,
      ...(index > 0 ? [otherKey(signer)] : []),
      ...(isRewritten ? reserialized(sample) : []),
    ];
  }
  return undefined;
}

function withNearMisses({ sample, purpose, candidates }: Mismatch): SignatureFinding[] {
  const findings = candidates
    .slice(0, maxNearMissSearched)
    .flatMap(({ secrets }) => findNearMisses(sample, { secrets, purpose }));
  if (findings.length > 0) return [...new Map(findings.map((finding) => [finding.what, finding])).values()];
  const what =
    'No known scheme fits with any of the keys: it was signed with another secret, or the body was changed after it was signed.';
  return [signatureFinding('nothing-fits', what), ...reserialized(sample)];
}

function otherKey({ label }: CandidateKeys): SignatureFinding {
  return signatureFinding('other-key', `Signed with another key of those given: ${label}.`);
}

/** Whether the text is exactly what a JavaScript framework writes. */
function reserialized({ source }: Sample): SignatureFinding[] {
  if (!isReserialized(source)) return [];
  const what =
    'The text is exactly what JSON.stringify writes. If the sender writes differently, a framework has parsed the body and written it again: what was signed is lost.';
  return [signatureFinding('body-reserialized', what)];
}

function isReserialized(text: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === text;
  } catch {
    // A byte order mark, or nested too deeply for the call stack.
    return false;
  }
}

/** Secrets that may have signed together, and their name. */
interface CandidateKeys {
  readonly secrets: UncheckedKeys;
  readonly label: string;
}

/** Every merchant of every generation. Unchecked, since mistakes are to be found. */
function candidateKeys(source: ExplainOptions['credentials']): CandidateKeys[] {
  const credentials = isKeyRing(source) ? (source.loaded?.verifying ?? []) : source;
  const isList = Array.isArray(credentials);
  return [credentials ?? []]
    .flat()
    .flatMap((generation, index) =>
      merchantsOf(generation, isList ? `credentials[${index}]` : 'credentials'),
    );
}

function merchantsOf(keys: unknown, label: string): CandidateKeys[] {
  return merchantSecrets(keys).map(({ secrets, merchant }) => ({
    secrets,
    label: merchant === undefined ? label : `${label} with merchantSecretKeys.${merchant}`,
  }));
}

/** The differences between the fitting and the configured scheme. */
function compareSchemes(configured: SignatureScheme, fitting: SignatureScheme): SignatureFinding[] {
  return comparedParts.flatMap(({ part, id, absent }) => {
    const is = fitting[part] ?? absent;
    const was = configured[part] ?? absent;
    return is === was ? [] : [differing(id, part, { is, was })];
  });
}

interface ComparedPart {
  readonly part: keyof SignatureScheme;
  readonly id: SignatureFindingId;
  /** The default of an absent part. */
  readonly absent: string;
}

const comparedParts: readonly ComparedPart[] = [
  { part: 'construction', id: 'other-construction', absent: '' },
  { part: 'separator', id: 'other-separator', absent: '' },
  { part: 'serialization', id: 'other-serialization', absent: '' },
  { part: 'joiner', id: 'other-joiner', absent: '' },
  { part: 'encoding', id: 'other-encoding', absent: '' },
  { part: 'orderKey', id: 'other-key-material', absent: 'merchant+partner' },
  { part: 'keySeparator', id: 'other-key-separator', absent: '' },
];

function differing(
  id: SignatureFindingId,
  part: string,
  { is, was }: { is: string; was: string },
): SignatureFinding {
  const what = `Would match with ${part} ${JSON.stringify(is)} instead of ${JSON.stringify(was)}.`;
  if (part !== 'orderKey') return signatureFinding(id, what);
  if (is.split('+').reverse().join('+') === was) {
    return signatureFinding('key-order', `${what} Or the secrets were given in each other's place.`);
  }
  const isGeneral = is === 'partner';
  return signatureFinding(
    id,
    isGeneral ? `${what} That is the key of general requests: is this the body of an order?` : what,
  );
}
