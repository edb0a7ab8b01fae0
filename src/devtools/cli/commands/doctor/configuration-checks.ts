import { keyPrefixes, type PartnerCredentials } from '../../../../credentials/partner-credentials.ts';
import { isExampleAddress } from '../../../../deployment/addresses/example-addresses.ts';
import { findMisspelt } from '../../../../deployment/check-spelling.ts';
import { environmentVariables, merchantPrefix } from '../../../../deployment/environment-variables.ts';
import { isConfigurationError, partsOf } from '../../../../errors/errors.ts';
import { defaultScheme } from '../../../../signature/signature-scheme.ts';
import { broken, ok, type Result, type Surroundings, skippedCheck, weak } from './surroundings.ts';

/** Which of our variables are set, and whether they can be read. */
export function examineEnvironment({ env, environment }: Surroundings): Result[] {
  if (isConfigurationError(environment)) {
    const { what, remedy } = partsOf(environment);
    return [broken(what, remedy || 'Set the variable as docs/guides/environment-files.md says.')];
  }
  const set = Object.keys(env).filter(
    (name) =>
      env[name] &&
      (name.startsWith(merchantPrefix) || environmentVariables.some((variable) => variable.name === name)),
  );
  return [
    set.length === 0
      ? skippedCheck('None of the variables is set: docs/guides/environment-files.md lists them.')
      : ok(`Set: ${set.join(', ')}.`),
  ];
}

/** Misspelt names of our variables. */
export function examineNames({ env }: Surroundings): Result[] {
  const misspelt = findMisspelt(env);
  if (misspelt.length === 0) return [ok('Every name that looks like one of ours is read.')];
  const what = misspelt
    .map(({ name, meant }) => `${name} is not read${meant === undefined ? '' : ` (${meant} is)`}`)
    .join('; ');
  return [
    misspelt.some(({ isOurs, meant }) => isOurs && meant !== undefined)
      ? broken(`${what}.`, 'Rename it.')
      : weak(`${what}.`, 'Rename it, or leave it if it belongs to another program.'),
  ];
}

/** The addresses of our documents, which nobody holds, in any variable. */
export function examineExampleAddresses({ env }: Surroundings): Result[] {
  const names = Object.keys(env).filter((name) => isExampleAddress(String(env[name])));
  if (names.length === 0) return [ok('No variable holds an example address.')];
  return [
    weak(
      `${names.join(', ')} holds an example address: nobody can take the crypto that is sent there.`,
      'Use an address of your own; for tests on this machine this is fine.',
    ),
  ];
}

/** Whether the keys exist, look like keys, and differ. */
export function examineKeys(surroundings: Surroundings): Result[] {
  const { credentials, environment } = surroundings;
  if (credentials === undefined) {
    return [
      skippedCheck(
        isConfigurationError(environment)
          ? 'The environment cannot be read.'
          : 'There are no partner keys: onboarding does not need them, all else does.',
      ),
    ];
  }
  const named = namedSecrets(credentials);
  const problems = [
    ...sameTwice(surroundings, named),
    ...[...named].flatMap(([name, secret]) => (isPlaceholder(secret) ? [placeholder(name)] : [])),
    ...merchantNeeded(surroundings, credentials),
  ];
  return problems.length > 0
    ? problems
    : [ok(`There are ${[...named.keys(), 'partnerPublicKey'].join(', ')}.`)];
}

/** The secrets by name, without the public key. */
function namedSecrets(credentials: PartnerCredentials): Map<string, string> {
  const { partnerSecretKey, merchantSecretKey, merchantSecretKeys = {} } = credentials;
  return new Map([
    ['partnerSecretKey', partnerSecretKey],
    ...(merchantSecretKey === undefined ? [] : [['merchantSecretKey', merchantSecretKey] as const]),
    ...Object.entries(merchantSecretKeys).map(
      ([name, secret]) => [`merchantSecretKeys.${name}`, secret] as const,
    ),
  ]);
}

function sameTwice({ environment }: Surroundings, named: ReadonlyMap<string, string>): Result[] {
  const messenger = isConfigurationError(environment) ? undefined : environment;
  const all = new Map(named);
  for (const name of ['apiKey', 'masterKey'] as const) {
    const key = messenger?.[name];
    if (key !== undefined) all.set(name, key);
  }
  const entries = [...all];
  return entries.flatMap(([name, secret], index) =>
    entries.slice(index + 1).flatMap(([other, otherSecret]) => {
      if (otherSecret === secret) return [broken(`${name} and ${other} are the same.`, copyAgain)];
      // A key may have been pasted under another one's prefix.
      if (withoutPrefix(otherSecret) !== withoutPrefix(secret)) return [];
      return [weak(`${name} and ${other} differ in their prefix alone.`, copyAgain)];
    }),
  );
}

const copyAgain = 'Copy each key again from its mail.';

function merchantNeeded({ deployment }: Surroundings, credentials: PartnerCredentials): Result[] {
  const { orderKey = 'merchant+partner' } = deployment?.signature ?? defaultScheme;
  const { merchantSecretKey, merchantSecretKeys } = credentials;
  if (!orderKey.includes('merchant') || merchantSecretKey !== undefined || merchantSecretKeys !== undefined) {
    return [];
  }
  return [
    weak(
      'There is no merchant secret: orders cannot be created, and order events not verified (signature-key).',
      'Set MERCHANT_SECRET_KEY, or MERCHANT_SECRET_KEY_<NAME> for each merchant.',
    ),
  ];
}

function placeholder(name: string): Result {
  return weak(
    `${name} looks like an example: it is short, or says so itself.`,
    'Use the key that the service has sent; for tests this is fine.',
  );
}

function isPlaceholder(secret: string): boolean {
  const bare = withoutPrefix(secret);
  return bare.length < 12 || /x{4}|\.{3}|[<>]|your|example|changeme|secret|test|dummy/i.test(bare);
}

function withoutPrefix(secret: string): string {
  const prefix = Object.values(keyPrefixes).find((candidate) => secret.startsWith(candidate)) ?? '';
  return secret.slice(prefix.length);
}
