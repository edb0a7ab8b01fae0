import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { ValidationError } from '../errors/errors.ts';
import { defineOptions, nested, type OptionTable, optional, text } from '../internal/options.ts';
import { printableText } from '../internal/printable-text.ts';
import type { StatementRow } from './reconcile-options.ts';

/** Options of {@link readStatementCsv}. */
export interface StatementCsvOptions {
  /** The titles of the columns in the header. */
  columns?:
    | {
        /** The `partner_order_id`. @default 'partner_order_id' */
        readonly id?: string | undefined;
        /** The fiat amount. @default none: amounts are not compared */
        readonly amount?: string | undefined;
        /** The hash of the crypto payment. @default none: hashes are not compared */
        readonly hash?: string | undefined;
      }
    | undefined;
  /** @default ',' */
  delimiter?: string | undefined;
}

const readOptions = defineOptions('readStatementCsv', {
  columns: nested({
    id: text({ default: 'partner_order_id' }),
    amount: optional(text()),
    hash: optional(text()),
  }),
  delimiter: text({ default: ',' }),
} satisfies OptionTable<StatementCsvOptions>);

/** An unclosed quote would otherwise collect the rest of the file. */
const maxLength = 1024 * 1024;

/**
 * Reads the rows of a statement of the service for `reconcile` from CSV (RFC 4180, UTF-8, with a header), without keeping
 * it in memory. A row that cannot be read ends the reading: a statement that is half read proves nothing.
 *
 * @param source a Node or web stream, chunks of text or bytes, or the whole text
 * @throws {ConfigurationError} `invalid_option`, at once
 * @throws {ValidationError} from the iteration: a column is missing, or a row cannot be read
 * @example
 * ```ts
 * const statement = readStatementCsv(createReadStream('orders.csv'), { columns: { id: 'Order', amount: 'Paid' } });
 * for await (const finding of journal.reconcile({ since, statement })) console.log(finding);
 * ```
 */
export function readStatementCsv(
  source: string | AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  options: StatementCsvOptions = {},
): AsyncIterable<StatementRow> {
  const { columns, delimiter } = readOptions(options);
  return readRows();

  async function* readRows(): AsyncGenerator<StatementRow, void, undefined> {
    const parser = parse({
      bom: true,
      delimiter,
      max_record_size: maxLength,
      skip_empty_lines: true,
      trim: true,
    });
    const input = Readable.from(source);
    input.on('error', (error) => parser.destroy(error));
    input.pipe(parser);
    let places: { id: number; amount: number; hash: number } | undefined;
    try {
      // Sound: without `columns` the parser gives lists of texts.
      for await (const record of parser as AsyncIterable<string[]>) {
        if (places === undefined) {
          const placeOf = (title: string | undefined) =>
            title === undefined ? -1 : requireColumn(record, title);
          places = { id: placeOf(columns.id), amount: placeOf(columns.amount), hash: placeOf(columns.hash) };
          continue;
        }
        const [id = '', amount, hash] = [places.id, places.amount, places.hash].map((at) => record[at]);
        yield { id, ...(amount && { amount }), ...(hash && { hash }) };
      }
      if (places === undefined) throw unreadable('it has no header');
    } catch (error) {
      // Without the parser's error, which may quote the row.
      throw error instanceof CsvError
        ? unreadable(`line ${error.lines ?? '?'} cannot be read (${error.code})`)
        : error;
    } finally {
      input.destroy();
    }
  }
}

function requireColumn(titles: readonly string[], title: string): number {
  const index = titles.indexOf(title);
  if (index !== -1) return index;
  const known = titles.slice(0, 12).map((each) => `"${printableText(each).slice(0, 40)}"`);
  throw unreadable(`it has no column "${title}": its first line is ${known.join(', ')}`);
}

function unreadable(message: string): ValidationError {
  return new ValidationError('readStatementCsv', [{ path: ['source'], message }]);
}
