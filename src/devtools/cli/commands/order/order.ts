import { buildRouteMap } from '@stricli/core';
import { isOrderError } from '../../../../errors/errors.ts';
import type { JournaledOrder } from '../../../../orders/journaled-order.ts';
import { orderNotFound } from '../../../../orders/order-errors.ts';
import { decisions } from '../../../../orders/order-journal.ts';
import { isUndecided } from '../../../../orders/order-record.ts';
import { defineCommand } from '../../terminal/command.ts';
import { exitCodes } from '../../terminal/context.ts';
import { arg, choiceArg, formatFlags, journalFlags, textFlag, toggle } from '../../terminal/flags.ts';
import { openOutput } from '../../terminal/output.ts';
import { describeEvent, describeOrder, describeWhole } from './describe-order.ts';
import { withJournal } from './open-journal.ts';
import create from './order-create.ts';
import reconcile from './order-reconcile.ts';

const unsettled = defineCommand({
  brief: 'List orders of which nobody knows how they ended',
  about:
    'Lists the orders that are prepared, being sent or unknown, the oldest first; then those that were accepted, and whose first event has not come within an hour. Needs no keys, and sends nothing.',
  examples: [
    'partner-exchange order unsettled --journal orders.sqlite',
    'partner-exchange order unsettled --journal env:DATABASE_URL --schema shop --format json',
  ],
  json: 'A line for each: the order as the journal knows it',
  flags: { ...journalFlags, ...formatFlags },
  async run(context, flags) {
    const output = openOutput(context, flags);
    return await withJournal(context, flags, async (journal) => {
      const orders = await journal.unsettled();
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
    'Records your decision after you looked at the service: it has the order (accepted), or it does not and never will (abandoned). Events that differ from the order are accepted or rejected by their digests (--event), which "order show" prints. Needs no keys, and sends nothing.',
  examples: [
    'partner-exchange order settle A-1001 accepted --note "Seen in the dashboard" --journal orders.sqlite',
    'partner-exchange order settle A-1001 rejected --event 6d2a… --note "Not our buyer" --journal orders.sqlite',
  ],
  json: '{ order }',
  flags: {
    ...journalFlags,
    note: textFlag.required('text', 'The reason. It is kept, so write no personal data'),
    event: textFlag.list('digest', 'A differing event that the decision is about'),
    ...formatFlags,
  },
  args: [arg('id', 'partner_order_id'), choiceArg('decision', decisions, decisions.join(' or '))],
  async run(context, flags, id, decision) {
    const output = openOutput(context, flags);
    return await withJournal(context, flags, async (journal) => {
      const settling = journal.settle(id, decision, flags.note, { events: flags.event });
      const order = await settling.catch(async (error: unknown) => {
        if (isOrderError(error) && error.code !== 'order_not_found')
          for (const line of undecidedLines(await journal.get(id))) output.status(line);
        throw error;
      });
      output.result({ order }, (paint) => [describeOrder(order, paint)]);
      return exitCodes.ok;
    });
  },
});

/** The events that a decision can be about. */
function undecidedLines({ events = [] }: Partial<JournaledOrder> = {}): string[] {
  return events.filter(isUndecided).map((event) => describeEvent(event, (_, text) => text));
}

const list = defineCommand({
  brief: 'List the orders of the journal',
  about:
    'Lists all orders, in no particular order, or those that need somebody (--attention). Needs no keys, and sends nothing.',
  examples: [
    'partner-exchange order list --attention --journal orders.sqlite',
    'partner-exchange order list --journal orders.sqlite --format json',
  ],
  json: 'A line for each: the order as the journal knows it',
  flags: {
    ...journalFlags,
    attention: toggle('Only orders with a differing event that is not decided yet'),
    ...formatFlags,
  },
  async run(context, flags) {
    const output = openOutput(context, flags);
    const { attention } = flags;
    return await withJournal(context, flags, async (journal) => {
      let count = 0;
      for await (const order of journal.list({ attention })) {
        output.item(order, (paint) => describeOrder(order, paint));
        count++;
      }
      output.status(`${count} ${count === 1 ? 'order' : 'orders'}.`);
      return exitCodes.ok;
    });
  },
});

const show = defineCommand({
  brief: 'Show what the journal knows of an order',
  about:
    'Shows what was asked for, its requests, each event with its time, what differs, and what to do. Needs no keys, and sends nothing.',
  examples: ['partner-exchange order show A-1001 --journal orders.sqlite'],
  json: '{ order }',
  flags: { ...journalFlags, ...formatFlags },
  args: [arg('id', 'partner_order_id')],
  async run(context, flags, id) {
    const output = openOutput(context, flags);
    return await withJournal(context, flags, async (journal) => {
      const order = await journal.get(id);
      if (order === undefined) throw orderNotFound(id);
      output.result({ order }, (paint) => describeWhole(order, paint));
      return exitCodes.ok;
    });
  },
});

export default buildRouteMap({
  routes: { create, list, show, unsettled, settle, reconcile },
  docs: { brief: 'Create orders, none twice and none forgotten' },
});
