import type { PartnerCredentials } from './partner-credentials.ts';

/** Every secret of the credentials, to look for where none may be. The public key is none. */
export function secretTexts(credentials: PartnerCredentials): readonly string[] {
  const { partnerSecretKey, merchantSecretKey, merchantSecretKeys = {} } = credentials;
  return [partnerSecretKey, merchantSecretKey, ...Object.values(merchantSecretKeys)].filter(
    (secret): secret is string => secret !== undefined,
  );
}
