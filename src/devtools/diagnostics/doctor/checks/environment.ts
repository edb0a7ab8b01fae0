import { keyPrefixes, type PartnerCredentials } from '../../../../credentials/partner-credentials.ts';
import { isExampleAddress } from '../../../../deployment/addresses/example-addresses.ts';
import { findMisspelt, type MisspeltVariable } from '../../../../deployment/check-spelling.ts';
import { environmentVariables, merchantPrefix } from '../../../../deployment/environment-variables.ts';
import { isConfigurationError, partsOf } from '../../../../errors/errors.ts';
import { defaultScheme } from '../../../../signature/signature-scheme.ts';
import { type CheckResult, skipped, worstOf } from '../../check-result.ts';
import { type Check, fail, ok, warning } from '../check.ts';
import type { DoctorContext } from '../doctor-context.ts';

export const environment: Check = {
  id: 'environment',
  run({ env, environment: read }) {
    if (isConfigurationError(read)) {
      const { what, remedy } = partsOf(read);
      return fail(what, remedy || 'Set the variable as docs/guides/environment-files.md says.');
    }
    const set = Object.keys(env).filter(
      (name) =>
        Reflect.get(env, name) &&
        (name.startsWith(merchantPrefix) || environmentVariables.some((variable) => variable.name === name)),
    );
    if (set.length === 0)
      return skipped('None of the variables is set: docs/guides/environment-files.md lists them.');
    return ok(`Set: ${set.join(', ')}.`);
  },
};

/** Finds misspelt names of our variables. */
export const environmentNames: Check = {
  id: 'environment-names',
  run({ env }) {
    const misspelt = findMisspelt(env);
    if (misspelt.length === 0) return ok('Every name that looks like one of ours is read.');
    const found = misspelt.map(describeMisspelt).join('; ');
    const fix = 'Rename it, or leave it if it belongs to another program.';
    return misspelt.some(({ isOurs, meant }) => isOurs && meant !== undefined)
      ? fail(found, 'Rename it.')
      : warning(found, fix);
  },
};

function describeMisspelt({ name, meant }: MisspeltVariable): string {
  return meant === undefined ? `${name} is not read` : `${name} is not read (${meant} is)`;
}

/** Finds the addresses of our documents, which nobody holds, in any variable. */
export const exampleAddress: Check = {
  id: 'example-address',
  run({ env }) {
    const names = Object.keys(env).filter((name) => isExampleAddress(String(Reflect.get(env, name))));
    if (names.length === 0) return ok('No variable holds an example address.');
    return warning(
      `${names.join(', ')} holds an example address: nobody can take the crypto that is sent there.`,
      'Use an address of your own; for tests on this machine this is fine.',
    );
  },
};

/** Whether the keys exist, look like keys, and differ. */
export const keys: Check = {
  id: 'keys',
  run(context) {
    const { credentials, environment } = context;
    if (credentials === undefined) {
      return skipped(
        isConfigurationError(environment)
          ? 'The environment cannot be read.'
          : 'There are no partner keys: onboarding does not need them, all else does.',
      );
    }
    const named = namedSecrets(credentials);
    return worstOf([
      ok(`There are ${[...named.keys(), 'partnerPublicKey'].join(', ')}.`),
      ...sameTwice(context, named),
      ...[...named].flatMap(([name, secret]) => (isPlaceholder(secret) ? [placeholder(name)] : [])),
      ...merchantNeeded(context, credentials),
    ]);
  },
};

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

function sameTwice({ environment }: DoctorContext, named: ReadonlyMap<string, string>): CheckResult[] {
  const messenger = isConfigurationError(environment) ? undefined : environment;
  const all = new Map(named);
  for (const name of ['apiKey', 'masterKey'] as const) {
    const key = messenger?.[name];
    if (key !== undefined) all.set(name, key);
  }
  const entries = [...all];
  return entries.flatMap(([name, secret], index) =>
    entries.slice(index + 1).flatMap(([other, otherSecret]) => {
      if (otherSecret === secret) return [fail(`${name} and ${other} are the same.`, copyAgain)];
      // A key may have been pasted under another one's prefix.
      if (withoutPrefix(otherSecret) !== withoutPrefix(secret)) return [];
      return [warning(`${name} and ${other} differ in their prefix alone.`, copyAgain)];
    }),
  );
}

const copyAgain = 'Copy each key again from its mail.';

function merchantNeeded({ deployment }: DoctorContext, credentials: PartnerCredentials): CheckResult[] {
  const { orderKey = 'merchant+partner' } = deployment?.signature ?? defaultScheme;
  const { merchantSecretKey, merchantSecretKeys } = credentials;
  if (!orderKey.includes('merchant') || merchantSecretKey !== undefined || merchantSecretKeys !== undefined) {
    return [];
  }
  return [
    warning(
      'There is no merchant secret: orders cannot be created, and order events not verified.',
      'Set MERCHANT_SECRET_KEY, or MERCHANT_SECRET_KEY_<NAME> for each merchant.',
      'signature-key',
    ),
  ];
}

function placeholder(name: string): CheckResult {
  return warning(
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
