import {
  credentialVariables,
  deploymentVariables,
  merchantPrefix,
  messengerVariables,
  sandboxUrlVariable,
} from '../../../../deployment/environment-variables.ts';
import type { SandboxServer } from '../../../sandbox/sandbox.ts';
import type { CliContext, Variables } from '../../terminal/context.ts';

/** The environment of --exec: that of the caller without its deployment and its keys. */
export function childEnvironment(
  { env }: CliContext,
  { url }: SandboxServer,
  environment: Variables,
): Variables {
  const foreign = new Set<string>(
    [...deploymentVariables, ...messengerVariables, ...credentialVariables].map(({ name }) => name),
  );
  const kept = Object.entries(env).filter(([name]) => !foreign.has(name) && !name.startsWith(merchantPrefix));
  return { ...Object.fromEntries(kept), ...environment, [sandboxUrlVariable]: url };
}
