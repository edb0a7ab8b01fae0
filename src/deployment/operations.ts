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

/** The base URL that an operation's path is appended to. */
export type BaseUrlName = 'onboardingBaseUrl' | 'stagingUrl' | 'messengerBaseUrl';

/** Everything that is known of one operation of the contract. */
export interface OperationRules {
  readonly method: 'GET' | 'POST';
  readonly baseUrl: BaseUrlName;
  /** The path below the base URL; `undefined` if none is published or reported. */
  readonly path: string | undefined;
  /**
   * How the caller proves who it is: not at all, by the public key as bearer token, by the bare master key, or by the
   * API key of a messenger device in the query or in the body.
   */
  readonly authorization: 'none' | 'public-key' | 'master-key' | 'api-key-in-query' | 'api-key-in-body';
  /** Which key signs the body (contract: Authentication 5). */
  readonly signedWith: 'nothing' | 'general' | 'order';
  /**
   * `always`: repeating it does no harm. `unless-acted`: repeat it only if it was not sent, or if the service says with
   * 429 that it did not act, which is assumed (ledger: `errors`). `unless-sent`: a repetition costs money, so only what
   * has certainly not been sent is repeated.
   */
  readonly repeat: 'always' | 'unless-acted' | 'unless-sent';
  /** Assumptions that can be behind a refusal, besides the caller's own data. */
  readonly assumptions: {
    /** The path may differ. */
    readonly path?: AssumptionId;
    /** The payload may differ. */
    readonly payload?: AssumptionId;
  };
}

/**
 * The table of operations (contract: Endpoints). Clients, sandbox and errors read everything about an operation from
 * it. The order notification (Endpoints 5) is not listed: there the service calls the partner.
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
    // The dot before the last slash is in the published path.
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
    repeat: 'unless-sent',
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

/** Everything that is known of an operation. */
export function operationRules(operation: Operation): OperationRules {
  return operations[operation];
}
