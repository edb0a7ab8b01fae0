import { ConfigurationError, isConfigurationError, partsOf } from '../errors/errors.ts';
import { isJsonObject } from '../internal/json.ts';
import {
  callback,
  checkOneOf,
  defineOptions,
  flag,
  invalidOption,
  type OptionTable,
  optional,
  unchecked,
  value,
} from '../internal/options.ts';
import { checkScheme, defaultScheme, type SignatureScheme } from '../signature/signature-scheme.ts';
import { type AddressForms, addressForms, readAddressForms } from './addresses/address-forms.ts';
import { baseUrlOf, readUrl } from './base-url.ts';
import { checkEventStatuses, type EventStatuses } from './event-statuses.ts';
import {
  checkDuplicateIds,
  type DuplicateIds,
  overridesIn,
  readDeploymentFile,
} from './learnt-deployment.ts';
import { usualMessageReply } from './message-reply.ts';
import {
  type BaseUrlName,
  baseUrlVariables,
  type Operation,
  type OperationPaths,
  operationRules,
  pathsOf,
  pathsRow,
} from './operations.ts';
import {
  checkReplyRules,
  type OrderStatuses,
  type ReceivedReply,
  type ReplyRules,
  type ReplyVerdict,
  readerByRules,
  usualOrderReply,
  usualOrderStatuses,
} from './order-reply.ts';
import { type BuyOrder, reportedBuyOrder } from './order-schema.ts';
import type { SameOrder } from './same-order.ts';
import { checkStandardSchema, type StandardSchema } from './standard-schema.ts';
import { checkWireNames, type WireNames } from './wire-names.ts';

/** Options of {@link defineDeployment}. */
export interface DeploymentOptions<Order = BuyOrder> {
  /** Base URL of onboarding, key regeneration and orders: `{onboarding_base_url}` of the contract. */
  onboardingBaseUrl?: string | URL | undefined;
  /** Base URL of the IP capture: `{staging_url}` of the contract. */
  stagingUrl?: string | URL | undefined;
  /** Base URL of the messenger service: `{base_url}` of the contract. */
  messengerBaseUrl?: string | URL | undefined;
  /**
   * Allows `http:` base URLs for other hosts than this one (`localhost`, 127.0.0.0/8, `[::1]`). Keys and
   * one-time codes can then be read on the way.
   * @default false
   */
  allowInsecureHttp?: boolean | undefined;
  /** Paths that differ from the published ones, each beginning with `/`. */
  paths?: { readonly [Name in keyof OperationPaths]?: string | undefined } | undefined;
  /** Maps published names to this deployment's own, in requests and in events. */
  wireNames?: WireNames | undefined;
  /** How bodies are signed. @default defaultScheme (assumed) */
  signature?: SignatureScheme | undefined;
  /** Checks the orders of `createOrder`, and types them: any Standard Schema. @default reportedBuyOrder (reported) */
  orderSchema?: StandardSchema<Order, unknown> | undefined;
  /**
   * What a 2xx reply to an order says of it: a function, or rules as data. If the function throws, or returns anything
   * else, the order is `unknown`.
   * @default usualOrderReply: only a JSON object that denies nothing accepts the order (assumed, ledger: `order-reply`)
   */
  readOrderReply?: ((reply: ReceivedReply) => ReplyVerdict) | ReplyRules | undefined;
  /**
   * What a 2xx reply to a message says of it: a function, or rules as data. If the function throws, or returns anything
   * else, it is unknown whether the message was sent.
   * @default usualMessageReply: JSON that denies it refuses the message (assumed, ledger: `message-reply`)
   */
  readMessageReply?: ((reply: ReceivedReply) => ReplyVerdict) | ReplyRules | undefined;
  /**
   * What a status from 400 to 499 says of an order, added to the defaults: `refused` (the service did not act, so the
   * order may be sent again) or `unknown`. Any other is `refused`, except 408.
   * @default { 409: 'unknown', 423: 'unknown', 429: 'refused' } (assumed, ledger: `order-conflict`, `order-rate-limit`)
   */
  orderStatuses?: OrderStatuses | undefined;
  /**
   * Further statuses of the events that money hangs on: `{ 'event.buy.credited.crypto': { crypto_payment_status:
   * ['SETTLED'] } }`. Each is read as the published one. With any other no handler gets the event: it is a dead letter.
   * @default none (published, ledger: `event-statuses`, `terminal-crypto-status`)
   */
  eventStatuses?: EventStatuses | undefined;
  /**
   * How the service treats a second order with the same id, for the order journal: its `duplicateIds` comes first.
   * @default 'unknown' (assumed, ledger: `partner-order-id`)
   */
  duplicateIds?: DuplicateIds | undefined;
  /**
   * The form of the addresses of further chains and their networks, or another form of a known chain. `createOrder`
   * refuses an address that does not have the form of its chain (`checkAddress`), and a secret on every chain. `false`:
   * addresses are not checked, and 64 hexadecimal digits count as one; any other secret is refused.
   * @default `addressForms` (assumed, ledger: `address-form`)
   */
  addressForms?: AddressForms | false | undefined;
  /**
   * Whether an event is about its order, for the order journal. It gets the event's body under the published names; if it
   * throws, the usual comparison counts. @default the comparison of an order journal (assumed,
   * ledger: `event-matches-order`)
   */
  sameOrder?: SameOrder | undefined;
  /** A deployment file of `partner-exchange learn --write`, parsed. Options, or their members, beside it come first. */
  learnt?: object | undefined;
  /** Sent with every request. Headers that the client sets itself are refused. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Everything that differs between deployments of the service; made by {@link defineDeployment}.
 *
 * `Order` is the type that `createOrder` accepts. `Deployment<unknown>` is any deployment.
 */
export interface Deployment<Order = BuyOrder> {
  /** As in {@link DeploymentOptions}; `undefined` if it is not configured. */
  readonly onboardingBaseUrl: string | undefined;
  /** As in {@link DeploymentOptions}; `undefined` if it is not configured. */
  readonly stagingUrl: string | undefined;
  /** As in {@link DeploymentOptions}; `undefined` if it is not configured. */
  readonly messengerBaseUrl: string | undefined;
  /** As in {@link DeploymentOptions}, with its defaults. */
  readonly paths: OperationPaths;
  /** As in {@link DeploymentOptions}. */
  readonly wireNames: WireNames;
  /** As in {@link DeploymentOptions}, or its default. */
  readonly signature: SignatureScheme;
  /** As in {@link DeploymentOptions}, or its default. */
  readonly orderSchema: StandardSchema<Order, unknown>;
  /** As in {@link DeploymentOptions}, or its default. */
  readonly readOrderReply: (reply: ReceivedReply) => ReplyVerdict;
  /** As in {@link DeploymentOptions}, or its default. */
  readonly readMessageReply: (reply: ReceivedReply) => ReplyVerdict;
  /** As in {@link DeploymentOptions}, with its defaults. */
  readonly orderStatuses: OrderStatuses;
  /** As in {@link DeploymentOptions}. */
  readonly eventStatuses: EventStatuses;
  /** As in {@link DeploymentOptions}, or its default. */
  readonly duplicateIds: DuplicateIds;
  /** As in {@link DeploymentOptions}, with its defaults. */
  readonly addressForms: AddressForms | false;
  /** As in {@link DeploymentOptions}. */
  readonly sameOrder: SameOrder | undefined;
  /** Not enumerable, since they may hold a gateway's key: a printed deployment does not show them. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A deployment that has every base URL. */
export type CompleteDeployment<Order = BuyOrder> = Deployment<Order> & Readonly<Record<BaseUrlName, string>>;

const url = optional(readUrl);

const readOptions = defineOptions(
  'defineDeployment',
  {
    onboardingBaseUrl: url,
    stagingUrl: url,
    messengerBaseUrl: url,
    allowInsecureHttp: flag({ default: false }),
    paths: pathsRow,
    wireNames: checkWireNames,
    // Sound: it checks anything.
    signature: (given = defaultScheme) => Object.freeze({ ...checkScheme(given as SignatureScheme) }),
    orderSchema: value(checkStandardSchema, { default: reportedBuyOrder }),
    readOrderReply: replyReader(usualOrderReply),
    readMessageReply: replyReader(usualMessageReply),
    orderStatuses: checkOrderStatuses,
    eventStatuses: checkEventStatuses,
    duplicateIds: value(checkDuplicateIds, { default: 'unknown' }),
    learnt: unchecked<object>(),
    addressForms: value((given, name) => (given === false ? given : readAddressForms(given, name)), {
      default: addressForms,
    }),
    sameOrder: optional(callback<SameOrder>()),
    headers: checkHeaders,
  } satisfies OptionTable<DeploymentOptions<unknown>>,
  'invalid_deployment',
);

/** The client sets these for each request. */
const clientHeaders = ['authorization', 'content-length', 'content-type', 'host', 'transfer-encoding'];

/**
 * Describes one deployment of the service. Give the base URLs of the services that you use: a call that needs a missing
 * one is refused. Everything else has a default; `assumptions` lists which of them are published, reported or assumed.
 *
 * @throws {ConfigurationError} `invalid_deployment` or `invalid_scheme`, naming the option
 * @example
 * ```ts
 * const deployment = defineDeployment({
 *   onboardingBaseUrl: 'https://onboarding.example',
 *   stagingUrl: 'https://staging.example',
 *   messengerBaseUrl: 'https://messenger.example',
 *   wireNames: { platform_order_ref: 'acme_order_ref' },
 * });
 * ```
 */
export function defineDeployment<Order = BuyOrder>(options: DeploymentOptions<Order>): Deployment<Order> {
  const { allowInsecureHttp, paths, orderSchema, learnt: _, ...given } = readOptions(withLearnt(options));
  const baseUrl = (name: BaseUrlName) => given[name] && baseUrlOf(name, given[name], { allowInsecureHttp });
  const deployment: Deployment<Order> = {
    ...given,
    onboardingBaseUrl: baseUrl('onboardingBaseUrl'),
    stagingUrl: baseUrl('stagingUrl'),
    messengerBaseUrl: baseUrl('messengerBaseUrl'),
    paths: pathsOf(paths, given.wireNames['connect-msg']),
    // Sound: without an orderSchema the type parameter has its default, the reported order.
    orderSchema: orderSchema as StandardSchema<Order, unknown>,
  };
  Object.defineProperty(deployment, 'headers', { enumerable: false });
  return Object.freeze(Object.defineProperty(deployment, brand, { value: true }));
}

/** Options that are given come before those of the file, in three of them each member for itself. */
function withLearnt<Order>(options: DeploymentOptions<Order>): DeploymentOptions<Order> {
  if (options?.learnt === undefined) return options;
  try {
    const learnt = overridesIn(readDeploymentFile(options.learnt, 'learnt'), 'learnt');
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    return {
      ...learnt,
      // Sound: the members of the options that have a value.
      ...(Object.fromEntries(given) as DeploymentOptions<Order>),
      wireNames: united(learnt.wireNames, options.wireNames),
      orderStatuses: united(learnt.orderStatuses, options.orderStatuses),
      eventStatuses: united(learnt.eventStatuses, options.eventStatuses),
    };
  } catch (error) {
    if (!isConfigurationError(error)) throw error;
    const { what, remedy } = partsOf(error);
    throw new ConfigurationError('invalid_deployment', what, { remedy });
  }
}

/** Any other value than an object is refused where the options are read. */
function united<Value extends object>(
  learnt: Value | undefined,
  given: Value | undefined,
): Value | undefined {
  return isJsonObject(given) ? { ...learnt, ...given } : (given ?? learnt);
}

/** A function, or rules that are added to the usual reading. */
function replyReader(usual: (reply: ReceivedReply) => ReplyVerdict) {
  const read = (given: unknown, name: string): typeof usual => {
    // Sound as far as it can be: of a function only its being one can be checked.
    if (typeof given === 'function') return given as typeof usual;
    return readerByRules(checkReplyRules(given, name), usual);
  };
  return value(read, { default: usual });
}

/** The mark of deployments made by {@link defineDeployment} of any copy of the package. */
const brand = Symbol.for('partner-exchange-sdk.deployment');

/** @throws {ConfigurationError} `invalid_deployment` unless `defineDeployment` made it */
export function requireDeployment<Order>(deployment: Deployment<Order>): Deployment<Order> {
  if (typeof deployment === 'object' && deployment !== null && brand in deployment) return deployment;
  const what = 'deployment is missing, was not made by defineDeployment, or is a copy of what it made.';
  const remedy = 'Pass the very object that it returned; to change an option, call it again.';
  throw new ConfigurationError('invalid_deployment', what, { remedy });
}

/** @throws {ConfigurationError} `not_configured` without its base URL, and for the number check without a path */
export function operationUrl(deployment: Deployment<unknown>, operation: Operation): string {
  const path = deployment.paths[operation];
  if (path === undefined) {
    throw new ConfigurationError('not_configured', `The path of ${operation} is not published.`, {
      remedy: `Set paths.${operation} of defineDeployment.`,
      assumptions: ['number-check'],
    });
  }
  const { baseUrl } = operationRules(operation);
  const base = deployment[baseUrl];
  if (base !== undefined) return base + path;
  throw new ConfigurationError(
    'not_configured',
    `${operation} needs ${baseUrl} of defineDeployment (${baseUrlVariables[baseUrl]}).`,
  );
}

function checkOrderStatuses(given: unknown = {}): OrderStatuses {
  if (!isJsonObject(given)) throw invalidOption('orderStatuses must be an object.');
  for (const [status, meaning] of Object.entries(given)) {
    if (!/^4\d\d$/.test(status)) throw invalidOption('orderStatuses must have statuses from 400 to 499.');
    checkOneOf(`orderStatuses.${status}`, meaning, ['refused', 'unknown']);
  }
  // Sound: all members were checked.
  return Object.freeze({ ...usualOrderStatuses, ...(given as OrderStatuses) });
}

function checkHeaders(given: unknown): Readonly<Record<string, string>> {
  let checked: Headers;
  try {
    // Sound: the constructor refuses what it cannot read.
    checked = new Headers(given as HeadersInit | undefined);
  } catch {
    throw invalidOption('headers holds a name or a value that no HTTP header can have.');
  }
  for (const name of clientHeaders) {
    if (checked.has(name)) throw invalidOption(`headers may not set ${name}: the client does.`);
  }
  return Object.freeze(Object.fromEntries(checked));
}
