import { ConfigurationError, codeOf } from '../errors/errors.ts';
import { isJsonObject, tryParse } from '../internal/json.ts';
import { checkScheme, type SignatureScheme, schemePartNames } from '../signature/signature-scheme.ts';
import type { DeploymentOptions } from './define-deployment.ts';
import { type DeploymentFile, readDeploymentFile } from './learnt-deployment.ts';
import { baseUrlVariables, operationNames } from './operations.ts';
import { brandedNames } from './wire-names.ts';

/** A row of the table of variables; docs/guides/environment-files.md is checked against it. */
interface EnvironmentVariable {
  readonly name: string;
  /** What it sets: an option of `defineDeployment`, a member of the credentials, or a messenger key. */
  readonly sets: string;
  readonly form: string;
}

interface DeploymentVariable extends EnvironmentVariable {
  /** The option for a value. @throws {ConfigurationError} without the value in its message */
  readonly read: (value: string) => DeploymentOptions;
}

export const deploymentVariables: readonly DeploymentVariable[] = [
  ...Object.entries(baseUrlVariables).map(([option, name]) => ({
    name,
    sets: option,
    form: 'URL',
    read: (value: string): DeploymentOptions => ({ [option]: value }),
  })),
  {
    name: 'PARTNER_EXCHANGE_ALLOW_INSECURE_HTTP',
    sets: 'allowInsecureHttp',
    form: '`true` or `false`',
    read: (value) => ({ allowInsecureHttp: readFlag(value) }),
  },
  {
    name: 'PARTNER_EXCHANGE_SCHEME',
    sets: 'signature',
    form: 'JSON of a scheme, where there is no file system',
    read: (value) => ({ signature: readScheme(value) }),
  },
  {
    name: 'PARTNER_EXCHANGE_DEPLOYMENT',
    sets: 'learnt',
    form: 'path of a deployment file, written by `partner-exchange learn --write`',
    read: (value) => ({ learnt: readDeploymentText(readTextFile(value)) }),
  },
  ...operationNames.map((operation) => ({
    name: `PARTNER_EXCHANGE_PATH_${constantCase(operation)}`,
    sets: `paths.${operation}`,
    form: 'path that begins with `/`',
    read: (value: string): DeploymentOptions => ({ paths: { [operation]: value } }),
  })),
  ...brandedNames.map((published) => ({
    name: `PARTNER_EXCHANGE_NAME_${constantCase(published)}`,
    sets: `wireNames.${published}`,
    form: "the deployment's own name",
    read: (value: string): DeploymentOptions => ({ wireNames: { [published]: value } }),
  })),
];

export const credentialVariables = [
  { name: 'PARTNER_PUBLIC_KEY', member: 'partnerPublicKey', form: '`pk_partner_…`' },
  { name: 'PARTNER_SECRET_KEY', member: 'partnerSecretKey', form: '`sk_partner_…`' },
  { name: 'PARTNER_ID', member: 'partnerId', form: 'text' },
  { name: 'PARTNER_CODE', member: 'partnerCode', form: 'text' },
  { name: 'MERCHANT_SECRET_KEY', member: 'merchantSecretKey', form: '`sk_merchant_…`' },
] as const;

/** Each merchant has a variable of its own: `MERCHANT_SECRET_KEY_NGN`. */
export const merchantPrefix = 'MERCHANT_SECRET_KEY_';

export const messengerVariables = [
  { name: 'MESSENGER_API_KEY', member: 'apiKey', form: 'key of one device' },
  { name: 'MESSENGER_MASTER_KEY', member: 'masterKey', form: 'key of the operator' },
] as const;

/** Every variable that `readEnvironment` reads. */
export const environmentVariables: readonly EnvironmentVariable[] = [
  ...deploymentVariables,
  ...credentialVariables.map((variable) => ({ ...variable, sets: `credentials.${variable.member}` })),
  {
    name: `${merchantPrefix}<NAME>`,
    sets: 'credentials.merchantSecretKeys',
    form: '`sk_merchant_…`, one variable for each merchant',
  },
  ...messengerVariables.map((variable) => ({ ...variable, sets: variable.member })),
];

/** Address and token of the sandbox that `sandbox advance` moves; only the command line reads it. */
export const sandboxUrlVariable = 'PARTNER_EXCHANGE_SANDBOX_URL';

/** Every name that something of this package reads: any other with our prefix is a mistake, and is named. */
export const knownNames: readonly string[] = [
  ...environmentVariables.map(({ name }) => name),
  sandboxUrlVariable,
];

/** What a tool has left in a value, as a clause. A whole form is looked for, since a key can hold any character. */
export function flawOfValue(value: string): string | undefined {
  const text = value.trim();
  if (/^(["'`]).*\1$/s.test(text)) return 'has quotation marks around it: write it without them';
  return notFilledIn.some((form) => form.test(text))
    ? 'was not filled in: set it, or unset the variable'
    : undefined;
}

const notFilledIn = [
  /^(?:undefined|null|none|nil|nan|\[object Object\])$/i,
  // A shell, compose file, workflow, Kubernetes, Windows, a template, and the contract's own placeholders.
  /\$\{\w+(?::?[-=?+][^}]*)?\}/,
  /\$\(\w+\)/,
  /^\$[A-Z_][A-Z0-9_]*$/,
  /^%\w+%$/,
  /\{\{.*\}\}/s,
  /^<[^<>]*>$/,
];

/** `createOrder` as `CREATE_ORDER`, `connect-msg` as `CONNECT_MSG`. */
function constantCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, '_$&').replaceAll('-', '_').toUpperCase();
}

/** @throws {ConfigurationError} unless it is `true` or `false`: a typo must not switch it on */
function readFlag(value: string): boolean {
  if (value === 'true') return true;
  if (value === 'false') return false;
  throw invalidEnvironment('must be true or false.');
}

/**
 * Reads a signature scheme from its JSON.
 *
 * @throws {ConfigurationError} without the text in its message
 */
function readScheme(text: string): SignatureScheme {
  const scheme = tryParse(text);
  if (scheme === undefined) throw invalidEnvironment('is not JSON.');
  if (!isJsonObject(scheme)) throw invalidEnvironment('must be a JSON object: the parts of a scheme.');
  if (Object.keys(scheme).some((part) => !schemePartNames.some((name) => name === part))) {
    throw invalidEnvironment(
      `is a scheme with an unknown part: its parts are ${schemePartNames.join(', ')}.`,
    );
  }
  // Sound: checkScheme refuses every value that the type does not allow.
  return checkScheme(scheme as unknown as SignatureScheme);
}

function readDeploymentText(text: string): DeploymentFile {
  const value = tryParse(text);
  if (value === undefined) throw invalidEnvironment('is not JSON.');
  return readDeploymentFile(value, 'the file');
}

/** A deployment file has some thousands of bytes. */
const maxBytes = 1_048_576;

/**
 * `node:fs` is looked up when needed: the clients also load where it is missing.
 *
 * @throws {ConfigurationError} without the path in its message
 */
function readTextFile(path: string): string {
  const fs = process.getBuiltinModule?.('node:fs');
  if (fs === undefined) throw invalidEnvironment('needs a file system, and this runtime has none.');
  let flaw: string;
  try {
    const stats = fs.statSync(path);
    if (stats.isFile() && stats.size <= maxBytes) return fs.readFileSync(path, 'utf8');
    // Reading a FIFO waits for a writer, and nothing ends the process meanwhile.
    flaw = stats.isFile()
      ? `the file has more than ${maxBytes} bytes.`
      : 'that is not a regular file: name one.';
  } catch (error) {
    // Not its message, which holds the path.
    const code = codeOf(error) || 'unknown error';
    flaw = `the file cannot be read (${code}): check its path, its owner and its mode.`;
  }
  throw invalidEnvironment(flaw);
}

/** Its message never shows the value. */
export function invalidEnvironment(message: string): ConfigurationError {
  return new ConfigurationError('invalid_environment', message);
}
