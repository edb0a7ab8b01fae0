import type { KeyRing } from '../credentials/key-ring.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import type { Deployment } from '../deployment/define-deployment.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import { type ClientOptions, clientOptionNames } from '../http/client-options.ts';
import type { OptionNames } from '../options/check-names.ts';

export interface ExchangeClientOptions<Order = BuyOrder> extends ClientOptions {
  deployment: Deployment<Order>;
  /**
   * Not needed for `onboard` and `whitelistIp`. With a key ring each call takes the keys that sign then. One that the
   * service refuses with 401 or 403 is repeated once if the ring has newer or pending keys: a refusal is safe to repeat.
   */
  credentials?: PartnerCredentials | KeyRing | undefined;
}

export const exchangeClientOptionNames: OptionNames<ExchangeClientOptions> = {
  ...clientOptionNames,
  deployment: true,
  credentials: true,
};
