import type { BulkRepeat } from '../../bulk/bulk-options.ts';
import type { CsvColumn, SendFlags } from '../commands/send.ts';
import { CliError } from '../context/cli-error.ts';
import { commonFlags, confirmFlags, formatFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { oneOf, wholeNumber } from './parse-flag.ts';
import { synopses } from './synopses.ts';

const members = ['to_phone', 'message', 'key'] as const;
const repeats = ['not-sent', 'refused', 'unknown'] as const satisfies readonly BulkRepeat[];

/** Parses `to_phone=Mobile`. */
function csvColumn(input: string): CsvColumn {
  const [, name, column] = /^([^=]+)=(.+)$/s.exec(input) ?? [];
  const member = members.find((each) => each === name);
  if (member !== undefined && column !== undefined) return { member, column };
  throw new CliError(`must be of the form to_phone=Mobile, of ${members.join(', ')}`);
}

/** Parses messages a second. */
function rate(input: string): number {
  const number = /^\d{1,4}(\.\d{1,3})?$/.test(input) ? Number(input) : 0;
  if (number > 0 && number <= 1000) return number;
  throw new CliError('must be a number above 0, and at most 1000');
}

export const sendCommand = defineCommand<SendFlags, [path: string]>({
  brief: synopses.send.brief,
  about:
    'Sends at a steady pace, and no number of a campaign gets two messages: what was sent is noted in a store. Ctrl-C stops in order, and the same command goes on where it stood. Needs PARTNER_EXCHANGE_MESSENGER_BASE_URL and MESSENGER_API_KEY. Exits with 0 if all were sent, 1 if some were refused, invalid or not sent, 3 if some may have been sent.',
  examples: [
    'partner-exchange send customers.csv --campaign newsletter-11 --dry-run',
    'partner-exchange send customers.csv --campaign newsletter-11 --column to_phone=Mobile --template "Dear {Name}, we are open." --country NG',
    'partner-exchange send customers.csv --campaign newsletter-11 --store env:REDIS_URL --yes --format json',
  ],
  parameters: {
    flags: {
      campaign: {
        kind: 'parsed',
        parse: String,
        placeholder: 'name',
        brief: 'Names what is sent: within it no number gets a message twice',
      },
      store: {
        kind: 'parsed',
        parse: String,
        placeholder: 'store',
        brief: 'SQLite file, redis: or postgres: address, or env:NAME of a variable (default: <file>.sqlite)',
        optional: true,
      },
      column: {
        kind: 'parsed',
        parse: csvColumn,
        placeholder: 'member=title',
        brief: 'The title of the column of to_phone, message or key',
        variadic: true,
        optional: true,
      },
      template: {
        kind: 'parsed',
        parse: String,
        placeholder: 'text',
        brief: 'The text of each message; {Title} is what is in that column',
        optional: true,
      },
      delimiter: {
        kind: 'parsed',
        parse: String,
        placeholder: 'character',
        brief: 'What separates the columns (default: a comma)',
        optional: true,
      },
      rate: {
        kind: 'parsed',
        parse: rate,
        placeholder: 'number',
        brief: 'Messages a second; the service names no limit',
        default: '1',
      },
      concurrency: {
        kind: 'parsed',
        parse: wholeNumber(1, 1000),
        placeholder: 'number',
        brief: 'Most requests under way at once',
        default: '1',
      },
      stopAfter: {
        kind: 'parsed',
        parse: wholeNumber(1, 1_000_000),
        placeholder: 'failures',
        brief: 'So many failures in a row end it',
        default: '10',
      },
      repeat: {
        kind: 'parsed',
        parse: oneOf(repeats),
        placeholder: 'state',
        brief: `What is tried again: ${repeats.join(', ')} (default: not-sent)`,
        variadic: true,
        optional: true,
      },
      country: {
        kind: 'parsed',
        parse: String,
        placeholder: 'code',
        brief: 'Country of numbers without +, such as NG',
        optional: true,
      },
      total: {
        kind: 'parsed',
        parse: wholeNumber(0, 1_000_000_000),
        placeholder: 'rows',
        brief: 'How many rows there are (default: the file is read once before, which also checks it)',
        optional: true,
      },
      dryRun: {
        kind: 'boolean',
        brief: 'Check every row, and send and store nothing',
        default: false,
        withNegated: false,
      },
      ...confirmFlags,
      ...formatFlags,
      ...commonFlags,
    },
    positional: {
      kind: 'tuple',
      parameters: [{ brief: 'CSV file with a header, or - for stdin', placeholder: 'file', parse: String }],
    },
  },
  load: async () => (await import('../commands/send.ts')).send,
});
