import type { BulkRepeat } from '../../../../bulk/bulk-options.ts';
import type { BulkRow } from '../../../../bulk/bulk-rows.ts';
import { readBulkCsv } from '../../../../bulk/read-bulk-csv.ts';
import { sendBulk } from '../../../../bulk/send-bulk.ts';
import { printableText } from '../../../../internal/printable-text.ts';
import { memoryStore } from '../../../../store/memory-store.ts';
import type { RecordStore } from '../../../../store/record-store.ts';
import { confirm, readFile, requireConfirmable } from '../../inputs/input.ts';
import { openDevice } from '../../inputs/open-device.ts';
import { parseStoreAddress, withStore } from '../../inputs/open-store.ts';
import { defineCommand } from '../../terminal/command.ts';
import { type CliContext, CliError } from '../../terminal/context.ts';
import {
  arg,
  confirmFlags,
  type FlagsOf,
  formatFlags,
  oneWordOf,
  parsedBy,
  textFlag,
  toggle,
  wholeNumber,
} from '../../terminal/flags.ts';
import { openOutput } from '../../terminal/output.ts';
import { reportBulkRun } from './bulk-report.ts';

const members = ['to_phone', 'message', 'key'] as const;
const repeats = ['not-sent', 'refused', 'unknown'] as const satisfies readonly BulkRepeat[];

const flags = {
  campaign: textFlag.required(
    'name',
    'Name of this sending: within a campaign no number gets a message twice',
  ),
  store: textFlag.optional(
    'store',
    'SQLite file, redis: or postgres: address, or env:NAME of a variable (default: <file>.sqlite)',
  ),
  column: parsedBy(csvColumn).list('member=title', 'The title of the column of to_phone, message or key'),
  template: textFlag.optional(
    'text',
    'The text of each message; {Title} is what is in that column, {Title|customer} has a default for an empty one',
  ),
  delimiter: textFlag.optional('character', 'The separator of the columns (default: a comma)'),
  rate: parsedBy(messagesPerSecond).withDefault(
    'number',
    'Messages a second; the service names no limit',
    '1',
  ),
  concurrency: wholeNumber(1, 1000).withDefault('number', 'Most requests under way at once', '1'),
  stopAfter: wholeNumber(1, 1_000_000).withDefault(
    'failures',
    'Stop after this many failures in a row',
    '10',
  ),
  repeat: parsedBy(oneWordOf(repeats)).list(
    'state',
    `What is tried again: ${repeats.join(', ')} (default: not-sent)`,
  ),
  country: textFlag.optional('code', 'Country of numbers without +, such as NG'),
  allowPrefix: parsedBy(phonePrefix).list(
    'prefix',
    'How numbers must begin, such as +234; rows with others are invalid (default: any)',
  ),
  total: wholeNumber(0, 1_000_000_000).optional(
    'rows',
    'How many rows there are (default: the file is read once before, which also checks it)',
  ),
  dryRun: toggle('Check every row, and send and store nothing'),
  ...confirmFlags,
  ...formatFlags,
};
type Flags = FlagsOf<typeof flags>;

export default defineCommand({
  brief: 'Send a message to each row of a CSV file',
  about:
    'Sends at a steady pace, and no number of a campaign gets two messages: what was sent is noted in a store. Ctrl-C stops in order, and the same command goes on where it stood. Needs PARTNER_EXCHANGE_MESSENGER_BASE_URL and MESSENGER_API_KEY. Exits with 0 if all were sent, 1 if some were refused, invalid or not sent, 3 if some may have been sent.',
  examples: [
    'partner-exchange send customers.csv --campaign newsletter-11 --dry-run',
    'partner-exchange send customers.csv --campaign newsletter-11 --column to_phone=Mobile --template "Dear {Name}, we are open." --country NG',
    'partner-exchange send customers.csv --campaign newsletter-11 --store env:REDIS_URL --yes --format json',
  ],
  json: "A line for each row: { key, state: 'sent' | 'refused' | 'not-sent' | 'unknown' | 'duplicate' | 'invalid', attempts, code?, status?, problem?, replayed }",
  flags,
  args: [arg('file', 'CSV file with a header, or - for stdin')],
  async run(context, flags, path) {
    const output = openOutput(context, flags);
    const isStdin = path === '-';
    const { dryRun, campaign } = flags;
    if (!dryRun) requireConfirmable(context, { ...flags, isStdinTaken: isStdin });
    if (isStdin && flags.store === undefined)
      throw new CliError('Rows from stdin have no file name to derive the store from: name it with --store.');
    const address = parseStoreAddress(context, flags.store ?? `${path}.sqlite`);
    // An error in the file as a whole must show before a message is sent.
    const total = flags.total ?? (isStdin ? undefined : await countRows(rowsOf(context, flags, path)));
    const device = dryRun ? undefined : await openDevice(context, 'sendMessage', flags);
    if (!dryRun) {
      const rows = total === undefined ? 'all rows' : `${total} rows`;
      await confirm(
        context,
        flags,
        `Send ${rows} of ${printableText(path)} as "${printableText(campaign)}"?`,
      );
    }
    const run = async (store: RecordStore) => {
      const options = { campaign, store, total, now: context.now, sleep: context.sleep };
      return await reportBulkRun(context, output, {
        isDryRun: dryRun,
        run: sendBulk({
          ...options,
          messenger: device ?? {
            sendMessage: () => Promise.reject(new CliError('A dry run sends nothing.')),
          },
          rows: rowsOf(context, flags, path),
          messagesPerSecond: flags.rate,
          concurrency: flags.concurrency,
          stopAfterFailures: flags.stopAfter,
          repeat: flags.repeat?.length ? flags.repeat : undefined,
          dryRun,
          country: flags.country,
          allowedPrefixes: flags.allowPrefix?.length ? flags.allowPrefix : undefined,
        }),
      });
    };
    // A dry run makes no file.
    if (dryRun && address.kind === 'file' && !address.isThere)
      return await run(memoryStore({ now: context.now }));
    return await withStore(context, { address }, run);
  },
});

function rowsOf(context: CliContext, flags: Flags, path: string): AsyncIterable<BulkRow> {
  const { template, delimiter, column = [] } = flags;
  const source = path === '-' ? context.stdin : readFile(context, path);
  const columns = Object.fromEntries(column.map(({ member, column }) => [member, column]));
  return readBulkCsv(source, { columns, template, delimiter });
}

async function countRows(rows: AsyncIterable<BulkRow>): Promise<number> {
  let count = 0;
  for await (const _ of rows) count++;
  return count;
}

function csvColumn(input: string) {
  const [, name, column] = /^([^=]+)=(.+)$/s.exec(input) ?? [];
  const member = members.find((each) => each === name);
  if (member !== undefined && column !== undefined) return { member, column };
  throw new CliError(`must be of the form to_phone=Mobile, of ${members.join(', ')}`);
}

function phonePrefix(input: string): string {
  if (/^\+[1-9]\d{0,14}$/.test(input)) return input;
  throw new CliError('must be + and the first digits of a number, with the country code');
}

function messagesPerSecond(input: string): number {
  const number = /^\d{1,4}(\.\d{1,3})?$/.test(input) ? Number(input) : 0;
  if (number > 0 && number <= 1000) return number;
  throw new CliError('must be a number above 0, and at most 1000');
}
