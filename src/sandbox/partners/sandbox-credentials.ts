import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';

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
