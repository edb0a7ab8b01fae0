import { isJsonObject, type JsonObject, tryParse } from '../../../../internal/json.ts';
import { printableText } from '../../../../internal/printable-text.ts';
import { readBoundedText } from '../../../../internal/read-bounded.ts';
import type { SandboxDelivery } from '../../../sandbox/world/delivery.ts';
import { orderSteps, type SandboxOrder } from '../../../sandbox/world/order-registry.ts';
import { defineCommand } from '../../terminal/command.ts';
import { type CliContext, CliError, exitCodes } from '../../terminal/context.ts';
import { arg, choiceArg, formatFlags } from '../../terminal/flags.ts';
import { openOutput } from '../../terminal/output.ts';
import { chooseSandbox, type RunningSandbox, sandboxFlags } from './running-sandboxes.ts';

export const advance = defineCommand({
  brief: 'Move an order one step on, and post its event',
  about:
    'Moves an order of a running sandbox one step on, and posts its event to the partner_callback_url of the order. Exits with 1 if your receiver does not acknowledge it.',
  examples: [
    'partner-exchange sandbox advance A-1001 fiat_received',
    'partner-exchange sandbox advance A-1001 credited --port 4300',
  ],
  json: '{ order, deliveries }, as POST orders/{order}/advance of the control API',
  flags: { ...sandboxFlags, ...formatFlags },
  args: [
    arg('order', 'Its partner_order_id, or its platform_order_ref if two partners use the same id'),
    choiceArg('step', orderSteps, orderSteps.join(', ')),
  ],
  async run(context, flags, order, step) {
    const output = openOutput(context, flags);
    const sandbox = await chooseSandbox(context, flags);
    const answer = await postControl(context, sandbox, {
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

interface AdvancedOrder {
  readonly order: Pick<SandboxOrder, 'partner_order_id' | 'state'>;
  readonly deliveries: readonly Pick<SandboxDelivery, 'acknowledged' | 'status' | 'error' | 'name' | 'url'>[];
}

/** An order and one event take a few kilobytes. */
const maxAnswerBytes = 1024 * 1024;

/** @throws {CliError} in the words of the sandbox if it refuses, and if it cannot be reached */
async function postControl(
  { fetch, signal }: CliContext,
  { url, token }: RunningSandbox,
  { path, body }: { readonly path: string; readonly body: JsonObject },
): Promise<JsonObject> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body), signal, redirect: 'error' } as const;
  let isOk: boolean;
  let answer: unknown;
  try {
    const response = await fetch(new URL(`/_sandbox/${path}`, url), init);
    isOk = response.ok;
    answer = tryParse((await readBoundedText(response.body, maxAnswerBytes)) ?? '');
  } catch (cause) {
    signal.throwIfAborted();
    throw new CliError(`The sandbox at ${url} gave no answer: it may have ended.`, { cause });
  }
  if (!isJsonObject(answer)) throw new CliError(`The server at ${url} is no sandbox of this version.`);
  if (isOk) return answer;
  const reason = typeof answer.message === 'string' ? answer.message : 'no reason';
  throw new CliError(`The sandbox refused this: ${printableText(reason)}`, { exitCode: exitCodes.findings });
}
