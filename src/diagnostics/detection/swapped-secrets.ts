import { keyPrefixes } from '../../credentials/check-key.ts';
import { type OrderKey, type SignatureScheme, schemeParts } from '../../signature/signature-scheme.ts';
import type { DetectionSecrets, NearMiss } from './detection.ts';
import { partNames } from './key-candidates.ts';

/**
 * Schemes that fit only because secrets are swapped: `partner+merchant` with swapped secrets is the published
 * `merchant+partner`, and no sample can tell them apart.
 *
 * @param samples the places of the samples that the schemes fit
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

/** What a key is really made of, judging by the prefixes of its parts; `undefined` if no scheme has that. */
function byPrefix(orderKey: OrderKey, secrets: DetectionSecrets): OrderKey | undefined {
  const parts = orderKey.split('+').map((part) => {
    const name = partNames.find(([each]) => each === part)?.[1];
    const secret = name && secrets[name];
    return partNames.find(([, each]) => secret?.startsWith(keyPrefixes[each]))?.[0] ?? part;
  });
  return schemeParts.orderKey.find((each) => each === parts.join('+'));
}
