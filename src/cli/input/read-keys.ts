import { resolve } from 'node:path';
import { credentialVariables, merchantPrefix } from '../../config/environment-variables.ts';
import { readEnvironment } from '../../config/read-environment.ts';
import { defineCredentials } from '../../credentials/define-credentials.ts';
import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import { secretTexts } from '../../credentials/secret-texts.ts';
import type { Deployment } from '../../deployment/define-deployment.ts';
import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';
import type { Variables } from '../context/streams.ts';
import { generationsIn, isKeyFile } from './key-file.ts';
import { readJsonObject } from './read-json.ts';
import { readPrivateFile } from './read-private-file.ts';

/** What a command knows of the service and its keys. */
export interface Configuration {
  readonly deployment: Deployment;
  /** The current ones first, then those that are still valid beside them; empty without any. */
  readonly credentials: readonly PartnerCredentials[];
  readonly apiKey: string | undefined;
  readonly masterKey: string | undefined;
}

/** Files that a command names in place of variables. */
interface GivenFiles {
  readonly keys?: string | undefined;
  readonly scheme?: string | undefined;
}

/** Reads the environment, and the files that count instead of parts of it. */
export async function readConfiguration(
  context: CliContext,
  { keys, scheme }: GivenFiles = {},
): Promise<Configuration> {
  const env = withScheme(context, scheme);
  const environment = readEnvironment(keys === undefined ? env : withoutCredentials(env));
  const { deployment, apiKey, masterKey } = environment;
  const given = environment.credentials === undefined ? [] : [environment.credentials];
  const credentials = keys === undefined ? given : await readKeysFile(context, keys);
  return { deployment, credentials, apiKey, masterKey };
}

/** The deployment alone, however wrong the keys may be. */
export function readDeployment(context: CliContext, { scheme }: Pick<GivenFiles, 'scheme'> = {}): Deployment {
  return readEnvironment(withoutCredentials(withScheme(context, scheme))).deployment;
}

/** The keys that a command cannot do without: the current ones. */
export function currentCredentials({ credentials: [current] }: Configuration): PartnerCredentials {
  if (current !== undefined) return current;
  throw new CliError(
    'There are no keys: set PARTNER_PUBLIC_KEY, PARTNER_SECRET_KEY and MERCHANT_SECRET_KEY, or name a file with --keys.',
  );
}

/** Every generation of keys that a command cannot do without. */
export function allCredentials(
  configuration: Configuration,
): readonly [PartnerCredentials, ...PartnerCredentials[]] {
  return [currentCredentials(configuration), ...configuration.credentials.slice(1)];
}

/** The keys of a file that was named; `undefined` where the environment counts. */
export async function readNamedKeys(
  context: CliContext,
  { keys }: Pick<GivenFiles, 'keys'>,
): Promise<PartnerCredentials | undefined> {
  return keys === undefined ? undefined : (await readKeysFile(context, keys))[0];
}

async function readKeysFile(context: CliContext, path: string): Promise<readonly PartnerCredentials[]> {
  const bytes = await readPrivateFile(context, path);
  const value = readJsonObject(bytes, path);
  const generations = isKeyFile(value)
    ? await generationsIn(bytes, context.now)
    : // Sound: defineCredentials checks every member, and refuses others.
      [defineCredentials(value as unknown as PartnerCredentials)];
  for (const credentials of generations) {
    for (const secret of secretTexts(credentials)) context.secrets.add(secret);
  }
  return generations;
}

/** The variables, with the scheme of a file that was named. */
export function withScheme({ env, cwd }: CliContext, scheme: string | undefined): Variables {
  if (scheme === undefined) return env;
  return { ...env, PARTNER_EXCHANGE_SCHEME: undefined, PARTNER_EXCHANGE_SCHEME_FILE: resolve(cwd, scheme) };
}

/** The file counts instead of the variables, even if those are incomplete. */
function withoutCredentials(env: Variables): Variables {
  const names = new Set<string>(credentialVariables.map(({ name }) => name));
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !names.has(name) && !name.startsWith(merchantPrefix)),
  );
}
