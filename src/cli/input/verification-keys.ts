import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import { type SigningPurpose, signingKey } from '../../credentials/signing-key.ts';
import {
  type VerificationKeys,
  verificationKeysOf,
  verificationKeysOfTexts,
} from '../../credentials/verification-keys.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';

/** Every key that may have signed something for a purpose. */
export function verificationKeys(
  credentials: readonly PartnerCredentials[],
  { purpose, scheme }: { purpose: SigningPurpose; scheme: SignatureScheme },
): VerificationKeys {
  if (purpose === 'order') return verificationKeysOf(credentials, scheme);
  return verificationKeysOfTexts(credentials.map((each) => signingKey(each, 'general')));
}
