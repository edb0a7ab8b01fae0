import type { AssumptionId } from './assumptions.ts';

/** The operations of the contract that have an address on the service. */
export type Operation =
  | 'onboard'
  | 'whitelistIp'
  | 'regenerateKeys'
  | 'createOrder'
  | 'generateApiKey'
  | 'scanDevice'
  | 'checkNumber'
  | 'sendMessage';

/** Which of a deployment's base URLs an operation is below. */
export type BaseUrlName = 'onboardingBaseUrl' | 'stagingUrl' | 'messengerBaseUrl';

/** All that is known of one operation of the contract. */
export interface OperationRules {
  readonly method: 'GET' | 'POST';
  readonly baseUrl: BaseUrlName;
  /** Below the base URL; `undefined` where none is published or reported. */
  readonly path: string | undefined;
  /**
   * What proves who calls: nothing, the public key as bearer token, the bare master key, or the API key of a messenger
   * device as a member of the query or of the body.
   */
  readonly authorization: 'none' | 'public-key' | 'master-key' | 'api-key-in-query' | 'api-key-in-body';
  /** Which key signs the body (contract: Authentication 5). */
  readonly signedWith: 'nothing' | 'general' | 'order';
  /**
   * `always`: it does no harm to repeat it. `unless-acted`: it may only be repeated when the service has certainly not
   * acted.
   */
  readonly repeat: 'always' | 'unless-acted';
  /** What a refusal can stem from, besides the caller's own data. */
  readonly assumptions: {
    /** The path may be another one. */
    readonly path?: AssumptionId;
    /** The payload may be another one. */
    readonly payload?: AssumptionId;
  };
}

/**
 * The table of operations (contract: Endpoints): clients, sandbox, errors and reference are read off it. The order
 * notification (Endpoints 5) is not in it: the service calls the partner there.
 */
export const operations = {
  onboard: {
    method: 'POST',
    baseUrl: 'onboardingBaseUrl',
    path: '/api/v1/no-auth/PartnerP2P/OnboardPartner',
    authorization: 'none',
    signedWith: 'nothing',
    repeat: 'unless-acted',
    assumptions: {},
  },
  whitelistIp: {
    method: 'POST',
    baseUrl: 'stagingUrl',
    path: '/test-ip-connection/',
    authorization: 'public-key',
    signedWith: 'nothing',
    repeat: 'always',
    assumptions: {},
  },
  regenerateKeys: {
    method: 'POST',
    baseUrl: 'onboardingBaseUrl',
    // The dot before the last slash is published so.
    path: '/api/v1/no-auth/PartnerP2P/OnboardPartner./',
    authorization: 'public-key',
    signedWith: 'general',
    repeat: 'unless-acted',
    assumptions: { path: 'regeneration-path' },
  },
  createOrder: {
    method: 'POST',
    baseUrl: 'onboardingBaseUrl',
    // Reported: the contract does not show it.
    path: '/api/v1/no-auth/PartnerP2P/CreateOrder/',
    authorization: 'public-key',
    signedWith: 'order',
    repeat: 'unless-acted',
    assumptions: { path: 'order-path', payload: 'order-payload' },
  },
  generateApiKey: {
    method: 'POST',
    baseUrl: 'messengerBaseUrl',
    path: '/api-keys/generate',
    authorization: 'master-key',
    signedWith: 'nothing',
    repeat: 'unless-acted',
    assumptions: { payload: 'branded-names' },
  },
  scanDevice: {
    method: 'GET',
    baseUrl: 'messengerBaseUrl',
    path: '/connect-msg/scan-device',
    authorization: 'api-key-in-query',
    signedWith: 'nothing',
    repeat: 'always',
    assumptions: { path: 'branded-names' },
  },
  checkNumber: {
    method: 'GET',
    baseUrl: 'messengerBaseUrl',
    path: undefined,
    authorization: 'api-key-in-query',
    signedWith: 'nothing',
    repeat: 'always',
    assumptions: { path: 'number-check', payload: 'number-check' },
  },
  sendMessage: {
    method: 'POST',
    baseUrl: 'messengerBaseUrl',
    path: '/send-messages/send',
    authorization: 'api-key-in-body',
    signedWith: 'nothing',
    repeat: 'unless-acted',
    assumptions: { payload: 'verify-check' },
  },
} as const satisfies Record<Operation, OperationRules>;

/** All that is known of an operation. */
export function operationRules(operation: Operation): OperationRules {
  return operations[operation];
}
