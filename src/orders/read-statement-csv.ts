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
 * it in memory. A row that cannot be read, or names no order, ends the reading: a statement that is half read proves
 * nothing.
 *
 * @param source a Node or web stream, chunks of text or bytes, or the whole text
 * @throws {ConfigurationError} `invalid_option`, at once
 * @throws {ValidationError} from the iteration: it is not UTF-8, a column is missing or there twice, or a row cannot be
 *   read
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
    const input = Readable.from(textOf(source));
    input.on('error', (error) => parser.destroy(error));
    input.pipe(parser);
    let places: { id: number; amount: number; hash: number } | undefined;
    let row = 0;
    try {
      // Sound: without `columns` the parser gives lists of texts.
      for await (const record of parser as AsyncIterable<string[]>) {
        row++;
        if (places === undefined) {
          const placeOf = (title: string | undefined) =>
            title === undefined ? -1 : requireColumn(record, { title, delimiter });
          places = { id: placeOf(columns.id), amount: placeOf(columns.amount), hash: placeOf(columns.hash) };
          continue;
        }
        const cells = [places.id, places.amount, places.hash].map((at) => record[at]);
        const [id = '', amount, hash] = cells;
        if (id === '') throw unreadable(`row ${row} has no "${columns.id}"`);
        if (cells.some((cell) => cell?.includes('\ufffd'))) throw unreadable(notUtf8);
        const other =
          record.length === 1 ? otherDelimiters(delimiter).find((each) => id.includes(each)) : undefined;
        if (other !== undefined)
          throw unreadable(`row ${row} has ${nameOf(other)}, which may be its delimiter`);
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

const notUtf8 = 'it is not UTF-8: export it as UTF-8';

async function* textOf(source: Parameters<typeof readStatementCsv>[0]): AsyncGenerator<string> {
  if (typeof source === 'string') return yield source;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Uint8Array) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw unreadable(notUtf8);
    }
  };
  for await (const chunk of source) yield typeof chunk === 'string' ? chunk : decode(chunk);
  yield decode();
}

function requireColumn(
  titles: readonly string[],
  { title, delimiter }: { readonly title: string; readonly delimiter: string },
): number {
  const index = titles.indexOf(title);
  if (index !== titles.lastIndexOf(title)) throw unreadable(`it has the column "${title}" twice`);
  if (index !== -1) return index;
  const known = titles.slice(0, 12).map((each) => `"${printableText(each).slice(0, 40)}"`);
  const other = otherDelimiters(delimiter).find((each) =>
    titles.some((joined) => joined.split(each).some((part) => part.replaceAll('"', '').trim() === title)),
  );
  const hint = other === undefined ? '' : ` (its delimiter may be ${nameOf(other)})`;
  throw unreadable(`it has no column "${title}": its first line is ${known.join(', ')}${hint}`);
}

function otherDelimiters(delimiter: string): string[] {
  return [',', ';', '\t', '|'].filter((each) => each !== delimiter);
}

function nameOf(delimiter: string): string {
  return delimiter === '\t' ? 'a tab' : `"${delimiter}"`;
}

function unreadable(message: string): ValidationError {
  return new ValidationError('readStatementCsv', [{ path: ['source'], message }]);
}
