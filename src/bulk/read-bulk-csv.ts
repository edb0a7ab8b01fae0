import { Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import { BulkError } from '../errors/bulk-error.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { invalidOption } from '../options/check-values.ts';
import type { BulkRow, UnreadableRow } from './bulk-row.ts';
import { type FillTemplate, readTemplate } from './message-template.ts';

export interface BulkCsvOptions {
  /** The columns that hold what a message needs, by their names in the header. */
  columns?:
    | {
        /** @default 'to_phone' */
        readonly to_phone?: string | undefined;
        /** Not needed with a `template`. @default 'message' */
        readonly message?: string | undefined;
        /** @default 'key' if there is such a column, otherwise the line number */
        readonly key?: string | undefined;
      }
    | undefined;
  /** The text of each message: `{name}` is the value of the column `name`; `{{` and `}}` are braces. */
  template?: string | undefined;
  /** @default ',' */
  delimiter?: string | undefined;
}

/** They are kept until a line can be read. A file with more of them in a row is not what it should be. */
const maxUnreadable = 1000;
const tooManyUnreadable = `more than ${maxUnreadable} lines in a row are not CSV`;

/** What a file is read from: a Node or web stream, chunks of text or bytes, or the whole text. */
export type CsvSource =
  | string
  | AsyncIterable<string | Uint8Array>
  | Iterable<string | Uint8Array>
  | ReadableStream<Uint8Array>;

const names: OptionNames<BulkCsvOptions> = { columns: true, template: true, delimiter: true };
const columnNames: OptionNames<NonNullable<BulkCsvOptions['columns']>> = {
  to_phone: true,
  message: true,
  key: true,
};

/** Longest line, in characters. An unclosed quote would otherwise collect the rest of the file. */
const maxLineLength = 128 * 1024;

/**
 * Reads the rows of a CSV file (RFC 4180, UTF-8, with a header) for `sendBulk`, without keeping it in memory. A line
 * that cannot be read becomes an `invalid` row with its line number, and the others go on. Only an open quote,
 * behind which no row can be told from the next, and more than 1,000 such lines in a row end the reading.
 *
 * @throws {BulkError} `csv_unreadable` from the iteration: before the first row if there is no header, or if it lacks a
 *   column that `columns` or the template names; later at an open quote, and at too many lines that are not CSV
 * @throws {ConfigurationError} `invalid_option`, at once: unknown options, an unsound template
 * @example
 * ```ts
 * const rows = readBulkCsv(createReadStream('customers.csv'), {
 *   columns: { to_phone: 'Mobile' },
 *   template: 'Dear {First name}, your account is ready.',
 * });
 * ```
 */
export function readBulkCsv(source: CsvSource, options: BulkCsvOptions = {}): AsyncIterable<BulkRow> {
  checkNames('readBulkCsv', options, names);
  const columns = options.columns ?? {};
  checkNames('columns', columns, columnNames);
  const template = options.template === undefined ? undefined : readTemplate(options.template);
  const delimiter = options.delimiter ?? ',';
  if (typeof delimiter !== 'string' || delimiter.length !== 1)
    throw invalidOption('delimiter must be one character.');
  return readRows(source, { columns, template, delimiter });
}

interface CheckedOptions {
  readonly columns: NonNullable<BulkCsvOptions['columns']>;
  readonly template: FillTemplate | undefined;
  readonly delimiter: string;
}

/** A record of the parser with `info: true`. */
interface ParsedLine {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

async function* readRows(
  source: CsvSource,
  options: CheckedOptions,
): AsyncGenerator<BulkRow, void, undefined> {
  const unreadable: UnreadableLine[] = [];
  let goodUntil = 0;
  const parser = parse({
    bom: true,
    delimiter: options.delimiter,
    info: true,
    max_record_size: maxLineLength,
    on_record: (record, { lines }) => {
      goodUntil = lines;
      return record;
    },
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: (error) => {
      const line = toUnreadable(error);
      unreadable.push(line);
      // The rows behind an open quote cannot be told apart: nobody should take them for read.
      if (unclosedQuote.has(String(error?.code))) parser.destroy(openQuote(goodUntil));
      else if (parser.info.records === 0) parser.destroy(unreadableFile(line.row.invalid));
      else if (unreadable.length > maxUnreadable) parser.destroy(unreadableFile(tooManyUnreadable));
      return undefined;
    },
  });
  // An error of the source ends the parser, and so the loop.
  const input = Readable.from(typeof source === 'string' ? [source] : source);
  input.on('error', (error) => parser.destroy(error));
  input.pipe(parser);
  try {
    let layout: Layout | undefined;
    for await (const line of parser as AsyncIterable<ParsedLine>) {
      if (layout === undefined) {
        layout = readHeader(line.record, options);
        continue;
      }
      // The parser is some lines ahead.
      for (const { row } of takeUntil(unreadable, line.info.lines)) yield row;
      yield toRow(line, layout);
    }
    if (layout === undefined) throw unreadableFile('it has no header');
    for (const { row } of unreadable) yield row;
  } finally {
    input.destroy();
    parser.destroy();
  }
}

interface Layout {
  readonly width: number;
  readonly phoneAt: number;
  readonly keyAt: number;
  readonly message: (record: readonly string[]) => string;
}

function readHeader(header: readonly string[], { columns, template }: CheckedOptions): Layout {
  const titles = header.map((title) => title.trim());
  const find = (column: string): number => {
    const index = titles.indexOf(column);
    if (index === -1) throw unreadableFile(`it has no column "${column}"`);
    return index;
  };
  const phoneAt = find(columns.to_phone ?? 'to_phone');
  const keyAt = columns.key === undefined ? titles.indexOf('key') : find(columns.key);
  const layout = { width: titles.length, phoneAt, keyAt };
  if (template !== undefined) return { ...layout, message: template(find) };
  const messageAt = find(columns.message ?? 'message');
  return { ...layout, message: (record) => record[messageAt] ?? '' };
}

function toRow({ record, info }: ParsedLine, { width, phoneAt, keyAt, message }: Layout): BulkRow {
  const key = record[keyAt] || String(info.lines);
  if (record.length !== width) {
    return { key, invalid: `line ${info.lines} has ${record.length} columns instead of ${width}` };
  }
  return { key, to_phone: record[phoneAt] ?? '', message: message(record) };
}

interface UnreadableLine {
  readonly line: number;
  readonly row: UnreadableRow;
}

/** Without the parser's message, which may quote the line. */
function toUnreadable(error: CsvError | undefined): UnreadableLine {
  const line = error !== undefined && 'lines' in error ? Number(error.lines) : 0;
  const invalid = `line ${line} is not CSV: ${error?.code ?? 'unknown error'}`;
  return { line, row: { key: String(line), invalid } };
}

/** Takes those up to a line off the list. */
function takeUntil(unreadable: UnreadableLine[], line: number): UnreadableLine[] {
  const later = unreadable.findIndex((one) => one.line > line);
  return unreadable.splice(0, later === -1 ? unreadable.length : later);
}

const unclosedQuote: ReadonlySet<string> = new Set(['CSV_MAX_RECORD_SIZE', 'CSV_QUOTE_NOT_CLOSED']);

function openQuote(line: number): BulkError {
  return unreadableFile(`a quote that opens after line ${line} is not closed`);
}

function unreadableFile(problem: string): BulkError {
  return new BulkError('csv_unreadable', `The CSV file cannot be read: ${problem}.`);
}
