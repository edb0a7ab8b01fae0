import type { SigningPurpose } from '../../credentials/signing-key.ts';
import { changedBodies } from './changed-bodies.ts';
import { changedSecrets } from './changed-secrets.ts';
import type { DetectionSecrets, NearMiss } from './detection.ts';
import { keyCandidates } from './key-candidates.ts';
import { rankSchemes } from './rank-schemes.ts';
import type { Sample } from './read-sample.ts';
import { search, textCandidates } from './search.ts';

/** A near miss, before we know which samples it fits. */
export type SampleNearMiss = Omit<NearMiss, 'samples'>;

/**
 * What would fit a sample if one thing were different: the secrets or the body, not both. If several schemes fit after
 * the same change, the best.
 */
export function findNearMisses(
  sample: Sample,
  { secrets, purpose }: { secrets: DetectionSecrets; purpose: SigningPurpose },
): SampleNearMiss[] {
  const found: SampleNearMiss[] = [];
  const texts = textCandidates(sample);
  for (const { code, message, keys } of changedSecrets(secrets, purpose)) {
    const [scheme] = rankSchemes(search(sample, { keys, texts }));
    if (scheme) found.push({ code, message, scheme });
  }
  const keys = keyCandidates(secrets, purpose, ['']);
  for (const { code, message, texts } of changedBodies(sample)) {
    const [scheme] = rankSchemes(search(sample, { keys, texts }));
    if (scheme) found.push({ code, message, scheme });
  }
  return found;
}
