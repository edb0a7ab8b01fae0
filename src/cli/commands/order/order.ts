import { buildRouteMap } from '@stricli/core';
import type { OrderJournal } from '../../../orders/journal.ts';
import { journalPrefix } from '../../../orders/journal-options.ts';
import type { JournaledOrder } from '../../../orders/journaled-order.ts';
import { createOrderJournal } from '../../../orders/order-journal.ts';
import { requireRecords, withExistingStore } from '../../inputs/open-store.ts';
import { defineCommand } from '../../terminal/command.ts';
import { type CliContext, CliError, exitCodes } from '../../terminal/context.ts';
import {
  arg,
  choiceArg,
  type FlagsOf,
  formatFlags,
  journalFlags,
  textFlag,
  wholeNumber,
} from '../../terminal/flags.ts';
import { openOutput } from '../../terminal/output.ts';
import { describeOrder } from './describe-order.ts';
import create from './order-create.ts';

const decisions = ['accepted', 'abandoned'] as const;

const unsettled = defineCommand({
  brief: 'List orders of which nobody knows how they ended',
  about:
    'Lists the orders that are prepared, being sent or unknown, the oldest first; then those that were accepted, and whose first event has not come within an hour. Needs no keys, and sends nothing.',
  examples: [
    'partner-exchange order unsettled --journal orders.sqlite',
    'partner-exchange order unsettled --journal env:DATABASE_URL --schema shop --older-than-minutes 30 --format json',
  ],
  flags: {
    ...journalFlags,
    olderThanMinutes: wholeNumber(0, 100_000_000).withDefault(
      'minutes',
      'Only those that have been unsettled for this long',
      '0',
    ),
    limit: wholeNumber(1, 100_000).withDefault('number', 'How many at most', '1000'),
    ...formatFlags,
  },
  async run(context, flags) {
    const output = openOutput(context, flags);
    const { olderThanMinutes, limit } = flags;
    return await withJournal(context, flags, async (journal) => {
      const orders = await journal.unsettled({ olderThanMs: olderThanMinutes * 60_000, limit });
      for (const order of orders)
        output.item(order, (paint) => describeOrder(order, paint) + reasonOf(order));
      output.status(orders.length === 0 ? 'Nothing is unsettled.' : `${orders.length} unsettled.`);
      return exitCodes.ok;
    });
  },
});

/** An unsettled state says itself why the order is listed. */
function reasonOf({ awaitingEventSince }: JournaledOrder): string {
  return awaitingEventSince === undefined
    ? ''
    : `: no event of it since ${new Date(awaitingEventSince).toISOString()}`;
}

const settle = defineCommand({
  brief: 'Write down what became of an order',
  about:
    'Records your decision after you looked at the service: it has the order (accepted), or it does not and never will (abandoned). Needs no keys, and sends nothing.',
  examples: [
    'partner-exchange order settle A-1001 accepted --note "Seen in the dashboard" --journal orders.sqlite',
  ],
  flags: {
    ...journalFlags,
    note: textFlag.required('text', 'The reason. It is kept, so write no personal data'),
    ...formatFlags,
  },
  args: [arg('id', 'partner_order_id'), choiceArg('decision', decisions, decisions.join(' or '))],
  async run(context, flags, id, decision) {
    const output = openOutput(context, flags);
    return await withJournal(context, flags, async (journal) => {
      const order = await journal.settle(id, decision, flags.note);
      output.result({ order }, (paint) => [describeOrder(order, paint)]);
      return exitCodes.ok;
    });
  },
});

export default buildRouteMap({
  routes: { create, unsettled, settle },
  docs: { brief: 'Create orders, none twice and none forgotten' },
});

/** Works with a journal that is there, and sends nothing: this needs no keys. */
function withJournal<Result>(
  context: CliContext,
  { journal: at, schema, table, prefix = journalPrefix }: FlagsOf<typeof journalFlags>,
  work: (journal: OrderJournal) => Promise<Result>,
): Promise<Result> {
  const prepareOrder = () => Promise.reject(new CliError('This command sends no order.'));
  return withExistingStore(context, { at, schema, table }, async (store) => {
    await requireRecords(store, prefix, 'No order was ever written into this journal');
    const journal = createOrderJournal({ exchange: { prepareOrder }, store, prefix, now: context.now });
    return await work(journal);
  });
}
