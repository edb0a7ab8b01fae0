import { isKeyRing } from '../../credentials/key-ring.ts';
import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import type { DetectionSecrets } from '../detection/detection.ts';
import { merchantSecrets } from '../detection/key-candidates.ts';
import type { ExplainOptions } from './mismatch-explanation.ts';

/** Secrets that may have signed together, with a name for them. */
export interface CandidateKeys {
  readonly secrets: DetectionSecrets;
  readonly label: string;
}

/**
 * Every merchant of every generation, unchecked, since their mistakes are to be found. The one that failed verification
 * comes first.
 */
export function candidateKeys({ credentials: given, secrets, merchant }: ExplainOptions): CandidateKeys[] {
  const credentials = isKeyRing(given) ? (given.loaded?.verifying ?? []) : given;
  const bare = secrets === undefined ? [] : merchantsOf(secrets, 'the given secrets', merchant);
  const generations = isList(credentials) ? credentials : [credentials];
  const issued = generations.flatMap((generation, index) =>
    generation === undefined || generation === null
      ? []
      : merchantsOf(generation, isList(credentials) ? `credentials[${index}]` : 'credentials', merchant),
  );
  return [...bare, ...issued];
}

function merchantsOf(given: unknown, label: string, first: string | undefined): CandidateKeys[] {
  return merchantSecrets(given)
    .sort((one, other) => Number(other.merchant === first) - Number(one.merchant === first))
    .map(({ secrets, merchant }) => ({
      secrets,
      label: merchant === undefined ? label : `${label} with merchantSecretKeys.${merchant}`,
    }));
}

function isList(
  value: PartnerCredentials | readonly PartnerCredentials[] | undefined,
): value is readonly PartnerCredentials[] {
  return Array.isArray(value);
}
