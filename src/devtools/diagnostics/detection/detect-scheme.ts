import { isKeyRing, type KeyRing } from '../../../credentials/key-ring.ts';
import type { SigningPurpose } from '../../../credentials/signing-key.ts';
import { defineOptions, type OptionTable, oneOf } from '../../../internal/options.ts';
import { type SignatureScheme, schemePartNames } from '../../../signature/signature-scheme.ts';
import type { DetectionSecrets, NearMiss, SampleReport, SchemeDetection } from './detection.ts';
import { findNearMisses, findSwappedSecrets } from './near-misses.ts';
import { safetyNotes } from './safety-notes.ts';
import { isUsable, readSample, type Sample, type UnusableSample } from './samples.ts';
import {
  type KeyCandidates,
  keyCandidates,
  merchantSecrets,
  normalizeScheme,
  rankSchemes,
} from './scheme-space.ts';
import { isVerified, searchSchemes, textCandidates } from './search-schemes.ts';

/** Options of {@link detectScheme}. */
export interface DetectOptions {
  /**
   * The kind of the samples. `order`: order events and order creation, tried with every key that the secrets can
   * make. `general`: signed with the partner secret; the result does not determine the key for orders.
   *
   * @default 'order'
   */
  purpose?: SigningPurpose | undefined;
}

/**
 * Finds out how a deployment signs, from bodies that it has signed: tries every construction, separator,
 * serialisation, joiner, key and encoding offline, and reports all that fit.
 *
 * For a developer's machine: 1 KiB takes tenths of a second, 64 KiB some seconds. Put the result into
 * `defineDeployment({ signature })` and pin it ({@link pinScheme}); never search while handling a request.
 *
 * docs/guides/find-the-scheme.md lists the separators. With `merchantSecretKeys` the secrets of each merchant are tried.
 *
 * Never throws for a bad sample or secret: each sample has a status, and the verdict says if a search was
 * impossible.
 *
 * @param samples one raw body with its signature, or the file of `listen` that holds it, or several (at most 100 and 256 KiB in all are examined)
 * @param secrets the keys as issued; they are combined in every way. A key ring needs `await ring.reload()` first
 * @throws {ConfigurationError} `invalid_option` for an unknown option
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
  secrets: DetectionSecrets | KeyRing,
  options: DetectOptions = {},
): SchemeDetection {
  const { purpose } = readOptions(options);
  const bodies: readonly unknown[] = Array.isArray(samples) ? samples : [samples];
  const read = readAll(bodies);
  const sets = isKeyRing(secrets) ? (secrets.loaded?.verifying ?? []) : [secrets];
  const known = knownSecrets(sets, purpose);
  const { keys } = known;
  const usable = read.filter(isUsable);
  if (usable.length === 0 || keys.size === 0) return nothingToSearch(read, keys);

  const schemes = rankSchemes(fitAll(usable, known));
  if (schemes.length > 0) return withSurvivors(read, schemes, { known, nearMisses: [] });

  const reports = read.map((sample) =>
    isUsable(sample) ? reportOf(sample, rankSchemes(fitAll([sample], known))) : reportOf(sample),
  );
  const nearMisses = nearMissesOf(read, reports, known);
  // Anybody can post a body that nothing fits: it says nothing of the others.
  const fitting = usable.filter((sample) => reports[read.indexOf(sample)]?.fits.length !== 0);
  const common = fitting.length < usable.length ? rankSchemes(fitAll(fitting, known)) : [];
  return common.length > 0
    ? withSurvivors(read, common, { known, nearMisses })
    : withoutSurvivors(reports, nearMisses);
}

/**
 * The schemes of order events that fit one body, the most plausible first: without near misses, which take ten times as
 * long, and which strangers can ask for by what they post.
 */
export function fittingSchemes(body: string | Uint8Array, secrets: DetectionSecrets): SignatureScheme[] {
  const sample = readSample(body);
  return isUsable(sample) ? rankSchemes(fitAll([sample], knownSecrets([secrets], 'order'))) : [];
}

const readOptions = defineOptions('detectScheme', {
  purpose: oneOf(['order', 'general'], { default: 'order' }),
} satisfies OptionTable<DetectOptions>);

/** Further samples give no further information. */
const maxSamples = 100;
/** The limit of all samples together, in UTF-16 code units. */
const maxTotalLength = 262_144;
const maxNearMissSamples = 3;
const maxNearMissMerchants = 3;

function readAll(bodies: readonly unknown[]): (Sample | UnusableSample)[] {
  let total = 0;
  // Array.from also visits the holes of a sparse list.
  return Array.from(bodies, (body, index) => {
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

interface KnownSecrets {
  readonly merchants: readonly DetectionSecrets[];
  readonly purpose: SigningPurpose;
  /** Every key that the secrets can make. */
  readonly keys: KeyCandidates;
}

function knownSecrets(sets: readonly DetectionSecrets[], purpose: SigningPurpose): KnownSecrets {
  const merchants = sets.flatMap((set) => merchantSecrets(set)).map(({ secrets }) => secrets);
  return { merchants, purpose, keys: keyCandidates(merchants, purpose) };
}

/**
 * The schemes under which a receiver verifies the samples. Of those with one signature one text is enough: whoever holds
 * a signed body can write it in another spelling, which a loose scheme verifies.
 */
function fitAll(samples: readonly Sample[], known: KnownSecrets): SignatureScheme[] {
  const texts = Map.groupBy(samples, ({ claimedDigest }) => Buffer.from(claimedDigest).toString('hex'));
  const [first = [], ...others] = texts.values();
  const found = first.flatMap((sample) =>
    searchSchemes(sample, { keys: known.keys, texts: textCandidates(sample) }).filter((scheme) =>
      isVerified(sample, scheme, known),
    ),
  );
  const distinct = new Map(found.map((scheme) => [JSON.stringify(scheme), scheme]));
  return [...distinct.values()].filter((scheme) =>
    others.every((alike) => alike.some((sample) => isVerified(sample, scheme, known))),
  );
}

/** Whether the schemes fit only because secrets are swapped. */
function swapsIn(
  schemes: readonly SignatureScheme[],
  reports: readonly SampleReport[],
  { merchants: [secrets = {}] }: KnownSecrets,
): NearMiss[] {
  const searched = [...reports.entries()].filter(([, { fits }]) => fits.length > 0).map(([index]) => index);
  return findSwappedSecrets(schemes, { secrets, samples: searched });
}

function nothingToSearch(read: readonly (Sample | UnusableSample)[], keys: KeyCandidates): SchemeDetection {
  const message =
    keys.size === 0
      ? 'No secret to try: partnerSecretKey, merchantSecretKey or both are needed, as text that is not empty. The public key is no secret.'
      : 'No sample can be searched: see the status of each.';
  const samples = read.map((sample) =>
    isUsable(sample)
      ? { ...reportOf(sample), message: 'Not searched: there is no secret to try.' }
      : reportOf(sample),
  );
  return { verdict: 'unusable', message, ...noMatches, samples };
}

const noMatches = { survivors: [], undecided: [], nearMisses: [] } as const;

function withSurvivors(
  read: readonly (Sample | UnusableSample)[],
  schemes: readonly SignatureScheme[],
  { known, nearMisses: missed }: { known: KnownSecrets; nearMisses: readonly NearMiss[] },
): SchemeDetection {
  const samples = read.map((sample) =>
    isUsable(sample)
      ? reportOf(
          sample,
          schemes.filter((scheme) => isVerified(sample, scheme, known)),
        )
      : reportOf(sample),
  );
  const nearMisses = [...missed, ...swapsIn(schemes, samples, known)];
  const undecided = partsThatDiffer(schemes);
  return {
    verdict: schemes.length === 1 ? 'found' : 'ambiguous',
    message: foundMessage({ survivors: schemes, undecided, nearMisses, samples }),
    survivors: schemes.map((scheme) => ({ scheme, notes: safetyNotes(scheme) })),
    undecided,
    nearMisses,
    samples,
  };
}

function foundMessage({
  survivors: { length: count },
  undecided,
  nearMisses,
  samples,
}: Pick<SchemeDetection, 'undecided' | 'nearMisses' | 'samples'> & {
  readonly survivors: readonly unknown[];
}): string {
  const strays = samples.filter(({ status, fits }) => status === 'usable' && fits.length === 0).length;
  const rest = strays === 0 ? '' : ` But: ${strays} of the samples it does not fit: leave them out.`;
  const doubts = [...new Set(nearMisses.map((miss) => miss.message))].map((message) => ` But: ${message}`);
  const found =
    count === 1
      ? 'One scheme fits. Set signature of defineDeployment (PARTNER_EXCHANGE_SCHEME_FILE) to it, and pin it with pinScheme.'
      : `${count} schemes fit all samples, which cannot tell them apart: they differ in ${undecided.join(', ')}. The first is the most plausible. To be certain have a probe signed, or add samples with numbers like 10.0, slashes, letters beyond ASCII and nested members.`;
  return found + rest + doubts.join('');
}

function partsThatDiffer(schemes: readonly SignatureScheme[]): (keyof SignatureScheme)[] {
  return schemePartNames.filter((part) => schemes.some((scheme) => scheme[part] !== schemes[0]?.[part]));
}

function withoutSurvivors(
  samples: readonly SampleReport[],
  nearMisses: readonly NearMiss[],
): SchemeDetection {
  const isContradictory = samples.some((sample) => sample.fits.length > 0);
  const forged = nearMisses.find(({ code }) => code === 'forged');
  const finding = isContradictory
    ? 'No scheme fits all samples: see which fits which. They may be signed with different secrets, or for different purposes.'
    : 'No known scheme fits with these secrets.';
  const hint =
    nearMisses.length > 0
      ? 'A near miss says what to fix.'
      : 'Check that the secrets belong to the sample, and that the sample is the raw body, complete.';
  return {
    verdict: isContradictory ? 'contradictory' : 'none',
    message:
      forged === undefined
        ? `${finding} ${hint}`
        : `${forged.message} Refuse it, and search without it: the near miss says which sample it is.`,
    ...noMatches,
    nearMisses,
    samples,
  };
}

/** The distinct near misses of samples that no scheme fits. */
function nearMissesOf(
  read: readonly (Sample | UnusableSample)[],
  reports: readonly SampleReport[],
  { merchants, purpose }: KnownSecrets,
): NearMiss[] {
  const merged = new Map<string, NearMiss>();
  let examined = 0;
  for (const [index, sample] of read.entries()) {
    if (!isUsable(sample) || reports[index]?.fits.length !== 0 || examined++ >= maxNearMissSamples) continue;
    const misses = merchants
      .slice(0, maxNearMissMerchants)
      .flatMap((secrets) => findNearMisses(sample, { secrets, purpose }));
    for (const miss of misses) {
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
