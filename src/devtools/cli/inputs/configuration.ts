import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { defineCredentials, secretKeysOf } from '../../../credentials/define-credentials.ts';
import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import type { Deployment } from '../../../deployment/define-deployment.ts';
import {
  credentialVariables,
  deploymentVariables,
  merchantPrefix,
} from '../../../deployment/environment-variables.ts';
import { type Operation, operationRules } from '../../../deployment/operations.ts';
import { readEnvironment } from '../../../deployment/read-environment.ts';
import type { JsonObject } from '../../../internal/json.ts';
import { createKeyRotation } from '../../../keys/create-key-rotation.ts';
import { storedKeys } from '../../../keys/stored-keys.ts';
import { firstFlaw } from '../../../store/sqlite/private-file.ts';
import { type CliContext, CliError, type Variables } from '../terminal/context.ts';
import { inFile, readJsonObject } from './input.ts';
import { parseStoreAddress, withStore } from './open-store.ts';

export interface Configuration {
  readonly deployment: Deployment;
  /** The current keys first, then older ones that are still valid; empty without any. */
  readonly credentials: readonly PartnerCredentials[];
  readonly apiKey: string | undefined;
  readonly masterKey: string | undefined;
}

/** Reads the environment; keys that are named replace those in it. */
export async function readConfiguration(
  context: CliContext,
  { keys }: { readonly keys?: string | undefined } = {},
): Promise<Configuration> {
  const { env } = context;
  const { deployment, credentials, apiKey, masterKey } = readEnvironment(
    keys === undefined ? env : withoutKeyVariables(env),
  );
  if (keys !== undefined)
    return { deployment, credentials: await readKeys(context, keys), apiKey, masterKey };
  return { deployment, credentials: credentials === undefined ? [] : [credentials], apiKey, masterKey };
}

/** The deployment alone, however wrong the keys may be. */
export function readDeployment({ env }: CliContext): Deployment {
  return readEnvironment(withoutKeyVariables(env)).deployment;
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

async function readKeys(context: CliContext, keys: string): Promise<readonly PartnerCredentials[]> {
  const members = await readMembers(context, keys);
  const generations =
    members === undefined
      ? await readGenerations(context, keys)
      : // Sound: defineCredentials checks every member, and refuses others.
        [inFile(keys, () => defineCredentials(members as unknown as PartnerCredentials))];
  for (const credentials of generations) {
    for (const secret of secretKeysOf(credentials)) context.secrets.add(secret);
  }
  return generations;
}

/** A file replaces all variables of keys, also incomplete ones. */
function withoutKeyVariables(env: Variables): Variables {
  const names = new Set<string>(credentialVariables.map(({ name }) => name));
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !names.has(name) && !name.startsWith(merchantPrefix)),
  );
}

/** The members of a JSON file; `undefined` for the store of a rotation. */
async function readMembers(context: CliContext, keys: string): Promise<JsonObject | undefined> {
  if (/^\s*[{[]/.test(keys)) {
    throw new CliError(
      'That is JSON in the place of a file, and other users see arguments: put it into a file of mode 0600, and name that.',
    );
  }
  const address = parseStoreAddress(context, keys);
  if (address.kind !== 'sqlite') return undefined;
  const bytes = await readPrivateFile(context, { path: address.target, keys });
  return bytes && readJsonObject(bytes, keys);
}

/** The keys of a rotation, the current ones first. */
function readGenerations(context: CliContext, keys: string): Promise<readonly PartnerCredentials[]> {
  const address = parseStoreAddress(context, keys);
  return withStore(context, { address, mustExist: true }, async (store) => {
    const rotation = createKeyRotation({ storage: storedKeys({ store }), now: context.now });
    return (await rotation.credentials()).verifying;
  });
}

/** Keys are short: a larger file holds something else. */
const maxBytes = 1024 * 1024;

/**
 * Reads a file that only this user may read, and refuses any other. `undefined` for a database.
 *
 * @param file.keys the file as the user named it
 */
async function readPrivateFile(
  context: CliContext,
  { path, keys }: { readonly path: string; readonly keys: string },
): Promise<Uint8Array | undefined> {
  // Does not wait for a writer of a FIFO. Windows has no such flag.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    // Checks the open file, since the path may lead to another one by now.
    const stats = await file.stat();
    const isWindows = context.platform === 'win32';
    const flaw = firstFlaw(stats, isWindows ? ['not-a-file'] : ['not-a-file', 'foreign', 'exposed']);
    if (flaw !== undefined) throw new CliError(`${keys} ${refusals[flaw](keys)}`);
    if (isWindows) {
      context.stderr.write(
        `warning: Whether others can read ${keys} cannot be told on Windows: check its permissions.\n`,
      );
    }
    const databaseHeader = 'SQLite format 3\0';
    const start = Buffer.alloc(databaseHeader.length);
    await file.read(start, 0, start.length, 0);
    if (start.toString('latin1') === databaseHeader) return undefined;
    if (stats.size > maxBytes)
      throw new CliError(`${keys} is too large to be a file of keys: check the path.`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

const refusals = {
  'not-a-file': () => 'is not a file: name the JSON file that holds the keys.',
  foreign: () => 'belongs to another user: run the command as that user, or name a file of your own.',
  exposed: (path: string) => `can be read by other users: run "chmod 600 ${path}", and think of new keys.`,
} as const;

/** Names the variable to set; the client would name an option. */
export function requireAddress(deployment: Deployment<unknown>, operation: Operation): void {
  const { baseUrl } = operationRules(operation);
  if (deployment[baseUrl] === undefined)
    throw new CliError(`Set ${variableOf(baseUrl)} to the address of the service.`);
  if (deployment.paths[operation] === undefined) {
    throw new CliError(`Set ${variableOf(`paths.${operation}`)}: the path is not published.`);
  }
}

function variableOf(option: string): string {
  return deploymentVariables.find(({ sets }) => sets === option)?.name ?? option;
}
