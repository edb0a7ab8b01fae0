import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import type { DetectionSecrets } from '../detection/detection.ts';
import { presentSecrets } from '../detection/key-candidates.ts';
import type { ExplainOptions } from './mismatch-explanation.ts';

/** Secrets that may have signed together, and what to call them. */
export interface RingEntry {
  readonly secrets: DetectionSecrets;
  readonly label: string;
}

/**
 * Every merchant of every generation, unchecked: what is wrong with them is to be found out. The one with which
 * verification failed comes first.
 */
export function ringOf({ credentials, secrets, merchant }: ExplainOptions): RingEntry[] {
  const bare =
    secrets === undefined ? [] : [{ secrets: presentSecrets(secrets), label: 'the given secrets' }];
  const generations = isList(credentials) ? credentials : [credentials];
  const entries = generations.flatMap((generation, index) =>
    typeof generation === 'object' && generation !== null
      ? merchantsOf(generation, isList(credentials) ? `credentials[${index}]` : 'credentials', merchant)
      : [],
  );
  return [...bare, ...entries];
}

function merchantsOf(credentials: PartnerCredentials, label: string, first: string | undefined): RingEntry[] {
  const { merchantSecretKey: _, ...others } = presentSecrets(credentials);
  const merchants = Object.entries(credentials.merchantSecretKeys ?? {}).map(([name, merchantSecretKey]) => ({
    name,
    entry: {
      secrets: presentSecrets({ ...others, merchantSecretKey }),
      label: `${label} with merchantSecretKeys.${name}`,
    },
  }));
  const single = { name: undefined, entry: { secrets: presentSecrets(credentials), label } };
  const entries =
    credentials.merchantSecretKey !== undefined || merchants.length === 0
      ? [single, ...merchants]
      : merchants;
  return entries
    .sort((one, other) => Number(other.name === first) - Number(one.name === first))
    .map(({ entry }) => entry);
}

function isList(value: ExplainOptions['credentials']): value is readonly PartnerCredentials[] {
  return Array.isArray(value);
}
