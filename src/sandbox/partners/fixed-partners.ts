import { defineCredentials } from '../../credentials/define-credentials.ts';
import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import { defineOptions, invalidOption, type OptionTable, unchecked, value } from '../../internal/options.ts';
import { secretDigest } from '../seeded-random.ts';

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

/** A checked {@link SandboxPartner}. */
export interface FixedPartner {
  readonly email: string;
  readonly credentials: SandboxCredentials;
}

/** @throws {ConfigurationError} `invalid_option` or `invalid_credentials`, naming what is wrong */
export function checkPartners(partners: readonly SandboxPartner[]): readonly FixedPartner[] {
  if (!Array.isArray(partners)) throw invalidOption('partners must be a list.');
  const seen = new Set<string>();
  return partners.map((partner) => {
    const { email = 'partner@sandbox.example', credentials: given } = readPartner(partner);
    const { partnerCode, partnerId, merchantSecretKey, ...keys } = defineCredentials(given);
    if (partnerCode === undefined) throw invalidOption('partners: the credentials need a partnerCode.');
    if (merchantSecretKey === undefined) {
      throw invalidOption('partners: the credentials need a merchantSecretKey.');
    }
    for (const unique of [partnerCode, keys.partnerPublicKey]) {
      if (seen.has(unique)) throw invalidOption('partners: two have the same partnerCode or public key.');
      seen.add(unique);
    }
    // Not spread: the copy of `defineCredentials` hides its secrets, and a sandbox shows them.
    const { partnerSecretKey, merchantSecretKeys } = given;
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

const readPartner = defineOptions('partners', {
  email: unchecked<string>(),
  // Sound: defineCredentials checks it.
  credentials: value((given) => given as SandboxPartner['credentials']),
} satisfies OptionTable<SandboxPartner>);

/** What a one-time link of the sandbox reveals: all keys and ids of a partner. */
export interface SandboxCredentials extends Omit<PartnerCredentials, 'merchantSecretKeys'> {
  /** Signs orders in every currency that has no merchant of its own. */
  readonly merchantSecretKey: string;
  /** By currency, where the option `merchants` names any. */
  readonly merchantSecretKeys?: Readonly<Record<string, string>>;
  /** Stays the same when keys are regenerated. */
  readonly partnerId: string;
  readonly partnerCode: string;
}
