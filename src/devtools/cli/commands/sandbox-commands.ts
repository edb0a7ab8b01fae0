import { buildRouteMap } from '@stricli/core';
import { operationUrl } from '../../../deployment/define-deployment.ts';
import { sandboxUrlVariable } from '../../../deployment/environment-variables.ts';
import { isJsonObject, type JsonObject, tryParse } from '../../../internal/json.ts';
import { printableText } from '../../../internal/printable-text.ts';
import { readBoundedText } from '../../../internal/read-bounded.ts';
import { partnerVariables } from '../../sandbox/control/partner-variables.ts';
import { createSandbox } from '../../sandbox/create-sandbox.ts';
import type { Sandbox, SandboxServer } from '../../sandbox/sandbox.ts';
import type { SandboxCredentials } from '../../sandbox/settings/fixed-partners.ts';
import type { SandboxDelivery } from '../../sandbox/world/delivery.ts';
import { orderSteps, type SandboxOrder } from '../../sandbox/world/order-registry.ts';
import { defineCommand } from '../terminal/command.ts';
import { type CliContext, CliError, exitCodes, onceAborted, type RunContext } from '../terminal/context.ts';
import { arg, choiceArg, formatFlags, hostFlags, port, textFlag, toggle } from '../terminal/flags.ts';
import { type Output, openOutput } from '../terminal/output.ts';

const flags = {
  port: port.withDefault('number', 'Where to listen; 0 is any free port', '4200'),
  ...hostFlags,
  seed: textFlag.optional('text', 'Make keys and faults the same in every run'),
  enforceWhitelist: toggle('Refuse orders until `whitelist-ip` was called, as the service does'),
  ...formatFlags,
} as const;

const start = defineCommand({
  brief: 'Start a sandbox: the service, simulated',
  about:
    'Runs the service on this machine until it is stopped. It prints variables for your environment: addresses, and the keys of a partner whose IP is whitelisted. The keys are made for this run and open nothing else. To move orders, use "sandbox advance" or the inspector, which also shows the traffic.',
  examples: [
    'partner-exchange sandbox',
    'partner-exchange sandbox --seed 7 > sandbox.env',
    'partner-exchange sandbox --format json',
  ],
  json: '{ url, seed, environment }',
  flags,
  async run(context, flags) {
    const output = openOutput(context, flags);
    const { port, host, allowHost: allowedHosts = [], seed } = flags;
    let prepareAgain = async (): Promise<void> => {};
    const simulated = createSandbox({
      fetch: context.fetch,
      now: context.now,
      seed,
      onReset: () => prepareAgain(),
    });
    const server = await simulated.listen({ port, host, allowedHosts });
    try {
      const isWhitelisted = !flags.enforceWhitelist;
      const partner = await prepare(simulated, server, isWhitelisted);
      // A reset draws the same keys again, so those that were printed keep working.
      prepareAgain = async () => void (await prepare(simulated, server, isWhitelisted));
      const environment = {
        ...partnerVariables(server.deployment, { partner, masterKey: simulated.masterKey }),
        [sandboxUrlVariable]: `${server.url}/?token=${server.token}`,
      };
      for (const value of Object.values(environment)) context.secrets.release(value);
      announce(output, server, { seed: simulated.seed, environment });
      await onceAborted(context.signal);
    } finally {
      await server.close();
      await simulated.close();
    }
    return exitCodes.stopped;
  },
});

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
  const body = JSON.stringify({ partner_code: 'sandbox', email: 'partner@sandbox.example' });
  const url = operationUrl(deployment, 'onboard');
  await simulated.fetch(url, { method: 'POST', headers, body });
  return simulated.openLink(simulated.emails.at(-1)?.link ?? '');
}

function announce(
  output: Output,
  server: SandboxServer,
  { seed, environment }: { readonly seed: string; readonly environment: Readonly<Record<string, string>> },
): void {
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

const advance = defineCommand({
  brief: 'Move an order one step on, and post its event',
  about:
    'Moves an order of the sandbox one step on, and posts its event to the partner_callback_url of the order. Needs PARTNER_EXCHANGE_SANDBOX_URL, which the sandbox prints. Exits with 1 if your receiver does not acknowledge it.',
  examples: ['partner-exchange sandbox advance A-1001 fiat_received'],
  json: '{ order, deliveries }, as POST orders/{order}/advance of the control API',
  flags: formatFlags,
  args: [
    arg('order', 'Its partner_order_id, or its platform_order_ref if two partners use the same id'),
    choiceArg('step', orderSteps, orderSteps.join(', ')),
  ],
  async run(context, flags, order, step) {
    const output = openOutput(context, flags);
    const answer = await postControl(context, {
      path: `orders/${encodeURIComponent(order)}/advance`,
      body: { step },
    });
    // Sound: the control API of this version answers so. Another version fails here, with a name of its own.
    const { order: moved, deliveries } = answer as unknown as AdvancedOrder;
    output.result(answer, (paint) => [
      `${printableText(moved.partner_order_id)} is ${paint('bold', printableText(moved.state))}.`,
      ...deliveries.map(({ acknowledged, status, error, name, url }) => {
        const reply = paint(acknowledged ? 'green' : 'red', printableText(String(status ?? error ?? 'none')));
        return `${reply} ${printableText(name)} to ${printableText(url)}`;
      }),
    ]);
    if (deliveries.every(({ acknowledged }) => acknowledged)) return exitCodes.ok;
    output.status(
      'The event was not acknowledged. Next: look at the log of your receiver, or at the inspector.',
    );
    return exitCodes.findings;
  },
});

export default buildRouteMap<string, RunContext>({
  routes: { start, advance },
  docs: {
    brief: 'Run the service, simulated',
    fullDescription:
      'Runs the service on this machine, simulated. Without a command it starts a sandbox: "sandbox --port 4300" is "sandbox start --port 4300". "sandbox advance" moves an order of it, from another terminal. For the rest use the inspector, or the lines of curl that a sandbox prints at its start.',
  },
});

interface AdvancedOrder {
  readonly order: Pick<SandboxOrder, 'partner_order_id' | 'state'>;
  readonly deliveries: readonly Pick<SandboxDelivery, 'acknowledged' | 'status' | 'error' | 'name' | 'url'>[];
}

/** An order and one event take a few kilobytes. */
const maxAnswerBytes = 1024 * 1024;

/** The sandbox whose variables are in the environment. */
function sandboxOf({ env, secrets }: CliContext): { readonly origin: string; readonly token: string } {
  const text = env[sandboxUrlVariable] ?? '';
  const { origin = '', searchParams } = URL.canParse(text) ? new URL(text) : {};
  const token = searchParams?.get('token') ?? '';
  if (token === '') {
    throw new CliError(
      `${sandboxUrlVariable} is not set to what a sandbox prints: run "partner-exchange sandbox > sandbox.env" in another terminal, and read that file here.`,
    );
  }
  secrets.add(token);
  return { origin, token };
}

/** @throws {CliError} in the words of the sandbox if it refuses, and if it cannot be reached */
async function postControl(
  context: CliContext,
  { path, body }: { readonly path: string; readonly body: JsonObject },
): Promise<JsonObject> {
  const { fetch, signal } = context;
  const { origin, token } = sandboxOf(context);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body), signal, redirect: 'error' } as const;
  let isOk: boolean;
  let answer: unknown;
  try {
    const response = await fetch(new URL(`/_sandbox/${path}`, origin), init);
    isOk = response.ok;
    answer = tryParse((await readBoundedText(response.body, maxAnswerBytes)) ?? '');
  } catch (cause) {
    signal.throwIfAborted();
    throw new CliError(
      `The sandbox at ${origin} gave no answer: it may have ended, or another one has printed other variables.`,
      { cause },
    );
  }
  if (!isJsonObject(answer)) throw new CliError(`The server at ${origin} is no sandbox of this version.`);
  if (isOk) return answer;
  const reason = typeof answer.message === 'string' ? answer.message : 'no reason';
  throw new CliError(`The sandbox refused this: ${printableText(reason)}`, { exitCode: exitCodes.findings });
}
