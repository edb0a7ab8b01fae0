import type { SigningPurpose } from '../../credentials/signing-key.ts';
import { type SignatureScheme, schemePartNames } from '../../signature/signature-scheme.ts';
import type { DetectionSecrets, NearMiss, SampleReport, SchemeDetection } from './detection.ts';
import { type KeyCandidates, keyCandidates, makeKey, presentSecrets } from './key-candidates.ts';
import { findNearMisses } from './near-misses.ts';
import { rankSchemes } from './rank-schemes.ts';
import { isUsable, readSample, type Sample, type UnusableSample } from './read-sample.ts';
import { safetyNotes } from './safety-notes.ts';
import { normalizeScheme } from './scheme-space.ts';
import { fits, search, textCandidates } from './search.ts';
import { suspectSwap } from './swapped-secrets.ts';

export interface DetectOptions {
  /**
   * What the samples are. `order`: order events and order creation, with every key that the secrets can make.
   * `general`: signed with the partner secret; the schemes found then say nothing about the key for orders.
   *
   * @default 'order'
   */
  purpose?: SigningPurpose | undefined;
}

/**
 * Finds out how a deployment signs, from bodies that it has signed: tries every construction, separator,
 * serialisation, joiner, key and encoding, offline, and reports all that fit.
 *
 * For a developer's machine: a search of 1 KiB takes tenths of a second, of 64 KiB some seconds. Put what it finds
 * into `defineDeployment({ signature })` and pin it ({@link pinScheme}); never search on the request path.
 *
 * Never throws for bad input: each sample has a status, and the verdict says when there was nothing to search.
 *
 * @param samples one raw body with its signature, or several (at most 100 and 256 KiB in all are examined)
 * @param secrets the keys as they were issued; those that are there are combined in every way
 * @example
 * ```ts
 * const { verdict, message, survivors } = detectScheme(capturedBody, {
 *   partnerSecretKey: process.env.PARTNER_SECRET_KEY,
 *   merchantSecretKey: process.env.MERCHANT_SECRET_KEY,
 *   partnerPublicKey: process.env.PARTNER_PUBLIC_KEY,
 * });
 * console.log(verdict, message, survivors[0]?.scheme);
 * ```
 */
export function detectScheme(
  samples: string | Uint8Array | readonly (string | Uint8Array)[],
  secrets: DetectionSecrets,
  options: DetectOptions = {},
): SchemeDetection {
  const bodies: readonly unknown[] = Array.isArray(samples) ? samples : [samples];
  const read = readAll(bodies);
  const purpose = options.purpose === 'general' ? 'general' : 'order';
  const present = presentSecrets(secrets);
  const keys = keyCandidates(present, purpose);
  const usable = read.filter(isUsable);
  if (usable.length === 0 || keys.size === 0) return nothingToSearch(read, keys);

  const common = fitAll(usable, keys, { secrets: present, purpose });
  if (common.length > 0) {
    const schemes = rankSchemes(common);
    const searched = [...read.entries()].filter(([, sample]) => isUsable(sample)).map(([index]) => index);
    return withSurvivors(read, schemes, suspectSwap(schemes, { secrets: present, samples: searched }));
  }
  const reports = read.map((sample) =>
    isUsable(sample) ? reportOf(sample, rankSchemes(searchAll(sample, keys))) : reportOf(sample),
  );
  return withoutSurvivors(reports, nearMissesOf(read, reports, { secrets: present, purpose }));
}

/** More say nothing more, and the work has to end. */
const maxSamples = 100;
/** Of all samples together, in UTF-16 code units. */
const maxTotalLength = 262_144;
/** Samples examined for near misses. */
const maxNearMissSamples = 3;

function readAll(bodies: readonly unknown[]): (Sample | UnusableSample)[] {
  let total = 0;
  return bodies.map((body, index) => {
    const sample = index < maxSamples ? readSample(body) : notExamined;
    if (!isUsable(sample)) return sample;
    if (total + sample.source.length > maxTotalLength) return notExamined;
    total += sample.source.length;
    return sample;
  });
}

const notExamined: UnusableSample = {
  status: 'not-examined',
  message: 'Only the first 100 samples, and 256 KiB in all, are examined.',
};

interface Keyring {
  readonly secrets: DetectionSecrets;
  readonly purpose: SigningPurpose;
}

/** What fits the first sample, and then each of the others too. */
function fitAll(samples: readonly Sample[], keys: KeyCandidates, ring: Keyring): SignatureScheme[] {
  const [first, ...others] = samples;
  if (first === undefined) return [];
  return others.reduce<SignatureScheme[]>(
    (schemes, sample) =>
      schemes.filter((scheme) => {
        const key = makeKey(ring.secrets, scheme, ring.purpose);
        return key !== undefined && fits(scheme, key, sample);
      }),
    searchAll(first, keys),
  );
}

function searchAll(sample: Sample, keys: KeyCandidates): SignatureScheme[] {
  return search(sample, { keys, texts: textCandidates(sample) });
}

function nothingToSearch(read: readonly (Sample | UnusableSample)[], keys: KeyCandidates): SchemeDetection {
  const message =
    keys.size === 0
      ? 'No secret to try: partnerSecretKey, merchantSecretKey or both are needed, as text that is not empty.'
      : 'No sample can be searched: see the status of each.';
  return { verdict: 'unusable', message, ...nothing, samples: read.map((sample) => reportOf(sample)) };
}

const nothing = { survivors: [], undecided: [], nearMisses: [] } as const;

function withSurvivors(
  read: readonly (Sample | UnusableSample)[],
  schemes: readonly SignatureScheme[],
  nearMisses: readonly NearMiss[],
): SchemeDetection {
  const undecided = partsThatDiffer(schemes);
  return {
    verdict: schemes.length === 1 ? 'found' : 'ambiguous',
    message:
      schemes.length === 1
        ? 'One scheme fits. Put it into defineDeployment({ signature }), and pin it with pinScheme.'
        : `${schemes.length} schemes fit all samples, which cannot tell them apart: they differ in ${undecided.join(', ')}. The first is the most plausible. To be certain have the text of probeBody() signed (detectFromOracle), or add samples with numbers like 10.0, slashes, letters beyond ASCII and nested members.`,
    survivors: schemes.map((scheme) => ({ scheme, notes: safetyNotes(scheme) })),
    undecided,
    nearMisses,
    samples: read.map((sample) => reportOf(sample, schemes)),
  };
}

function partsThatDiffer(schemes: readonly SignatureScheme[]): (keyof SignatureScheme)[] {
  return schemePartNames.filter((part) => schemes.some((scheme) => scheme[part] !== schemes[0]?.[part]));
}

function withoutSurvivors(
  samples: readonly SampleReport[],
  nearMisses: readonly NearMiss[],
): SchemeDetection {
  const contradictory = samples.some((sample) => sample.fits.length > 0);
  const hint =
    nearMisses.length > 0
      ? ' A near miss says what to mend.'
      : ' Check that the secrets belong to the sample, and that the sample is the raw body, complete.';
  return {
    verdict: contradictory ? 'contradictory' : 'none',
    message: contradictory
      ? `No scheme fits all samples: see which fits which. They may be signed with different secrets, or for different purposes.${hint}`
      : `No known scheme fits with these secrets.${hint}`,
    ...nothing,
    nearMisses,
    samples,
  };
}

/** The near misses of samples that nothing fits, each once. */
function nearMissesOf(
  read: readonly (Sample | UnusableSample)[],
  reports: readonly SampleReport[],
  ring: Keyring,
): NearMiss[] {
  const merged = new Map<string, NearMiss>();
  let examined = 0;
  for (const [index, sample] of read.entries()) {
    if (!isUsable(sample) || reports[index]?.fits.length !== 0 || examined++ >= maxNearMissSamples) continue;
    for (const miss of findNearMisses(sample, ring)) {
      const id = miss.message + JSON.stringify(normalizeScheme(miss.scheme));
      merged.set(id, { ...miss, samples: [...(merged.get(id)?.samples ?? []), index] });
    }
  }
  return [...merged.values()];
}

function reportOf(sample: Sample | UnusableSample, schemes: readonly SignatureScheme[] = []): SampleReport {
  if (!isUsable(sample)) return { ...sample, fits: [] };
  const message = schemes.length > 0 ? 'Searched: schemes fit it.' : 'Searched: no scheme fits it.';
  return { status: 'usable', message, fits: schemes };
}
