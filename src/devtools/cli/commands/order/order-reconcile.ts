import { printableText } from '../../../../internal/printable-text.ts';
import type { OrderFinding } from '../../../../orders/order-findings.ts';
import { readFile } from '../../inputs/input.ts';
import { defineCommand } from '../../terminal/command.ts';
import { CliError, exitCodes } from '../../terminal/context.ts';
import {
  formatFlags,
  journalFlags,
  oneWordOf,
  parsedBy,
  textFlag,
  wholeNumber,
} from '../../terminal/flags.ts';
import { openOutput } from '../../terminal/output.ts';
import type { Paint } from '../../terminal/terminal-text.ts';
import { since, withJournal } from './open-journal.ts';
import { type ColumnTitles, columnNames, readStatement } from './statement-csv.ts';

export default defineCommand({
  brief: 'Find orders that need somebody',
  about:
    'Finds orders that do not go on, whose events differ from them or from each other, and, with a statement of the service, those that only one side has. Changes nothing. Exits with 1 if it found something. Needs no keys, and sends nothing.',
  examples: [
    'partner-exchange order reconcile --since 7d --journal orders.sqlite',
    'partner-exchange order reconcile --since 2026-01-01 --statement orders.csv --column id=Order --column amount=Paid --journal orders.sqlite',
  ],
  json: 'A line for each: { kind, partner_order_id, since, evidence, advice }',
  flags: {
    ...journalFlags,
    since: since.required('time', 'Only orders since then: 90m, 12h, 7d, or a date'),
    olderThanMinutes: wholeNumber(0, 100_000_000).withDefault(
      'minutes',
      'How long something may be missing before it is found',
      '60',
    ),
    statement: textFlag.optional('file', 'CSV of the service: its dashboard exports one'),
    column: parsedBy(parseColumn).list('name=title', 'The title of a column: id, amount or hash'),
    ...formatFlags,
  },
  async run(context, { statement: path, column = [], ...flags }) {
    const output = openOutput(context, flags);
    const titles: ColumnTitles = Object.fromEntries(column.map(({ name, title }) => [name, title]));
    const statement = path === undefined ? undefined : readStatement(readFile(context, path), titles);
    const now = context.now();
    return await withJournal(context, flags, async (journal) => {
      const findings = journal.reconcile({
        since: flags.since(now),
        olderThanMs: flags.olderThanMinutes * 60_000,
        statement,
      });
      let count = 0;
      for await (const finding of findings) {
        count++;
        output.item(finding, (paint) => describeFinding(finding, paint));
      }
      output.status(count === 0 ? 'Nothing was found.' : `${count} ${count === 1 ? 'finding' : 'findings'}.`);
      return count === 0 ? exitCodes.ok : exitCodes.findings;
    });
  },
});

function describeFinding(finding: OrderFinding, paint: Paint): string {
  const { kind, partner_order_id: id, since: at, evidence, advice } = finding;
  const period = at === null ? '' : ` since ${new Date(at).toISOString()}`;
  const facts = `${id}${period}: ${JSON.stringify(evidence)}`;
  return `${paint('yellow', kind)} ${printableText(facts)}\n  ${printableText(advice)}`;
}

function parseColumn(input: string): { name: (typeof columnNames)[number]; title: string } {
  const [, name = '', title] = /^([^=]*)=(.+)$/.exec(input) ?? [];
  if (title === undefined) throw new CliError('must be a name and a title, such as id=Order');
  return { name: oneWordOf(columnNames)(name), title };
}
