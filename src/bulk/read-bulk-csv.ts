import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { BulkError } from '../errors/bulk-error.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { invalidOption } from '../options/check-values.ts';
import type { BulkRow } from './bulk-row.ts';
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

/**
 * Longest row and longest line, in characters or bytes. An unclosed quote would otherwise collect the rest of the file,
 * and for each quote in the wrong place the parser copies as much as its longest row.
 */
const maxLength = 1024 * 1024;

/**
 * Reads the rows of a CSV file (RFC 4180, UTF-8, with a header) for `sendBulk`, without keeping it in memory. A line
 * that cannot be read, also one that is not UTF-8, becomes an `invalid` row with its line number, and the others go on.
 * Only a quote that is never closed and a row of more than 1 MiB end the reading.
 *
 * @throws {BulkError} `csv_unreadable` from the iteration: before the first row if there is no header, or if it lacks a
 *   column that `columns` or the template names; later at an open quote, and at a row that is too long
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
  if (typeof delimiter !== 'string' || !/^[^"\r\n]$/.test(delimiter))
    throw invalidOption('delimiter must be one character, and neither a quote nor a line break.');
  return readRows(source, { columns, template, delimiter });
}

interface CheckedOptions {
  readonly columns: NonNullable<BulkCsvOptions['columns']>;
  readonly template: FillTemplate | undefined;
  readonly delimiter: string;
}

async function* readRows(
  source: CsvSource,
  options: CheckedOptions,
): AsyncGenerator<BulkRow, void, undefined> {
  const reader = lineReader(options);
  const parser = parse({
    bom: true,
    delimiter: options.delimiter,
    max_record_size: maxLength,
    // Sound: with `raw` it gets such records, and the parser passes on what it returns. The parser's types know neither.
    on_record: reader.read as never,
    raw: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    // Otherwise the parser stops at a quote in the wrong place. The reader reports it.
    relax_quotes: true,
  });
  // An error of the source ends the parser, and so the loop.
  const input = Readable.from(boundedLines(typeof source === 'string' ? [source] : source, reader));
  input.on('error', (error) => parser.destroy(error));
  input.pipe(parser);
  try {
    // Sound: see `on_record`.
    yield* parser as AsyncIterable<BulkRow>;
    reader.end();
  } catch (error) {
    throw error instanceof CsvError ? unreadableRow(error, reader) : error;
  } finally {
    input.destroy();
    parser.destroy();
  }
}

/** The parser itself would keep a line of delimiters of any length. */
async function* boundedLines(
  source: Exclude<CsvSource, string> | readonly string[],
  reader: LineReader,
): AsyncGenerator<Uint8Array, void, undefined> {
  const partLength = 64 * 1024;
  let length = 0;
  for await (const piece of source) {
    // Throws for what is neither bytes nor text.
    const bytes = piece instanceof Uint8Array ? piece : Buffer.from(piece);
    for (let at = 0; at < bytes.length; at += partLength) {
      const part = bytes.subarray(at, at + partLength);
      const lastBreak = Math.max(part.lastIndexOf(lineFeed), part.lastIndexOf(carriageReturn));
      length = lastBreak === -1 ? length + part.length : part.length - lastBreak - 1;
      if (length > maxLength) throw rowTooLong(reader);
      yield part;
    }
  }
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** A record of the parser with `raw: true`. */
interface ParsedRow {
  readonly record: readonly string[];
  /** Of `\r\n` behind it, only the `\r`. */
  readonly raw: string;
}

interface LineReader {
  /** The last line of the last record. */
  readonly line: number;
  /** `undefined` for the header and for an empty line. */
  read(row: ParsedRow): BulkRow | undefined;
  /** Refuses a file without a header. */
  end(): void;
}

/** Makes rows of what the parser reads, in its order. */
function lineReader({ columns, template, delimiter }: CheckedOptions): LineReader {
  let layout: Layout | undefined;
  let line = 0;
  return {
    get line() {
      return line;
    },

    read({ record, raw }) {
      const text = raw.replace(/[\r\n]$/, '');
      const first = line + 1;
      line += text.split(/\r\n|\r|\n/).length;
      if (text === '') return undefined;
      const damage = damageOf(text, record, delimiter);
      if (layout === undefined) {
        if (damage !== undefined) throw unreadableFile(`its header cannot be read: ${damage}`);
        layout = readHeader(record, { columns, template });
        return undefined;
      }
      const key = record[layout.keyAt] || String(line);
      const place = first === line ? `line ${line}` : `lines ${first} to ${line}`;
      // A key in such a line may be anything.
      if (damage !== undefined) return { key: String(line), invalid: `${place}: ${damage}` };
      if (record.length !== layout.width) {
        return { key, invalid: `${place}: ${record.length} columns instead of ${layout.width}` };
      }
      return { key, to_phone: record[layout.phoneAt] ?? '', message: layout.message(record) };
    },

    end() {
      if (layout === undefined) throw unreadableFile('it has no header');
    },
  };
}

/** What makes all fields of a row doubtful. */
function damageOf(text: string, record: readonly string[], delimiter: string): string | undefined {
  // The parser puts U+FFFD in place of bytes that are no UTF-8. No customer should get that.
  if (text.includes('\uFFFD')) return 'not UTF-8';
  return isWrittenAs(text, record, delimiter) ? undefined : 'a quote is in the wrong place';
}

/** Whether a text is what these fields look like in CSV. A quote in the wrong place is read, but not written. */
function isWrittenAs(text: string, record: readonly string[], delimiter: string): boolean {
  if (!text.includes('"')) return true;
  let at = 0;
  for (const field of record) {
    const isQuoted = text[at] === '"';
    const written = isQuoted ? `"${field.replaceAll('"', '""')}"` : field;
    if ((!isQuoted && field.includes('"')) || !text.startsWith(written, at)) return false;
    at += written.length + delimiter.length;
  }
  return at - delimiter.length === text.length;
}

interface Layout {
  readonly width: number;
  readonly phoneAt: number;
  readonly keyAt: number;
  readonly message: (record: readonly string[]) => string;
}

function readHeader(
  header: readonly string[],
  { columns, template }: Pick<CheckedOptions, 'columns' | 'template'>,
): Layout {
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

/** Without the parser's error, whose message may quote the row. */
function unreadableRow({ code }: CsvError, reader: LineReader): BulkError {
  return code === 'CSV_QUOTE_NOT_CLOSED'
    ? unreadableFile(`a quote that opens after line ${reader.line} is not closed`)
    : rowTooLong(reader);
}

function rowTooLong({ line }: LineReader): BulkError {
  return unreadableFile(`a row after line ${line} is longer than 1 MiB, or a quote in it is not closed`);
}

function unreadableFile(problem: string): BulkError {
  return new BulkError('csv_unreadable', `The CSV file cannot be read: ${problem}.`);
}
