import type { SigningPurpose } from '../../credentials/signing-key.ts';
import { checkNames, type OptionNames } from '../../options/check-names.ts';
import { checkScheme, defaultScheme, type SignatureScheme } from '../../signature/signature-scheme.ts';
import { keyCandidates, makeKey } from '../detection/key-candidates.ts';
import { findNearMisses } from '../detection/near-misses.ts';
import { rankSchemes } from '../detection/rank-schemes.ts';
import { isUsable, readSample, type Sample } from '../detection/read-sample.ts';
import { normalizeScheme } from '../detection/scheme-space.ts';
import { fits, search, textCandidates } from '../detection/search.ts';
import { type CandidateKeys, candidateKeys } from './candidate-keys.ts';
import { compareSchemes } from './compare-schemes.ts';
import { findDeviations } from './find-deviations.ts';
import type { ExplainOptions, MismatchExplanation, MismatchFinding } from './mismatch-explanation.ts';
import { nextStepAfter } from './next-step.ts';

/**
 * Explains why the signature of a body does not match: what would have matched, where the text differs from what a
 * framework would write, and what to do next.
 *
 * For a developer's terminal, never for an HTTP reply: saying which guess was closer helps a forger. It accepts
 * nothing; only `verifyBody` does. It takes up to some seconds.
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
  checkNames('explainMismatch', options ?? {}, optionNames);
  const scheme = normalizeScheme(checkScheme(options?.scheme ?? defaultScheme));
  const purpose = options?.purpose === 'general' ? 'general' : 'order';
  const sample = readSample(body);
  if (!isUsable(sample)) {
    // The type allows `not-examined`, which only a list of samples can give.
    const code = sample.status === 'not-examined' ? 'not-raw' : sample.status;
    return conclude([{ code, message: sample.message }]);
  }
  const candidates = candidateKeys(options ?? {}).filter(
    ({ secrets }) => keyCandidates(secrets, purpose).size > 0,
  );
  const deviations = findDeviations(sample.source);
  if (candidates.length === 0) {
    return conclude([{ code: 'no-secret', message: 'There is no secret to try.' }], deviations);
  }
  const examination: Examination = {
    sample,
    scheme,
    purpose,
    candidates,
    reserialized: deviations.length === 0,
  };
  const findings = withSameScheme(examination) ?? withOtherScheme(examination) ?? withNearMisses(examination);
  return conclude(findings, deviations);
}

const optionNames: OptionNames<ExplainOptions> = {
  credentials: true,
  secrets: true,
  scheme: true,
  purpose: true,
  merchant: true,
};

interface Examination {
  readonly sample: Sample;
  readonly scheme: SignatureScheme;
  readonly purpose: SigningPurpose;
  readonly candidates: readonly CandidateKeys[];
  /** The text is exactly what a JavaScript framework would write. */
  readonly reserialized: boolean;
}

/** How many keys are searched fully, and for near misses: this limits the work. */
const maxSearched = 8;
const maxNearMissSearched = 2;

function conclude(
  findings: readonly MismatchFinding[],
  deviations: MismatchExplanation['deviations'] = [],
): MismatchExplanation {
  return { findings, deviations, nextStep: nextStepAfter(findings) };
}

function withSameScheme({ sample, scheme, purpose, candidates }: Examination): MismatchFinding[] | undefined {
  const index = candidates.findIndex(({ secrets }) => {
    const key = makeKey(secrets, scheme, purpose);
    return key !== undefined && fits(scheme, key, sample);
  });
  const entry = candidates[index];
  if (entry === undefined) return undefined;
  if (index > 0) return [otherKey(entry)];
  const message =
    'Nothing is off with this scheme and the first key: the code that refused the body used others. This is no verification.';
  return [{ code: 'no-mismatch', message }];
}

function withOtherScheme(examination: Examination): MismatchFinding[] | undefined {
  const { sample, scheme, purpose, candidates, reserialized } = examination;
  const texts = textCandidates(sample);
  for (const [index, entry] of candidates.slice(0, maxSearched).entries()) {
    const found = search(sample, { keys: keyCandidates(entry.secrets, purpose), texts });
    const [closest] = rankSchemes(found).sort(
      (one, other) => compareSchemes(scheme, one).length - compareSchemes(scheme, other).length,
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

function withNearMisses({ sample, purpose, candidates, reserialized }: Examination): MismatchFinding[] {
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
