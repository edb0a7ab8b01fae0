import type { CompleteDeployment } from '../../../deployment/define-deployment.ts';
import type { SandboxCredentials } from '../settings/fixed-partners.ts';

/**
 * The environment variables of a program that uses the sandbox: see `readEnvironment`. Keys that the caller gave are
 * `undefined` here, since the caller has them.
 */
export function partnerVariables(
  addresses: Pick<CompleteDeployment<unknown>, 'onboardingBaseUrl' | 'stagingUrl' | 'messengerBaseUrl'>,
  { partner, masterKey }: { partner: SandboxCredentials | undefined; masterKey: string | undefined },
): Record<string, string> {
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
