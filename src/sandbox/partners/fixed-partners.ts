import { defineCredentials } from '../../credentials/define-credentials.ts';
import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import { checkNames } from '../../options/check-names.ts';
import { invalidOption } from '../../options/check-values.ts';
import { secretDigest } from '../secrets.ts';
import type { SandboxCredentials } from './sandbox-credentials.ts';

/** A partner that is there from the start, with keys of your choice. */
export interface SandboxPartner {
  /** Where its mails go. @default 'partner@sandbox.example' */
  readonly email?: string | undefined;
  /**
   * Its keys, valid at once. `merchantSecretKey` and `partnerCode` are needed; `partnerId` is derived from the code when
   * it is absent.
   */
  readonly credentials: PartnerCredentials & {
    readonly merchantSecretKey: string;
    readonly partnerCode: string;
  };
}

/** A partner that is to be there from the start. */
export interface FixedPartner {
  readonly email: string;
  readonly credentials: SandboxCredentials;
}

/** @throws {ConfigurationError} `invalid_option` or `invalid_credentials`, naming what is wrong */
export function checkPartners(given: readonly SandboxPartner[]): readonly FixedPartner[] {
  if (!Array.isArray(given)) throw invalidOption('partners must be a list.');
  const seen = new Set<string>();
  return given.map((partner) => {
    checkNames('partners', partner, { email: true, credentials: true });
    const { email = 'partner@sandbox.example' } = partner;
    const { partnerCode, partnerId, merchantSecretKey, ...keys } = defineCredentials(partner.credentials);
    if (partnerCode === undefined) throw invalidOption('partners: the credentials need a partnerCode.');
    if (merchantSecretKey === undefined) {
      throw invalidOption('partners: the credentials need a merchantSecretKey.');
    }
    for (const unique of [partnerCode, keys.partnerPublicKey]) {
      if (seen.has(unique)) throw invalidOption('partners: two have the same partnerCode or public key.');
      seen.add(unique);
    }
    // Not spread: the copy of `defineCredentials` hides its secrets, and a sandbox shows them.
    const { partnerSecretKey, merchantSecretKeys } = partner.credentials;
    const credentials = Object.freeze({
      partnerPublicKey: keys.partnerPublicKey,
      partnerSecretKey,
      merchantSecretKey,
      ...(merchantSecretKeys !== undefined && {
        merchantSecretKeys: Object.freeze({ ...merchantSecretKeys }),
      }),
      partnerId: partnerId ?? `partner-${secretDigest(partnerCode).slice(0, 16)}`,
      partnerCode,
    });
    return Object.freeze({ email, credentials });
  });
}
