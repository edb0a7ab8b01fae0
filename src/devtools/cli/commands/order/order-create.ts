import { resolve } from 'node:path';
import { ExchangeClient } from '../../../../client/exchange-client.ts';
import { type Deployment, operationUrl } from '../../../../deployment/define-deployment.ts';
import type { BuyOrder } from '../../../../deployment/order-schema.ts';
import { toWireNames } from '../../../../deployment/wire-names.ts';
import { isOrderError, isRequestError } from '../../../../errors/errors.ts';
import type { JsonObject } from '../../../../internal/json.ts';
import { printableText } from '../../../../internal/printable-text.ts';
import type { CreatedOrder } from '../../../../orders/journal-types.ts';
import { createOrderJournal } from '../../../../orders/order-journal.ts';
import { currentCredentials, readConfiguration, requireAddress } from '../../inputs/configuration.ts';
import {
  confirm,
  inputName,
  readExactJsonObject,
  readInput,
  requireConfirmable,
} from '../../inputs/input.ts';
import { parseStoreAddress, storeOptions, withStore } from '../../inputs/open-store.ts';
import { defineCommand } from '../../terminal/command.ts';
import { exitCodes } from '../../terminal/context.ts';
import {
  confirmFlags,
  type FlagsOf,
  formatFlags,
  journalFlags,
  keysFlag,
  merchantFlag,
  optionalFile,
  textFlag,
  toggle,
} from '../../terminal/flags.ts';
import { type Output, openOutput } from '../../terminal/output.ts';
import { keepReply, redactedReply, replyLine } from '../../terminal/replies.ts';
import { describeOrder } from './describe-order.ts';

const flags = {
  ...journalFlags,
  merchant: merchantFlag,
  save: textFlag.optional(
    'file',
    'Keep the reply in a new file that only you can read; what is printed hides links and keys',
  ),
  acceptAddress: textFlag.optional(
    'reason',
    'Why the address is right although it is refused. It is kept, so write no personal data',
  ),
  again: toggle('Send an order that the service has refused once more as it is'),
  replace: toggle('Let the id stand for another order, if the service has acted on no request of it'),
  ...confirmFlags,
  keys: keysFlag,
  ...formatFlags,
};

export default defineCommand({
  brief: 'Create an order, once',
  about:
    'Creates the order of a JSON file. The journal knows of it before the service does, so that no order is sent twice: always give the same journal. It shows the body and asks before it sends. Exits with 3 if the service may have the order, and says what to do.',
  examples: [
    'partner-exchange order create order.json --journal orders.sqlite',
    'partner-exchange order create order.json --journal orders.sqlite --yes --save reply.json',
  ],
  json: '{ order, status?, body? }, the order as the journal knows it',
  flags,
  args: [optionalFile('JSON of the order (default: stdin)')],
  async run(context, flags, path) {
    const output = openOutput(context, flags);
    const { merchant, acceptAddress, again, replace, journal: where, prefix, schema, table, save } = flags;
    const isStdinTaken = path === undefined || path === '-';
    requireConfirmable(context, { ...flags, isStdinTaken });
    const configuration = await readConfiguration(context, flags);
    const { deployment } = configuration;
    const credentials = currentCredentials(configuration);
    requireAddress(deployment, 'createOrder');
    const address = parseStoreAddress(context, where);
    const members = readExactJsonObject(await readInput(context, path), inputName(path));
    // Sound: the schema of the deployment checks it.
    const order = members as unknown as BuyOrder;
    const exchange = new ExchangeClient({ deployment, credentials, fetch: context.fetch });
    const { payload } = await exchange.prepareOrder(order, { merchant, acceptAddress });
    show(output, deployment, toWireNames(payload, deployment.wireNames));
    await confirm(context, flags, 'Create this order?');
    return await withStore(context, { address, schema, table }, async (store) => {
      if (!address.isThere) output.status(`The journal ${printableText(where)} is new.`);
      const journal = createOrderJournal({ exchange, store, prefix, now: context.now });
      try {
        const create = async () => {
          const options = { merchant, acceptAddress, again, replace, signal: context.signal };
          const result = await journal.create(order, options);
          if (result.error !== undefined) throw result.error;
          return result;
        };
        const created = save === undefined ? await create() : await saved(resolve(context.cwd, save), create);
        print(output, created);
        return exitCodes.ok;
      } catch (error) {
        if (output.format === 'text' && isUnknown(error)) sayUnknown(output, payload, flags);
        throw error;
      }
    });
  },
});

function show(output: Output, deployment: Deployment, body: JsonObject): void {
  output.status((paint) => `POST ${paint('bold', operationUrl(deployment, 'createOrder'))}`);
  for (const line of JSON.stringify(body, null, 2).split('\n')) {
    // Our own indentation; spaces of a member are behind its quotation mark.
    const [indent = ''] = /^ */.exec(line) ?? [];
    output.status(indent + printableText(line));
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

function print(output: Output, { order, reply }: CreatedOrder): void {
  const { status, body } = reply ?? {};
  output.result({ order, status, ...(reply && { body: redactedReply(body) }) }, (paint) => [
    describeOrder(order, paint),
    ...(reply === undefined ? [] : [`answered with status ${status}: ${replyLine(body)}`]),
  ]);
  if (reply === undefined)
    output.status('It was created before, or its reply was lost: there is none to show.');
}

function isUnknown(error: unknown): boolean {
  if (isOrderError(error)) return error.code === 'outcome_unknown';
  return isRequestError(error) && error.outcome === 'unknown';
}

function sayUnknown(
  output: Output,
  { partner_order_id }: JsonObject,
  { journal, schema, table, prefix }: FlagsOf<typeof journalFlags>,
): void {
  const id = printableText(String(partner_order_id));
  output.status(
    `The service may have order ${id}: do not create it again. Wait for an event of it, or ask the service; then run: ` +
      `partner-exchange order settle ${id} accepted --note "…" ${storeOptions({ journal, schema, table, prefix })} (or abandoned).`,
  );
}
