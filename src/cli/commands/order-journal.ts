import type { OrderJournal } from '../../orders/journal.ts';
import { createOrderJournal } from '../../orders/order-journal.ts';
import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';
import { exitCodes } from '../context/exit-code.ts';
import { withStore } from '../input/open-store.ts';
import { readExistingPlace } from '../input/store-place.ts';
import { describeOrder } from '../output/describe-order.ts';
import { openOutput } from '../output/output.ts';
import type { CommonFlags, FormatFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface JournalFlags extends CommonFlags, FormatFlags {
  readonly journal: string;
}

export interface OrderUnsettledFlags extends JournalFlags {
  readonly olderThanMinutes: number;
  readonly limit: number;
}

export interface OrderSettleFlags extends JournalFlags {
  readonly note: string;
}

export type Decision = 'accepted' | 'abandoned';

/** Lists the orders of which nobody knows how they ended. */
export const orderUnsettled: RunCommand<OrderUnsettledFlags> = async (context, flags) => {
  const output = openOutput(context, flags);
  const { olderThanMinutes, limit } = flags;
  return await withJournal(context, flags, async (journal) => {
    const orders = await journal.unsettled({ olderThanMs: olderThanMinutes * 60_000, limit });
    for (const order of orders) output.item(order, (paint) => describeOrder(order, paint));
    output.say(orders.length === 0 ? 'Nothing is unsettled.' : `${orders.length} unsettled.`);
    return exitCodes.ok;
  });
};

/** Writes down what a person found out about an order. */
export const orderSettle: RunCommand<OrderSettleFlags, [id: string, decision: Decision]> = async (
  context,
  flags,
  id,
  decision,
) => {
  const output = openOutput(context, flags);
  return await withJournal(context, flags, async (journal) => {
    const order = await journal.settle(id, decision, flags.note);
    output.result({ order }, (paint) => [describeOrder(order, paint)]);
    return exitCodes.ok;
  });
};

/** Works with a journal that is there, and sends nothing: this needs no keys. */
function withJournal<Result>(
  context: CliContext,
  { journal: where }: JournalFlags,
  work: (journal: OrderJournal) => Promise<Result>,
): Promise<Result> {
  const prepareOrder = () => Promise.reject(new CliError('This command sends no order.'));
  return withStore(context, readExistingPlace(context, where), (store) =>
    work(createOrderJournal({ exchange: { prepareOrder }, store, now: context.now })),
  );
}
