import { operationUrl } from '../../../../deployment/define-deployment.ts';
import { partnerVariables } from '../../../sandbox/control/partner-variables.ts';
import { createSandbox } from '../../../sandbox/create-sandbox.ts';
import type { Sandbox, SandboxServer } from '../../../sandbox/sandbox.ts';
import type { SandboxCredentials } from '../../../sandbox/settings/fixed-partners.ts';
import { defineCommand } from '../../terminal/command.ts';
import { exitCodes, onceAborted } from '../../terminal/context.ts';
import { describeFailure } from '../../terminal/failure-line.ts';
import { formatFlags, hostFlags, port, textFlag, toggle } from '../../terminal/flags.ts';
import { type Output, openOutput } from '../../terminal/output.ts';
import { announceSandbox } from './running-sandboxes.ts';
import { childEnvironment } from './sandbox-environment.ts';
import { showTraffic } from './show-traffic.ts';

const flags = {
  port: port.optional('number', 'Where to listen; 0 is any free port (default: 4200; 0 with --exec)'),
  exec: textFlag.optional(
    'command',
    'Run this with keys and addresses in its environment, then stop with its exit code',
  ),
  ...hostFlags,
  seed: textFlag.optional('text', 'Make keys and faults the same in every run'),
  enforceWhitelist: toggle('Refuse orders until `whitelist-ip` was called, as the service does'),
  ...formatFlags,
} as const;

export const startSandbox = defineCommand({
  brief: 'Start a sandbox: the service, simulated',
  about:
    'Runs the service on this machine until it is stopped. It prints variables for your environment: addresses, and the keys of a partner whose IP is whitelisted. The keys are made for this run and open nothing else. With --exec it gives the variables to a command instead, such as your tests, and stops when the command ends. To move orders, use "sandbox advance" or the inspector.',
  examples: [
    'partner-exchange sandbox',
    'partner-exchange sandbox --exec "npm test"',
    'partner-exchange sandbox --seed 7 > sandbox.env',
    'partner-exchange sandbox --format json',
  ],
  json: 'First { url, seed, environment }, then a line for each entry of sandbox.trace, without headers and body',
  flags,
  async run(context, flags) {
    const output = openOutput(context, flags);
    const { host, allowHost: allowedHosts = [], seed, exec } = flags;
    const port = flags.port ?? (exec === undefined ? 4200 : 0);
    let prepareAgain = async (): Promise<void> => {};
    const simulated = createSandbox({
      fetch: context.fetch,
      now: context.now,
      seed,
      onReset: () => prepareAgain(),
    });
    const server = await simulated.listen({ port, host, allowedHosts });
    let forget: (() => Promise<void>) | undefined;
    try {
      const isWhitelisted = !flags.enforceWhitelist;
      const partner = await prepare(simulated, server, isWhitelisted);
      // A reset draws the same keys again, so those that were printed keep working.
      prepareAgain = async () => void (await prepare(simulated, server, isWhitelisted));
      const environment = partnerVariables(server.deployment, {
        partner,
        masterKey: simulated.masterKey,
      });
      for (const value of Object.values(environment)) context.secrets.release(value);
      forget = await announceSandbox(context, server).catch((error: unknown) => {
        output.warn(`Commands such as "sandbox advance" cannot find it: ${describeFailure(error).message}`);
        return undefined;
      });
      if (exec !== undefined) {
        if (context.signal.aborted) return exitCodes.stopped;
        output.status((paint) => `The sandbox is at ${paint('bold', server.url)}. It runs: ${exec}`);
        const child = await context.runCommand(exec, childEnvironment(context, server, environment));
        return { ofChild: child };
      }
      announce(output, { simulated, server, environment });
      showTraffic(simulated, output);
      await onceAborted(context.signal);
    } finally {
      await forget?.();
      await server.close();
      await simulated.close();
    }
    return exitCodes.stopped;
  },
});

const partnerCode = 'sandbox';

/** Whitelists this machine and onboards a partner, so that the first order can follow at once. */
async function prepare(
  simulated: Sandbox,
  { deployment }: SandboxServer,
  isWhitelisted: boolean,
): Promise<SandboxCredentials | undefined> {
  const headers = { 'content-type': 'application/json' };
  if (isWhitelisted) {
    const url = operationUrl(deployment, 'whitelistIp');
    await simulated.fetch(url, { method: 'POST', headers, body: '{}' });
  }
  const body = JSON.stringify({ partner_code: partnerCode, email: 'partner@sandbox.example' });
  const url = operationUrl(deployment, 'onboard');
  await simulated.fetch(url, { method: 'POST', headers, body });
  return simulated.openLink(simulated.emails.at(-1)?.link ?? '');
}

interface Announcement {
  readonly simulated: Sandbox;
  readonly server: SandboxServer;
  readonly environment: Readonly<Record<string, string>>;
}

function announce(output: Output, { simulated: { seed }, server, environment }: Announcement): void {
  const { url, inspectorUrl } = server;
  output.item({ url, seed, environment }, () =>
    Object.entries(environment)
      .map(([name, value]) => `${name}=${value}`)
      .join('\n'),
  );
  output.status(
    (paint) => `The sandbox is at ${paint('bold', url)}. Ctrl-C ends it, and forgets everything.`,
  );
  output.status(
    'Put the lines above into the environment. "partner-exchange sandbox advance" moves an order.',
  );
  output.status('From another terminal:');
  for (const line of controlLines(server)) output.status(line);
  output.status(`The inspector is at ${inspectorUrl}`);
}

/** Lines of curl to paste, one for each thing that no command does. The token opens this sandbox alone. */
function controlLines({ url, token }: SandboxServer): readonly string[] {
  const send = (method: string, path: string, body: object) =>
    `  curl -sS -X ${method} -H 'authorization: Bearer ${token}' -H 'content-type: application/json' -d '${JSON.stringify(body)}' ${url}/_sandbox/${path}`;
  return [
    `  curl -sS -H 'authorization: Bearer ${token}' ${url}/_sandbox/state    # faults, time, mails with their links, messages with their codes`,
    `${send('POST', 'faults', { target: 'createOrder', fault: 'reply_lost' })}    # or with "rate": 0.2`,
    send('DELETE', 'faults', {}),
    send('POST', 'reset', {}),
  ];
}
