import { keyPrefixes } from '../../credentials/check-key.ts';
import type { ResolvedSandboxOptions } from '../resolve-sandbox-options.ts';
import { randomToken } from '../secrets.ts';
import type { SandboxCredentials } from './sandbox-credentials.ts';

export type KeyOptions = Pick<ResolvedSandboxOptions, 'random' | 'merchants' | 'merchantKeyPrefix'>;

/** New keys for a partner. */
export function issueKeys(
  partner: Pick<SandboxCredentials, 'partnerId' | 'partnerCode'>,
  { random, merchants, merchantKeyPrefix }: KeyOptions,
): SandboxCredentials {
  const key = (prefix: string) => prefix + randomToken(random, 24);
  const byCurrency = () => merchants.map((currency) => [currency, key(merchantKeyPrefix)] as const);
  return Object.freeze({
    partnerPublicKey: key(keyPrefixes.partnerPublicKey),
    partnerSecretKey: key(keyPrefixes.partnerSecretKey),
    merchantSecretKey: key(merchantKeyPrefix),
    ...(merchants.length > 0 && { merchantSecretKeys: Object.freeze(Object.fromEntries(byCurrency())) }),
    partnerId: partner.partnerId,
    partnerCode: partner.partnerCode,
  });
}
