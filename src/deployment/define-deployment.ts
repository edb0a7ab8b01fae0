import { ConfigurationError } from '../errors/configuration-error.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkScheme, defaultScheme, type SignatureScheme } from '../signature/signature-scheme.ts';
import { checkBaseUrl } from './base-url.ts';
import { type BaseUrlName, type Operation, operationRules } from './operations.ts';
import { type BuyOrder, reportedBuyOrder } from './order-schema.ts';
import { type Paths, resolvePaths } from './paths.ts';
import { isStandardSchema, type StandardSchema } from './standard-schema.ts';
import { checkWireNames, type WireNames } from './wire-names.ts';

/** Names of the query parameters of the number check. */
export interface NumberCheckParameters {
  /** @default 'api_key' (contract: Endpoints 8) */
  readonly api_key: string;
  /** @default 'to_phone' (assumed, after `sendMessage`) */
  readonly to_phone: string;
}

export interface DeploymentOptions<Order = BuyOrder> {
  /** Base URL of onboarding, key regeneration and orders: `{onboarding_base_url}` of the contract. */
  onboardingBaseUrl?: string | URL | undefined;
  /** Base URL of the IP capture: `{staging_url}` of the contract. */
  stagingUrl?: string | URL | undefined;
  /** Base URL of the messenger service: `{base_url}` of the contract. */
  messengerBaseUrl?: string | URL | undefined;
  /**
   * Allows `http:` base URLs for other hosts than this one. Keys and one-time codes can then be read on the way.
   * @default false
   */
  allowInsecureHttp?: boolean | undefined;
  /** Paths that differ from the published ones, each beginning with `/`. */
  paths?: Partial<Paths> | undefined;
  /** Maps published names to this deployment's own, in requests and in events. */
  wireNames?: WireNames | undefined;
  /** How bodies are signed. @default defaultScheme (assumed) */
  signature?: SignatureScheme | undefined;
  /** Checks the orders of `createOrder`, and types them: any Standard Schema. @default reportedBuyOrder (reported) */
  orderSchema?: StandardSchema<Order, unknown> | undefined;
  /** Query parameter names of `checkNumber`. */
  numberCheckParameters?: Partial<NumberCheckParameters> | undefined;
  /** Sent with every request. Headers that the client sets itself are refused. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Everything that differs between deployments of the service; made by {@link defineDeployment}.
 *
 * `Order` is the type that `createOrder` accepts. `Deployment<unknown>` is any deployment.
 */
export interface Deployment<Order = BuyOrder> {
  readonly onboardingBaseUrl: string | undefined;
  readonly stagingUrl: string | undefined;
  readonly messengerBaseUrl: string | undefined;
  readonly paths: Paths;
  readonly wireNames: WireNames;
  readonly signature: SignatureScheme;
  readonly orderSchema: StandardSchema<Order, unknown>;
  readonly numberCheckParameters: NumberCheckParameters;
  /** Not enumerable, since they may hold a gateway's key: a printed deployment does not show them. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A deployment that has all of its base URLs. */
export type CompleteDeployment<Order = BuyOrder> = Deployment<Order> & Readonly<Record<BaseUrlName, string>>;

const optionNames: OptionNames<DeploymentOptions> = {
  onboardingBaseUrl: true,
  stagingUrl: true,
  messengerBaseUrl: true,
  allowInsecureHttp: true,
  paths: true,
  wireNames: true,
  signature: true,
  orderSchema: true,
  numberCheckParameters: true,
  headers: true,
};

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
  checkNames('defineDeployment', options, optionNames, 'invalid_deployment');
  const wireNames = checkWireNames(options.wireNames);
  const orderSchema = options.orderSchema ?? reportedBuyOrder;
  if (!isStandardSchema(orderSchema))
    throw invalid('orderSchema must be a Standard Schema (zod, valibot, arktype …).');
  const { allowInsecureHttp } = options;
  if (allowInsecureHttp !== undefined && typeof allowInsecureHttp !== 'boolean') {
    throw invalid('allowInsecureHttp must be true or false.');
  }
  const baseUrl = (name: BaseUrlName) =>
    options[name] === undefined ? undefined : checkBaseUrl(name, options[name], { allowInsecureHttp });
  const deployment: Deployment<Order> = {
    onboardingBaseUrl: baseUrl('onboardingBaseUrl'),
    stagingUrl: baseUrl('stagingUrl'),
    messengerBaseUrl: baseUrl('messengerBaseUrl'),
    paths: resolvePaths(options.paths, wireNames['connect-msg']),
    wireNames,
    signature: Object.freeze({ ...checkScheme(options.signature ?? defaultScheme) }),
    // Sound: without an orderSchema the type parameter has its default, the reported order.
    orderSchema: orderSchema as StandardSchema<Order, unknown>,
    numberCheckParameters: checkParameters(options.numberCheckParameters),
    headers: checkHeaders(options.headers),
  };
  Object.defineProperty(deployment, 'headers', { enumerable: false });
  return Object.freeze(Object.defineProperty(deployment, brand, { value: true }));
}

/** Marks deployments made by {@link defineDeployment}, also by another copy of the package. */
const brand = Symbol.for('partner-exchange-sdk.deployment');

/** Returns a deployment made by `defineDeployment`. @throws {ConfigurationError} `invalid_deployment` */
export function requireDeployment<Order>(deployment: Deployment<Order>): Deployment<Order> {
  if (typeof deployment === 'object' && deployment !== null && brand in deployment) return deployment;
  throw invalid('deployment is missing: pass what defineDeployment returns.');
}

/**
 * The URL of an operation.
 *
 * @throws {ConfigurationError} `not_configured` when its base URL was not given, and for the number check without a path
 */
export function operationUrl(deployment: Deployment<unknown>, operation: Operation): string {
  const path = deployment.paths[operation];
  if (path === undefined) {
    throw new ConfigurationError(
      'not_configured',
      `The path of ${operation} is not published: set paths.${operation} (and numberCheckParameters, where they differ) in defineDeployment.`,
      { assumptions: ['number-check'] },
    );
  }
  const { baseUrl } = operationRules(operation);
  const base = deployment[baseUrl];
  if (base !== undefined) return base + path;
  throw new ConfigurationError(
    'not_configured',
    `${operation} needs ${baseUrl}: set it in defineDeployment.`,
  );
}

const parameterNames: OptionNames<NumberCheckParameters> = { api_key: true, to_phone: true };

function checkParameters(names: Partial<NumberCheckParameters> | undefined): NumberCheckParameters {
  checkNames('numberCheckParameters', names ?? {}, parameterNames, 'invalid_deployment');
  const parameters = { api_key: names?.api_key ?? 'api_key', to_phone: names?.to_phone ?? 'to_phone' };
  for (const [name, own] of Object.entries(parameters)) {
    if (typeof own !== 'string' || own.trim() === '')
      throw invalid(`numberCheckParameters.${name} must be a name.`);
  }
  if (parameters.api_key === parameters.to_phone) throw invalid('numberCheckParameters must differ.');
  return Object.freeze(parameters);
}

function checkHeaders(
  headers: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  let checked: Headers;
  try {
    checked = new Headers(headers);
  } catch {
    throw invalid('headers holds a name or a value that no HTTP header can have.');
  }
  for (const name of clientHeaders) {
    if (checked.has(name)) throw invalid(`headers may not set ${name}: the client does.`);
  }
  return Object.freeze(Object.fromEntries(checked));
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_deployment', message);
}
