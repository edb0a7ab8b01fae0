import type { DeploymentOptions } from '../deployment/define-deployment.ts';
import { operations } from '../deployment/operations.ts';
import type { Paths } from '../deployment/paths.ts';
import type { BrandedName } from '../deployment/wire-names.ts';
import { readFlag } from './read-flag.ts';
import { readScheme } from './read-scheme.ts';
import { readTextFile } from './read-text-file.ts';

/** One row of the table of variables; docs/configuration.md is checked against it. */
export interface EnvironmentVariable {
  readonly name: string;
  /** What it sets: an option of `defineDeployment`, a member of the credentials, or a messenger key. */
  readonly sets: string;
  /** What it holds. */
  readonly form: string;
}

/** A variable of the deployment. */
export interface DeploymentVariable extends EnvironmentVariable {
  /** The option for a value. @throws {ConfigurationError} without the value in its message */
  readonly read: (value: string) => DeploymentOptions;
}

/** A variable whose value is used as it is. */
export interface TextVariable<Member extends string> extends EnvironmentVariable {
  readonly member: Member;
}

const wireNames = {
  platform_order_ref: 'PARTNER_EXCHANGE_NAME_PLATFORM_ORDER_REF',
  platform_merchant_id: 'PARTNER_EXCHANGE_NAME_PLATFORM_MERCHANT_ID',
  messenger_device_no: 'PARTNER_EXCHANGE_NAME_MESSENGER_DEVICE_NO',
  'connect-msg': 'PARTNER_EXCHANGE_NAME_CONNECT_MSG',
} as const satisfies Record<BrandedName, string>;

// Sound: the keys of the table are the operations.
const operationNames = Object.keys(operations) as (keyof Paths)[];

export const deploymentVariables: readonly DeploymentVariable[] = [
  {
    name: 'PARTNER_EXCHANGE_ONBOARDING_BASE_URL',
    sets: 'onboardingBaseUrl',
    form: 'URL',
    read: (value) => ({ onboardingBaseUrl: value }),
  },
  {
    name: 'PARTNER_EXCHANGE_STAGING_URL',
    sets: 'stagingUrl',
    form: 'URL',
    read: (value) => ({ stagingUrl: value }),
  },
  {
    name: 'PARTNER_EXCHANGE_MESSENGER_BASE_URL',
    sets: 'messengerBaseUrl',
    form: 'URL',
    read: (value) => ({ messengerBaseUrl: value }),
  },
  {
    name: 'PARTNER_EXCHANGE_ALLOW_INSECURE_HTTP',
    sets: 'allowInsecureHttp',
    form: '`true` or `false`',
    read: (value) => ({ allowInsecureHttp: readFlag(value) }),
  },
  {
    name: 'PARTNER_EXCHANGE_SCHEME_FILE',
    sets: 'signature',
    form: 'path of a JSON file: a scheme, or a pin made by `pinScheme`',
    read: (value) => ({ signature: readScheme(readTextFile(value)) }),
  },
  {
    name: 'PARTNER_EXCHANGE_SCHEME',
    sets: 'signature',
    form: 'the same JSON itself, where there is no file system',
    read: (value) => ({ signature: readScheme(value) }),
  },
  ...operationNames.map((operation) => ({
    name: `PARTNER_EXCHANGE_PATH_${constantCase(operation)}`,
    sets: `paths.${operation}`,
    form: 'path that begins with `/`',
    read: (value: string): DeploymentOptions => ({ paths: { [operation]: value } }),
  })),
  ...Object.entries(wireNames).map(([published, name]) => ({
    name,
    sets: `wireNames.${published}`,
    form: "the deployment's own name",
    read: (value: string): DeploymentOptions => ({ wireNames: { [published]: value } }),
  })),
  ...(['api_key', 'to_phone'] as const).map((parameter) => ({
    name: `PARTNER_EXCHANGE_PARAMETER_${parameter.toUpperCase()}`,
    sets: `numberCheckParameters.${parameter}`,
    form: 'name of the query parameter',
    read: (value: string): DeploymentOptions => ({ numberCheckParameters: { [parameter]: value } }),
  })),
];

export const credentialVariables = [
  {
    name: 'PARTNER_PUBLIC_KEY',
    sets: 'credentials.partnerPublicKey',
    form: '`pk_partner_…`',
    member: 'partnerPublicKey',
  },
  {
    name: 'PARTNER_SECRET_KEY',
    sets: 'credentials.partnerSecretKey',
    form: '`sk_partner_…`',
    member: 'partnerSecretKey',
  },
  { name: 'PARTNER_ID', sets: 'credentials.partnerId', form: 'text', member: 'partnerId' },
  { name: 'PARTNER_CODE', sets: 'credentials.partnerCode', form: 'text', member: 'partnerCode' },
  {
    name: 'MERCHANT_SECRET_KEY',
    sets: 'credentials.merchantSecretKey',
    form: '`sk_merchant_…`',
    member: 'merchantSecretKey',
  },
] as const satisfies readonly TextVariable<string>[];

/** Each merchant has a variable of its own: `MERCHANT_SECRET_KEY_NGN`. */
export const merchantPrefix = 'MERCHANT_SECRET_KEY_';

const namedMerchantVariable: EnvironmentVariable = {
  name: `${merchantPrefix}<NAME>`,
  sets: 'credentials.merchantSecretKeys',
  form: '`sk_merchant_…`, one variable for each merchant',
};

export const messengerVariables = [
  { name: 'MESSENGER_API_KEY', sets: 'apiKey', form: 'key of one device', member: 'apiKey' },
  { name: 'MESSENGER_MASTER_KEY', sets: 'masterKey', form: 'key of the operator', member: 'masterKey' },
] as const satisfies readonly TextVariable<string>[];

/** Every variable that `readEnvironment` reads. */
export const environmentVariables: readonly EnvironmentVariable[] = [
  ...deploymentVariables,
  ...credentialVariables,
  namedMerchantVariable,
  ...messengerVariables,
];

/** `createOrder` as `CREATE_ORDER`. */
function constantCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, '_$&').toUpperCase();
}
