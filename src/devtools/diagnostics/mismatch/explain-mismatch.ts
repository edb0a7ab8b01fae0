import { isKeyRing } from '../../../credentials/key-ring.ts';
import type { SigningPurpose } from '../../../credentials/signing-key.ts';
import { defineOptions, type OptionTable, unchecked } from '../../../internal/options.ts';
import { type SerializationRules, serializations } from '../../../signature/serializations.ts';
import { checkScheme, defaultScheme, type SignatureScheme } from '../../../signature/signature-scheme.ts';
import type { DetectionSecrets } from '../detection/detection.ts';
import { findNearMisses } from '../detection/near-misses.ts';
import { isUsable, readSample, type Sample } from '../detection/samples.ts';
import { keyCandidates, merchantSecrets, normalizeScheme, rankSchemes } from '../detection/scheme-space.ts';
import { isVerified, searchSchemes, textCandidates } from '../detection/search-schemes.ts';
import { findDeviations } from './find-deviations.ts';
import {
  type ExplainOptions,
  type MismatchExplanation,
  type MismatchFinding,
  nextStepAfter,
} from './mismatch-explanation.ts';

/**
 * Explains why the signature of a body does not match: what would have matched, where the text differs from a
 * framework's output, and what to do next.
 *
 * For a developer's terminal, never for an HTTP reply, since the closest guess helps a forger. It accepts nothing;
 * only `verifyBody` does. It takes up to some seconds.
 *
 * @param body as it was passed to `verifyBody`; anything is examined, even a parsed object
 * @throws {ConfigurationError} `invalid_scheme` or `invalid_option`; nothing else, whatever the body and the keys
 * @example
 * ```ts
 * const { findings, nextStep } = explainMismatch(rawBody, { credentials, scheme: deployment.signature });
 * for (const { code, message } of findings) console.error(code, message);
 * console.error(nextStep);
 * ```
 */
export function explainMismatch(body: string | Uint8Array, options: ExplainOptions): MismatchExplanation {
  const settings = readOptions(options ?? {});
  const scheme = normalizeScheme(checkScheme(settings.scheme ?? defaultScheme));
  const purpose = settings.purpose === 'general' ? 'general' : 'order';
  const sample = readSample(body);
  if (!isUsable(sample)) {
    // The type allows `not-examined`, which only a list of samples has.
    const code = sample.status === 'not-examined' ? 'not-raw' : sample.status;
    return explanation([{ code, message: sample.message }]);
  }
  const candidates = candidateKeys(settings).filter(
    ({ secrets }) => keyCandidates(secrets, purpose).size > 0,
  );
  const deviations = findDeviations(sample.source);
  if (candidates.length === 0) {
    return explanation([{ code: 'no-secret', message: 'There is no secret to try.' }], deviations);
  }
  const mismatch: Mismatch = {
    sample,
    scheme,
    purpose,
    candidates,
    reserialized: deviations.length === 0,
  };
  const findings = withSameScheme(mismatch) ?? withOtherScheme(mismatch) ?? withNearMisses(mismatch);
  return explanation(findings, deviations);
}

/** Keys are not checked, so that their mistakes can be explained. */
const readOptions = defineOptions('explainMismatch', {
  credentials: unchecked<NonNullable<ExplainOptions['credentials']>>(),
  secrets: unchecked<DetectionSecrets>(),
  scheme: unchecked<SignatureScheme>(),
  purpose: unchecked<SigningPurpose>(),
  merchant: unchecked<string>(),
} satisfies OptionTable<ExplainOptions>);

interface Mismatch {
  readonly sample: Sample;
  readonly scheme: SignatureScheme;
  readonly purpose: SigningPurpose;
  readonly candidates: readonly CandidateKeys[];
  /** Whether the text is exactly the output of a JavaScript framework. */
  readonly reserialized: boolean;
}

/** How many keys are searched fully, and for near misses. */
const maxSearched = 8;
const maxNearMissSearched = 2;

function explanation(
  findings: readonly MismatchFinding[],
  deviations: MismatchExplanation['deviations'] = [],
): MismatchExplanation {
  return { findings, deviations, nextStep: nextStepAfter(findings) };
}

function withSameScheme({ sample, scheme, purpose, candidates }: Mismatch): MismatchFinding[] | undefined {
  const index = candidates.findIndex(({ secrets }) =>
    isVerified(sample, scheme, { merchants: [secrets], purpose }),
  );
  const entry = candidates[index];
  if (entry === undefined) return undefined;
  if (index > 0) return [otherKey(entry)];
  const message =
    'Nothing is off with this scheme and the first key: the code that refused the body used others. This is no verification.';
  return [{ code: 'no-mismatch', message }];
}

function withOtherScheme(mismatch: Mismatch): MismatchFinding[] | undefined {
  const { sample, scheme, purpose, candidates, reserialized } = mismatch;
  const texts = textCandidates(sample);
  for (const [index, entry] of candidates.slice(0, maxSearched).entries()) {
    const found = searchSchemes(sample, { keys: keyCandidates(entry.secrets, purpose), texts }).filter(
      (each) => isVerified(sample, each, { merchants: [entry.secrets], purpose }),
    );
    const [closest] = rankSchemes(found).sort(
      (left, right) => compareSchemes(scheme, left).length - compareSchemes(scheme, right).length,
    );
    if (closest === undefined) continue;
    const findings = compareSchemes(scheme, closest);
    if (index > 0) findings.push(otherKey(entry));
    if (reserialized && findings.some(({ code }) => code === 'other-serialization')) {
      findings.push(reserializedFinding);
    }
    return findings;
  }
  return undefined;
}

function withNearMisses({ sample, purpose, candidates, reserialized }: Mismatch): MismatchFinding[] {
  const findings = new Map<string, MismatchFinding>();
  for (const { secrets } of candidates.slice(0, maxNearMissSearched)) {
    for (const { code, message } of findNearMisses(sample, { secrets, purpose })) {
      findings.set(message, { code, message });
    }
  }
  if (findings.size > 0) return [...findings.values()];
  const message =
    'No known scheme fits with any of the keys: it was signed with another secret, or the body was changed after it was signed.';
  return [{ code: 'nothing-fits', message }, ...(reserialized ? [reserializedFinding] : [])];
}

function otherKey({ label }: CandidateKeys): MismatchFinding {
  return { code: 'other-key', message: `Signed with another key of those given: ${label}.` };
}

const reserializedFinding: MismatchFinding = {
  code: 'body-reserialized',
  message:
    'The text is exactly what JSON.stringify writes. If the sender writes differently, a framework has parsed the body and written it again: what was signed is lost.',
};

/** Secrets that may have signed together, and their name. */
interface CandidateKeys {
  readonly secrets: DetectionSecrets;
  readonly label: string;
}

/**
 * Every merchant of every generation, the one that failed verification first. Unchecked, since mistakes are to be
 * found.
 */
function candidateKeys({ credentials: source, secrets, merchant }: ExplainOptions): CandidateKeys[] {
  const credentials = isKeyRing(source) ? (source.loaded?.verifying ?? []) : source;
  const bare = secrets === undefined ? [] : merchantsOf(secrets, 'the given secrets', merchant);
  const isList = Array.isArray(credentials);
  const issued = [credentials ?? []]
    .flat()
    .flatMap((generation, index) =>
      merchantsOf(generation, isList ? `credentials[${index}]` : 'credentials', merchant),
    );
  return [...bare, ...issued];
}

function merchantsOf(given: unknown, label: string, first: string | undefined): CandidateKeys[] {
  return merchantSecrets(given)
    .sort((left, right) => Number(right.merchant === first) - Number(left.merchant === first))
    .map(({ secrets, merchant }) => ({
      secrets,
      label: merchant === undefined ? label : `${label} with merchantSecretKeys.${merchant}`,
    }));
}

/** The differences between the fitting and the configured scheme. */
function compareSchemes(configured: SignatureScheme, fitting: SignatureScheme): MismatchFinding[] {
  return comparedParts.flatMap(({ part, code, absent }) => {
    const is = fitting[part] ?? absent;
    const was = configured[part] ?? absent;
    return is === was ? [] : [differing(code, part, { is, was })];
  });
}

interface ComparedPart {
  readonly part: keyof SignatureScheme;
  readonly code: MismatchFinding['code'];
  /** The default of an absent part. */
  readonly absent: string;
}

const comparedParts: readonly ComparedPart[] = [
  { part: 'construction', code: 'other-construction', absent: '' },
  { part: 'separator', code: 'other-separator', absent: '' },
  { part: 'serialization', code: 'other-serialization', absent: '' },
  { part: 'joiner', code: 'other-joiner', absent: '' },
  { part: 'encoding', code: 'other-encoding', absent: '' },
  { part: 'orderKey', code: 'other-key-material', absent: 'merchant+partner' },
  { part: 'keySeparator', code: 'other-key-separator', absent: '' },
];

function differing(
  code: MismatchFinding['code'],
  part: string,
  { is, was }: { is: string; was: string },
): MismatchFinding {
  const message = `Would match with ${part} ${JSON.stringify(is)} instead of ${JSON.stringify(was)}.`;
  if (part === 'serialization') return { code, message: `${message} ${hintOn(was)}`.trim() };
  if (part !== 'orderKey') return { code, message };
  if (is.split('+').reverse().join('+') === was) {
    return {
      code: 'key-order',
      message: `${message} Or the secrets were given in each other's place.`,
    };
  }
  return {
    code,
    message:
      is === 'partner'
        ? `${message} That is the key of general requests: is this the body of an order?`
        : message,
  };
}

function hintOn(configured: string): string {
  const rules: Readonly<Record<string, SerializationRules>> = serializations;
  return rules[configured]?.reads === 'value'
    ? 'Parsing and writing again loses how the text was spelled: see the deviations.'
    : '';
}
