import { defineCredentials } from '../../../credentials/define-credentials.ts';
import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import { hash } from '../../../internal/hash.ts';
import { defineOptions, invalidOption, type OptionTable, unchecked } from '../../../internal/options.ts';

/** A partner that exists from the start, with keys of your choice. */
export interface SandboxPartner {
  /** The address of its mails. @default 'partner@sandbox.example' */
  readonly email?: string | undefined;
  /**
   * Its keys, valid at once. `merchantSecretKey` and `partnerCode` are required; `partnerId` is derived from the
   * code by default.
   */
  readonly credentials: PartnerCredentials & {
    readonly merchantSecretKey: string;
    readonly partnerCode: string;
  };
}

export type FixedPartner = ReturnType<typeof checkPartners>[number];

/** @throws {ConfigurationError} `invalid_option` or `invalid_credentials`, naming the problem */
export function checkPartners(partners: readonly SandboxPartner[]) {
  if (!Array.isArray(partners)) throw invalidOption('partners must be a list.');
  const seen = new Set<string>();
  return partners.map((partner) => {
    const { email = 'partner@sandbox.example', credentials: given } = readPartner(partner);
    const { partnerCode, partnerId, merchantSecretKey, ...keys } = defineCredentials(given);
    if (partnerCode === undefined || merchantSecretKey === undefined)
      throw invalidOption('partners: the credentials need a partnerCode and a merchantSecretKey.');
    for (const unique of [partnerCode, keys.partnerPublicKey]) {
      if (seen.has(unique)) throw invalidOption('partners: two have the same partnerCode or public key.');
      seen.add(unique);
    }
    // Picked from the original: `defineCredentials` hides the secrets of its copy, and a sandbox shows them.
    const { partnerSecretKey, merchantSecretKeys } = given;
    const credentials: SandboxCredentials = Object.freeze({
      partnerPublicKey: keys.partnerPublicKey,
      partnerSecretKey,
      merchantSecretKey,
      ...(merchantSecretKeys !== undefined && {
        merchantSecretKeys: Object.freeze({ ...merchantSecretKeys }),
      }),
      partnerId: partnerId ?? `partner-${hash('sha256', partnerCode, 'hex').slice(0, 16)}`,
      partnerCode,
    });
    return Object.freeze({ email, credentials });
  });
}

const readPartner = defineOptions('partners', {
  email: unchecked<string>(),
  // Sound: defineCredentials checks it.
  credentials: (given) => given as SandboxPartner['credentials'],
} satisfies OptionTable<SandboxPartner>);

/** The content of a one-time link: all keys and ids of a partner. */
export interface SandboxCredentials extends Omit<PartnerCredentials, 'merchantSecretKeys'> {
  /** Signs orders in every currency that has no merchant of its own. */
  readonly merchantSecretKey: string;
  /** Secrets by currency, for the merchants of the option `merchants`. */
  readonly merchantSecretKeys?: Readonly<Record<string, string>>;
  /** Stays the same when keys are regenerated. */
  readonly partnerId: string;
  /** As given at onboarding. */
  readonly partnerCode: string;
}
