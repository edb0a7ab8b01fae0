import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { membersOf } from '../../credentials/key-sets.ts';
import { operationUrl } from '../../deployment/define-deployment.ts';
import { printableText } from '../../redaction/printable-text.ts';
import { createSandbox } from '../../sandbox/create-sandbox.ts';
import type { FaultScenario } from '../../sandbox/faults/fault-scenarios.ts';
import type { SandboxServer } from '../../sandbox/http/listen.ts';
import type { SandboxOrderStep } from '../../sandbox/orders/order-steps.ts';
import type { SandboxPartner } from '../../sandbox/partners/fixed-partners.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';
import { exitCodes } from '../context/exit-code.ts';
import { onceAborted } from '../context/once-aborted.ts';
import { currentCredentials, readConfiguration } from '../input/read-keys.ts';
import { describeFailure } from '../output/describe-failure.ts';
import { describeTrace, traceItem } from '../output/describe-trace.ts';
import { openSecretAddress } from '../output/open-secret-address.ts';
import { type Output, openOutput } from '../output/output.ts';
import type { CommonFlags, FormatFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface SandboxFlags extends CommonFlags, FormatFlags {
  readonly port: number;
  readonly host: string;
  readonly allowHost?: readonly string[] | undefined;
  readonly faults?: FaultScenario | undefined;
  readonly seed?: string | undefined;
  readonly data?: string | undefined;
  readonly partnerFromEnv: boolean;
  readonly open: boolean;
}

/** Runs the sandbox until it is stopped. */
export const sandbox: RunCommand<SandboxFlags> = async (context, flags) => {
  const output = openOutput(context, flags);
  const { port, host, allowHost: allowedHosts = [], seed, faults } = flags;
  const data = flags.data === undefined ? undefined : resolve(context.cwd, flags.data);
  const partners = flags.partnerFromEnv ? [await partnerOf(context)] : undefined;
  const simulated = createSandbox({ fetch: context.fetch, now: context.now, seed, data, partners });
  await simulated.ready();
  const server = await simulated.listen({ port, host, allowedHosts });
  try {
    const environment = await environmentOf(simulated, server, flags);
    for (const value of Object.values(environment)) context.secrets.release(value);
    // Only now: what goes wrong shall not befall the partner above.
    if (faults !== undefined) simulated.faults.scenario(faults);
    announce(output, { simulated, server, environment, isKept: data !== undefined });
    await showInspector(context, output, { server, open: flags.open });
    follow(simulated, output);
    takeSteps(context, simulated, output);
    await onceAborted(context.signal);
  } finally {
    await server.close();
    await simulated.close();
  }
  return exitCodes.stopped;
};

/** A partner with the keys of the environment. */
async function partnerOf(context: CliContext): Promise<SandboxPartner> {
  const { merchantSecretKey, partnerCode, ...keys } = membersOf(
    currentCredentials(await readConfiguration(context)),
  );
  if (merchantSecretKey === undefined) {
    throw new CliError(
      'The partner of the environment has no MERCHANT_SECRET_KEY, which signs its orders: set it.',
    );
  }
  return { credentials: { ...keys, merchantSecretKey, partnerCode: partnerCode ?? 'sandbox' } };
}

/** Says where the inspector is, or opens it: its address holds a token. */
async function showInspector(
  context: CliContext,
  output: Output,
  { server, open }: { server: SandboxServer; open: boolean },
): Promise<void> {
  output.say(`The inspector is at ${server.inspectorUrl}`);
  if (open) await openSecretAddress(context, server.inspectorUrl);
}

/** Onboards a partner and whitelists this machine, so that the first order can follow at once. */
async function environmentOf(
  simulated: Sandbox,
  { deployment }: SandboxServer,
  { partnerFromEnv }: SandboxFlags,
): Promise<Record<string, string>> {
  const body = JSON.stringify({ partner_code: 'sandbox', email: 'partner@sandbox.example' });
  const headers = { 'content-type': 'application/json' };
  const { fetch, masterKey } = simulated;
  await fetch(operationUrl(deployment, 'whitelistIp'), { method: 'POST', headers, body: '{}' });
  const addresses = {
    PARTNER_EXCHANGE_ONBOARDING_BASE_URL: deployment.onboardingBaseUrl,
    PARTNER_EXCHANGE_STAGING_URL: deployment.stagingUrl,
    PARTNER_EXCHANGE_MESSENGER_BASE_URL: deployment.messengerBaseUrl,
  };
  // The keys are in the environment already, and may be of use elsewhere: they are not printed.
  if (partnerFromEnv) return { ...addresses, MESSENGER_MASTER_KEY: masterKey };
  const { ok } = await fetch(operationUrl(deployment, 'onboard'), { method: 'POST', headers, body });
  // With data of an earlier run the partner is there already, and its link was opened then.
  if (!ok) return { ...addresses, MESSENGER_MASTER_KEY: masterKey };
  const credentials = simulated.openLink(simulated.emails.at(-1)?.link ?? '');
  return {
    ...addresses,
    PARTNER_PUBLIC_KEY: credentials.partnerPublicKey,
    PARTNER_SECRET_KEY: credentials.partnerSecretKey,
    MERCHANT_SECRET_KEY: credentials.merchantSecretKey,
    PARTNER_ID: credentials.partnerId,
    PARTNER_CODE: credentials.partnerCode,
    MESSENGER_MASTER_KEY: masterKey,
  };
}

interface Announcement {
  readonly isKept: boolean;
  readonly simulated: Sandbox;
  readonly server: SandboxServer;
  readonly environment: Readonly<Record<string, string>>;
}

function announce(
  output: Output,
  { simulated: { seed }, server: { url }, environment, isKept }: Announcement,
): void {
  output.item({ url, seed, environment }, () =>
    Object.entries(environment)
      .map(([name, value]) => `${name}=${value}`)
      .join('\n'),
  );
  output.say(
    (paint) =>
      `The sandbox is at ${paint('bold', url)}. Ctrl-C ends it, and ${isKept ? 'its data stays' : 'forgets everything'}.`,
  );
  if (environment.PARTNER_SECRET_KEY === undefined)
    output.say('The keys of its partner are those that you have: of the environment, or of the first start.');
  output.say('Put the lines above into the environment. Type "<order> <step>" to move an order.');
}

/** Prints what goes over the wire, without bodies and headers: they hold keys and personal data. */
function follow(simulated: Sandbox, output: Output): void {
  let seen = simulated.emails.length;
  simulated.trace.subscribe((entry) => {
    if (output.format === 'json') output.item(traceItem(entry), () => '');
    else output.say((paint) => describeTrace(entry, paint));
    for (const { to, partner_code, link } of simulated.emails.slice(seen)) {
      seen++;
      // The link is what the partner would get: it opens nothing but the sandbox.
      output.say(
        (paint) =>
          `${paint('cyan', 'e-mail')} to ${printableText(to)} for ${printableText(partner_code)}: ${link}`,
      );
    }
  });
}

/** Reads steps of orders from stdin until it ends. */
function takeSteps({ stdin, signal }: CliContext, simulated: Sandbox, output: Output): void {
  const lines = createInterface({ input: stdin, signal });
  lines.on('line', (line) => {
    const [order, step, ...rest] = line.trim().split(/\s+/);
    if (!order) return;
    if (step === undefined || rest.length > 0) {
      output.warn('A line is the id of an order and a step, such as: A-1001 credited');
      return;
    }
    // Sound: a step that does not exist is refused, with the names of those that do.
    simulated.advance(order, step as SandboxOrderStep).catch((error: unknown) => {
      output.warn(describeFailure(error).message);
    });
  });
}
