import { defineCredentials } from '../credentials/define-credentials.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import { checkNamedKey, checkSecretText } from '../credentials/partner-credentials.ts';
import { ConfigurationError, isConfigurationError, partsOf } from '../errors/errors.ts';
import { concealMembers } from '../internal/conceal-members.ts';
import { nearestSpelling } from '../internal/nearest-name.ts';
import { hidden } from '../internal/redact-credentials.ts';
import { warnOnce } from '../internal/warn.ts';
import { type Deployment, type DeploymentOptions, defineDeployment } from './define-deployment.ts';
import {
  credentialVariables,
  deploymentVariables,
  flawOfValue,
  invalidEnvironment,
  knownNames,
  merchantPrefix,
  messengerVariables,
} from './environment-variables.ts';
import type { BuyOrder } from './order-schema.ts';

/** What {@link readEnvironment} returns. `apiKey` and `masterKey` are not enumerable, so they are not printed. */
export interface Environment<Order = BuyOrder> {
  /** The deployment, as the variables describe it. */
  readonly deployment: Deployment<Order>;
  /** `undefined` if none of the partner's keys is set. */
  readonly credentials?: PartnerCredentials | undefined;
  /** A key for `MessengerClient`. */
  readonly apiKey?: string | undefined;
  /** A key for `MessengerClient`. */
  readonly masterKey?: string | undefined;
}

/**
 * Reads deployment, credentials and messenger keys from environment variables; docs/guides/environment-files.md lists their names.
 * An empty variable counts as not set.
 *
 * @param env the variables; in a Worker, its `env`. @default process.env
 * @param options options of `defineDeployment` that are set in code, e.g. `orderSchema`; they replace those of the
 *   environment
 * @throws {ConfigurationError} `invalid_environment` for a malformed variable, for incomplete credentials, and for a
 *   misspelt `PARTNER_EXCHANGE_…` (one that is like none of ours gets a warning). It names the variable and never shows
 *   its value
 * @example
 * ```ts
 * const { deployment, credentials, apiKey } = readEnvironment();
 * const exchange = new ExchangeClient({ deployment, credentials });
 * const messenger = new MessengerClient({ deployment, apiKey });
 * ```
 */
export function readEnvironment<Order = BuyOrder>(
  env: object = process.env,
  options: DeploymentOptions<Order> = {},
): Environment<Order> {
  if (typeof env !== 'object' || env === null) {
    throw invalidEnvironment('readEnvironment needs an object of variables, such as process.env.');
  }
  checkSpelling(env);
  const environment: Environment<Order> = {
    deployment: readDeployment(env, options),
    credentials: readCredentials(env),
    ...readMessengerKeys(env),
  };
  const { deployment, credentials, apiKey, masterKey } = environment;
  const shown = (key: string | undefined) => key && hidden;
  concealMembers(
    environment,
    messengerVariables.map(({ member }) => member),
    () => ({ deployment, credentials, apiKey: shown(apiKey), masterKey: shown(masterKey) }),
  );
  return Object.freeze(environment);
}

/**
 * Refuses misspelt variables, and warns of unknown ones, which may belong to another version.
 *
 * @throws {ConfigurationError} naming both
 */
function checkSpelling(env: object): void {
  const isSet = (name: string) => Boolean(Reflect.get(env, name));
  const unset = knownNames.filter((name) => !isSet(name));
  const isOurs = (name: string) => /^partner_exchange_/i.test(name) && !knownNames.includes(name);
  for (const name of Object.keys(env).filter(isOurs).filter(isSet)) {
    const message = `The environment variable ${name} is not read`;
    const meant = nearestSpelling(name, unset);
    if (meant !== undefined) throw invalidEnvironment(`${message}: did you mean ${meant}?`);
    warnOnce(`${message}: docs/guides/environment-files.md lists the names.`);
  }
}

function readDeployment<Order>(env: object, options: DeploymentOptions<Order>): Deployment<Order> {
  const given = deploymentVariables.flatMap(({ name, read }) => {
    const value = textOf(env, name);
    return value === undefined ? [] : [{ name, value, part: named(name, [value], () => read(value)) }];
  });
  const flags = given.filter(({ part }) => part.allowInsecureHttp !== undefined).map(({ part }) => part);
  // Each alone first, so that the error names the variable; then all together, since two may conflict.
  for (const { name, value, part } of given) {
    named(name, [value], () => defineDeployment(Object.assign({}, ...flags, part)));
  }
  const parts = given.map(({ part }) => part);
  const together: DeploymentOptions = Object.assign({}, ...parts, {
    paths: Object.assign({}, ...parts.map(({ paths }) => paths)),
    wireNames: Object.assign({}, ...parts.map(({ wireNames }) => wireNames)),
  });
  const names = given.map(({ name }) => name).join(', ');
  const values = given.map(({ value }) => value);
  named(names, values, () => defineDeployment(together));
  // From here on, errors are in the code, not in the environment.
  return defineDeployment({ ...together, orderSchema: undefined, ...options });
}

function readCredentials(env: object): PartnerCredentials | undefined {
  const { partnerPublicKey, partnerSecretKey, partnerCode, partnerId, merchantSecretKey } =
    Object.fromEntries(credentialVariables.map(({ name, member }) => [member, textOf(env, name)]));
  const merchants = namedMerchants(env);
  const set = [
    ...credentialVariables.filter(({ name, member }) => member !== 'partnerCode' && textOf(env, name)),
    ...merchants,
  ].map(({ name }) => name);
  // A partner has a code before it has keys.
  if (set.length === 0) return undefined;
  if (partnerPublicKey === undefined || partnerSecretKey === undefined) {
    const missing = ['PARTNER_PUBLIC_KEY', 'PARTNER_SECRET_KEY'].filter((name) => !set.includes(name));
    throw invalidEnvironment(
      `${missing.join(' and ')} not set, although ${set.join(', ')} ${set.length === 1 ? 'is' : 'are'}: credentials need both partner keys.`,
    );
  }
  const keys = { partnerPublicKey, partnerSecretKey };
  named('PARTNER_PUBLIC_KEY', [], () => checkNamedKey('partnerPublicKey', partnerPublicKey));
  named('PARTNER_SECRET_KEY', [], () => checkNamedKey('partnerSecretKey', partnerSecretKey));
  named('MERCHANT_SECRET_KEY', [], () => defineCredentials({ ...keys, merchantSecretKey }));
  named('PARTNER_ID', [], () => defineCredentials({ ...keys, partnerId }));
  named('PARTNER_CODE', [], () => defineCredentials({ ...keys, partnerCode }));
  const merchantSecretKeys = Object.fromEntries(
    merchants.map(({ name, merchant, key }) => [
      merchant,
      named(name, [], () => checkNamedKey('merchantSecretKey', key)),
    ]),
  );
  return defineCredentials({
    ...keys,
    partnerId,
    partnerCode,
    merchantSecretKey,
    merchantSecretKeys: merchants.length === 0 ? undefined : merchantSecretKeys,
  });
}

function namedMerchants(env: object): { name: string; merchant: string; key: string }[] {
  return Object.keys(env).flatMap((name) => {
    if (!name.startsWith(merchantPrefix)) return [];
    const merchant = name.slice(merchantPrefix.length);
    const key = textOf(env, name);
    return merchant === '' || key === undefined ? [] : [{ name, merchant, key }];
  });
}

function readMessengerKeys(env: object): { apiKey?: string; masterKey?: string } {
  return Object.fromEntries(
    messengerVariables.map(({ name, member }) => {
      const value = textOf(env, name);
      if (value !== undefined) named(name, [], () => checkSecretText(value, member));
      return [member, value];
    }),
  );
}

function textOf(env: object, name: string): string | undefined {
  // By name, not by entries: on Windows the names ignore case.
  const value: unknown = Reflect.get(env, name);
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw invalidEnvironment(`${name} must be text.`);
  const flaw = flawOfValue(value);
  if (flaw !== undefined) throw invalidEnvironment(`${name}: its value ${flaw}.`);
  return value;
}

/** Prefixes an error with the variable's name, and removes the variable's value from it. */
function named<Result>(variable: string, values: readonly string[], read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!isConfigurationError(error)) throw error;
    const conceal = (text: string) =>
      values.reduce((shown, value) => shown.replaceAll(`"${value}"`, 'its value'), text);
    const { what, remedy } = partsOf(error);
    throw new ConfigurationError('invalid_environment', `${variable}: ${conceal(what)}`, {
      remedy: conceal(remedy),
    });
  }
}
