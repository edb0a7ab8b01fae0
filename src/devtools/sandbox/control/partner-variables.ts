import type { CompleteDeployment } from '../../../deployment/define-deployment.ts';
import type { SandboxCredentials } from '../settings/fixed-partners.ts';

type Addresses = Pick<CompleteDeployment<unknown>, 'onboardingBaseUrl' | 'stagingUrl' | 'messengerBaseUrl'>;

interface Keys {
  /** `undefined` if there is none, or if the caller gave its keys and so has them. */
  readonly partner: SandboxCredentials | undefined;
  /** `undefined` if the caller gave it. */
  readonly masterKey: string | undefined;
}

/** What a program needs in its environment to use the sandbox: see `readEnvironment`. */
export function partnerVariables(addresses: Addresses, { partner, masterKey }: Keys): Record<string, string> {
  return {
    PARTNER_EXCHANGE_ONBOARDING_BASE_URL: addresses.onboardingBaseUrl,
    PARTNER_EXCHANGE_STAGING_URL: addresses.stagingUrl,
    PARTNER_EXCHANGE_MESSENGER_BASE_URL: addresses.messengerBaseUrl,
    ...(partner !== undefined && {
      PARTNER_PUBLIC_KEY: partner.partnerPublicKey,
      PARTNER_SECRET_KEY: partner.partnerSecretKey,
      MERCHANT_SECRET_KEY: partner.merchantSecretKey,
      PARTNER_ID: partner.partnerId,
      PARTNER_CODE: partner.partnerCode,
    }),
    ...(masterKey !== undefined && { MESSENGER_MASTER_KEY: masterKey }),
  };
}
