import { plainCredentials } from '../../../../credentials/define-credentials.ts';
import {
  credentialVariables,
  deploymentVariables,
  merchantPrefix,
  messengerVariables,
  sandboxUrlVariable,
} from '../../../../deployment/environment-variables.ts';
import type { SandboxServer } from '../../../sandbox/sandbox.ts';
import type { SandboxPartner } from '../../../sandbox/settings/fixed-partners.ts';
import { currentCredentials, readConfiguration } from '../../inputs/configuration.ts';
import { type CliContext, CliError, type Variables } from '../../terminal/context.ts';

/**
 * The environment of --exec: that of the caller without another deployment. The caller's keys stay only if
 * --partner-from-env has given them to the sandbox.
 */
export function childEnvironment(
  { env }: CliContext,
  { url }: SandboxServer,
  { environment, given }: { environment: Variables; given: GivenKeys | undefined },
): Variables {
  const foreign = new Set<string>([...deploymentVariables, ...messengerVariables].map(({ name }) => name));
  if (given?.masterKey !== undefined) foreign.delete('MESSENGER_MASTER_KEY');
  const isPartnerKey = (name: string) =>
    name.startsWith(merchantPrefix) || credentialVariables.some((each) => each.name === name);
  const kept = Object.entries(env).filter(
    ([name]) => !foreign.has(name) && (given !== undefined || !isPartnerKey(name)),
  );
  return { ...Object.fromEntries(kept), ...environment, [sandboxUrlVariable]: url };
}

/** What --partner-from-env gives to the sandbox. */
export interface GivenKeys {
  readonly partners: readonly SandboxPartner[];
  readonly masterKey: string | undefined;
}

/** A partner with the keys of the environment, and its master key if there is one. */
export async function partnerOfEnvironment(context: CliContext): Promise<GivenKeys> {
  const configuration = await readConfiguration(context);
  const { merchantSecretKey, partnerCode, ...keys } = plainCredentials(currentCredentials(configuration));
  if (merchantSecretKey === undefined) {
    throw new CliError(
      'The partner of the environment has no MERCHANT_SECRET_KEY, which signs its orders: set it.',
    );
  }
  const credentials = { ...keys, merchantSecretKey, partnerCode: partnerCode ?? 'sandbox' };
  return { partners: [{ credentials }], masterKey: configuration.masterKey };
}
