import { invalidOption, nested, optional } from '../internal/options.ts';
import type { AssumptionId } from './assumptions.ts';

/** The environment variable of each base URL. */
export const baseUrlVariables = {
  onboardingBaseUrl: 'PARTNER_EXCHANGE_ONBOARDING_BASE_URL',
  stagingUrl: 'PARTNER_EXCHANGE_STAGING_URL',
  messengerBaseUrl: 'PARTNER_EXCHANGE_MESSENGER_BASE_URL',
} as const;

/** The base URL that an operation's path is appended to. @useDeclaredType */
export type BaseUrlName = keyof typeof baseUrlVariables;

export interface OperationRules {
  readonly method: 'GET' | 'POST';
  readonly baseUrl: BaseUrlName;
  /** The path below the base URL; `undefined` if none is published or reported. */
  readonly path: string | undefined;
  /** The public key goes as a bearer token, the master key bare. */
  readonly authorization: 'none' | 'public-key' | 'master-key' | 'api-key-in-query' | 'api-key-in-body';
  /** Which key signs the body (contract: Authentication 5). */
  readonly signedWith: 'nothing' | 'general' | 'order';
  /**
   * `always`: repeating it does no harm. `if-not-acted`: repeat it only if it was not sent, or if the service says with
   * 429 that it did not act, which is assumed (ledger: `errors`). `if-not-sent`: a repetition costs money, so only what
   * has certainly not been sent is repeated.
   */
  readonly repeat: 'always' | 'if-not-acted' | 'if-not-sent';
  /** The assumption about the path, where another path can be behind a refusal. */
  readonly pathAssumption?: AssumptionId;
}

/** The operations that clients, sandbox and errors read (contract: Endpoints; in Endpoints 5 the service calls us). */
export const operations = {
  onboard: {
    method: 'POST',
    baseUrl: 'onboardingBaseUrl',
    path: '/api/v1/no-auth/PartnerP2P/OnboardPartner',
    authorization: 'none',
    signedWith: 'nothing',
    repeat: 'if-not-acted',
  },
  whitelistIp: {
    method: 'POST',
    baseUrl: 'stagingUrl',
    path: '/test-ip-connection/',
    authorization: 'public-key',
    signedWith: 'nothing',
    repeat: 'always',
  },
  regenerateKeys: {
    method: 'POST',
    baseUrl: 'onboardingBaseUrl',
    // The dot before the last slash is in the published path.
    path: '/api/v1/no-auth/PartnerP2P/OnboardPartner./',
    authorization: 'public-key',
    signedWith: 'general',
    repeat: 'if-not-acted',
    pathAssumption: 'regeneration-path',
  },
  createOrder: {
    method: 'POST',
    baseUrl: 'onboardingBaseUrl',
    // Reported: the contract does not show it.
    path: '/api/v1/no-auth/PartnerP2P/CreateOrder/',
    authorization: 'public-key',
    signedWith: 'order',
    repeat: 'if-not-sent',
    pathAssumption: 'order-path',
  },
  generateApiKey: {
    method: 'POST',
    baseUrl: 'messengerBaseUrl',
    path: '/api-keys/generate',
    authorization: 'master-key',
    signedWith: 'nothing',
    repeat: 'if-not-acted',
  },
  scanDevice: {
    method: 'GET',
    baseUrl: 'messengerBaseUrl',
    path: '/connect-msg/scan-device',
    authorization: 'api-key-in-query',
    signedWith: 'nothing',
    repeat: 'always',
    pathAssumption: 'branded-names',
  },
  checkNumber: {
    method: 'GET',
    baseUrl: 'messengerBaseUrl',
    path: undefined,
    authorization: 'api-key-in-query',
    signedWith: 'nothing',
    repeat: 'always',
    pathAssumption: 'number-check',
  },
  sendMessage: {
    method: 'POST',
    baseUrl: 'messengerBaseUrl',
    path: '/send-messages/send',
    authorization: 'api-key-in-body',
    signedWith: 'nothing',
    repeat: 'if-not-acted',
  },
} as const satisfies Readonly<Record<string, OperationRules>>;

/** The operations of the contract that have an address on the service. @useDeclaredType */
export type Operation = keyof typeof operations;

// Sound: the keys of the table are the operations.
export const operationNames = Object.freeze(Object.keys(operations)) as readonly Operation[];

export function operationRules(operation: Operation): OperationRules {
  return operations[operation];
}

/** Path of each operation below its base URL; `undefined` where nothing is published or reported. */
export type OperationPaths = Readonly<Record<Exclude<Operation, 'checkNumber'>, string>> & {
  readonly checkNumber: string | undefined;
};

/** As published (contract: Endpoints), except `createOrder`, which is reported. */
export const defaultPaths = Object.freeze(eachOperation(({ path }) => path) as OperationPaths);

export const pathsRow = nested(eachOperation(() => optional(checkPath)));

/** The published paths, with those of the deployment in their place. */
export function pathsOf(
  given: Readonly<Record<Operation, string | undefined>>,
  segment = 'connect-msg',
): OperationPaths {
  const published = { ...defaultPaths, scanDevice: defaultPaths.scanDevice.replace('connect-msg', segment) };
  const paths = eachOperation((_, operation) => given[operation] ?? published[operation]);
  // Sound: only the number check has no published path.
  return Object.freeze(paths as OperationPaths);
}

function eachOperation<Value>(
  make: (rules: OperationRules, operation: Operation) => Value,
): Record<Operation, Value> {
  const made = operationNames.map((name) => [name, make(operations[name], name)]);
  // Sound: the names are all operations.
  return Object.fromEntries(made) as Record<Operation, Value>;
}

function checkPath(path: unknown, name: string): string {
  if (typeof path !== 'string' || !path.startsWith('/')) throw invalidOption(`${name} must begin with "/".`);
  const unwanted = ['?', '#', '\\', '//'].find((piece) => path.includes(piece));
  if (unwanted !== undefined) throw invalidOption(`${name} must be a plain path: it holds "${unwanted}".`);
  // The URL parser would rewrite such a path (dot segments, blanks, non-ASCII).
  if (new URL(path, 'http://host').pathname === path) return path;
  throw invalidOption(`${name} must be written as it goes over the wire, percent-encoded where needed.`);
}
