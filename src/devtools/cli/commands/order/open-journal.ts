import { journalPrefix } from '../../../../orders/journal-options.ts';
import type { OrderJournal } from '../../../../orders/journal-types.ts';
import { createOrderJournal } from '../../../../orders/order-journal.ts';
import { parseStoreAddress, requireRecords, withStore } from '../../inputs/open-store.ts';
import { type CliContext, CliError } from '../../terminal/context.ts';
import { type FlagsOf, type journalFlags, parsedBy } from '../../terminal/flags.ts';

/** Works with a journal that is there, and sends nothing: this needs no keys. */
export function withJournal<Result>(
  context: CliContext,
  { journal: at, schema, table, prefix = journalPrefix }: FlagsOf<typeof journalFlags>,
  work: (journal: OrderJournal) => Promise<Result>,
): Promise<Result> {
  const prepareOrder = () => Promise.reject(new CliError('This command sends no order.'));
  const address = parseStoreAddress(context, at);
  return withStore(context, { address, mustExist: true, schema, table }, async (store) => {
    await requireRecords(store, prefix, 'No order was ever written into this journal');
    const journal = createOrderJournal({ exchange: { prepareOrder }, store, prefix, now: context.now });
    return await work(journal);
  });
}

/** A time, as a date or as long ago: it depends on the clock of the command. */
export const since = parsedBy(parseSince);

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function parseSince(input: string): (now: number) => number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(input) ?? [];
  if (count !== undefined && (unit === 'm' || unit === 'h' || unit === 'd'))
    return (now) => Math.max(0, now - Number(count) * unitMs[unit]);
  const time = /^\d{4}-\d\d-\d\d/.test(input) ? Date.parse(input) : Number.NaN;
  if (time >= 0) return () => time;
  throw new CliError('must be as long ago as 90m, 12h or 7d, or a date such as 2026-01-31');
}
