import { resolve } from 'node:path';
import { signingKey } from '../../credentials/signing-key.ts';
import { type Deployment, operationUrl } from '../../deployment/define-deployment.ts';
import type { BuyOrder } from '../../deployment/order-schema.ts';
import { toWireNames } from '../../deployment/wire-names.ts';
import { isOrderError } from '../../errors/order-error.ts';
import { isRequestError } from '../../errors/request-error.ts';
import { ExchangeClient } from '../../exchange/exchange-client.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { CreatedOrder } from '../../orders/journal.ts';
import { createOrderJournal } from '../../orders/order-journal.ts';
import { printableText } from '../../redaction/printable-text.ts';
import { signBody } from '../../signature/sign-body.ts';
import type { CliContext } from '../context/cli-context.ts';
import { exitCodes } from '../context/exit-code.ts';
import { askToGoOn, type ConfirmFlags, checkCanAsk } from '../input/confirm.ts';
import { withStore } from '../input/open-store.ts';
import { inputName, readInput } from '../input/read-input.ts';
import { readJsonObject } from '../input/read-json.ts';
import { type Configuration, currentCredentials, readConfiguration } from '../input/read-keys.ts';
import { requireAddress } from '../input/require-address.ts';
import { readPlace } from '../input/store-place.ts';
import { describeOrder } from '../output/describe-order.ts';
import { keepReply } from '../output/keep-reply.ts';
import { type Output, openOutput } from '../output/output.ts';
import { bodyLine, shownBody } from '../output/reply-body.ts';
import type { CommonFlags, FormatFlags, SigningFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface OrderCreateFlags extends CommonFlags, FormatFlags, SigningFlags, ConfirmFlags {
  readonly journal: string;
  readonly merchant?: string | undefined;
  readonly save?: string | undefined;
  readonly again: boolean;
  readonly dryRun: boolean;
}

/** Creates an order, with a journal that knows of it before the service does. */
export const orderCreate: RunCommand<OrderCreateFlags, [path?: string]> = async (context, flags, path) => {
  const output = openOutput(context, flags);
  const { merchant, again, journal: where, save } = flags;
  const isStdinTaken = path === undefined || path === '-';
  if (!flags.dryRun) checkCanAsk(context, { ...flags, isStdinTaken });
  const configuration = await readConfiguration(context, flags);
  const { deployment } = configuration;
  const credentials = currentCredentials(configuration);
  requireAddress(deployment, 'createOrder');
  const place = readPlace(context, where);
  const given = readJsonObject(await readInput(context, path), inputName(path));
  // Sound: the schema of the deployment checks it.
  const order = given as unknown as BuyOrder;
  const exchange = new ExchangeClient({ deployment, credentials, fetch: context.fetch });
  const { payload } = await exchange.prepareOrder(order, { merchant });
  const body = toWireNames(payload, deployment.wireNames);
  if (flags.dryRun) return printSigned(context, output, { body, merchant, configuration });
  show(output, deployment, body);
  await askToGoOn(context, flags, 'Create this order?');
  return await withStore(context, place, async (store) => {
    if (place.kind === 'file' && !place.isThere) output.say(`The journal ${printableText(where)} is new.`);
    const journal = createOrderJournal({ exchange, store, now: context.now });
    try {
      const create = () => journal.create(order, { merchant, again, signal: context.signal });
      const created = save === undefined ? await create() : await saved(resolve(context.cwd, save), create);
      print(output, created);
      return exitCodes.ok;
    } catch (error) {
      if (output.format === 'text' && isUnknown(error)) sayUnknown(output, payload, where);
      throw error;
    }
  });
};

/** Prints what would be sent. */
function printSigned(
  context: CliContext,
  output: Output,
  {
    body,
    merchant,
    configuration,
  }: { body: JsonObject; merchant: string | undefined; configuration: Configuration },
) {
  const scheme = configuration.deployment.signature;
  const key = signingKey(currentCredentials(configuration), 'order', { merchant, scheme });
  const signed = signBody(body, { key, scheme });
  if (output.format === 'json') output.result(signed, () => []);
  else output.raw(context.stdout.isTTY ? `${signed.text}\n` : signed.text);
  output.say('Nothing was sent, and the journal does not know of it.');
  return exitCodes.ok;
}

function show(output: Output, deployment: Deployment, body: JsonObject): void {
  output.say((paint) => `POST ${paint('bold', operationUrl(deployment, 'createOrder'))}`);
  for (const line of JSON.stringify(body, null, 2).split('\n')) {
    // Only our own spaces: those of a member are behind its quotation mark.
    const [indent = ''] = /^ */.exec(line) ?? [];
    output.say(indent + printableText(line));
  }
}

/** Keeps the reply, which may be the only place that says how the buyer pays. */
async function saved(path: string, create: () => Promise<CreatedOrder>): Promise<CreatedOrder> {
  let created: CreatedOrder | undefined;
  await keepReply(path, async () => {
    created = await create();
    return created.reply?.body;
  });
  // Sound: had it not been set, keepReply would have thrown.
  return created as CreatedOrder;
}

function print(output: Output, { order, replayed, reply }: CreatedOrder): void {
  const { status, body } = reply ?? {};
  output.result({ order, replayed, status, ...(reply && { body: shownBody(body) }) }, (paint) => [
    describeOrder(order, paint),
    ...(reply === undefined ? [] : [`answered with status ${status}: ${bodyLine(body)}`]),
  ]);
  if (replayed) output.say('It was created before: nothing was sent now.');
}

function isUnknown(error: unknown): boolean {
  if (isOrderError(error)) return error.code === 'outcome_unknown';
  return isRequestError(error) && error.outcome === 'unknown';
}

function sayUnknown(output: Output, { partner_order_id }: JsonObject, journal: string): void {
  const id = printableText(String(partner_order_id));
  output.say(
    `The service may have order ${id}: do not create it again. Wait for an event of it, or ask the service; then run: ` +
      `partner-exchange order settle ${id} accepted --note "…" --journal ${printableText(journal)} (or abandoned).`,
  );
}
