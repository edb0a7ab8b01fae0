import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { BulkError } from '../errors/errors.ts';
import type { Text } from '../errors/remedies.ts';
import {
  defineOptions,
  invalidOption,
  nested,
  type OptionTable,
  optional,
  text,
  value,
} from '../internal/options.ts';
import { printableText } from '../internal/printable-text.ts';
import type { BulkRow } from './bulk-rows.ts';

/** Options of {@link readBulkCsv}. */
export interface BulkCsvOptions {
  /** The names of the columns in the header. */
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
  /**
   * The text of each message: `{name}` is the value of the column `name`, and `{name|customer}` is `customer` where that is
   * empty. Without such a default, a row with an empty value is `invalid`. `{{` and `}}` are braces.
   */
  template?: string | undefined;
  /** @default ',' */
  delimiter?: string | undefined;
}

/** A Node or web stream, chunks of text or bytes, or the whole text. @inline */
export type CsvSource =
  | string
  | AsyncIterable<string | Uint8Array>
  | Iterable<string | Uint8Array>
  | ReadableStream<Uint8Array>;

const readOptions = defineOptions('readBulkCsv', {
  columns: nested({ to_phone: optional(text()), message: optional(text()), key: optional(text()) }),
  template: optional(checkTemplate),
  delimiter: value(checkDelimiter, { default: ',' }),
} satisfies OptionTable<BulkCsvOptions>);

/**
 * Longest row and longest line, in characters or bytes. An unclosed quote would otherwise collect the rest of the file, and for each misplaced quote
 * the parser copies as much as its longest row.
 */
const maxLength = 1024 * 1024;

/**
 * Reads the rows of a CSV file (RFC 4180, UTF-8, with a header) for `sendBulk`, without keeping it in memory. A line
 * that cannot be read, also one that is not UTF-8, becomes an `invalid` row with its line number, and the others go on.
 * Only a quote that is never closed and a row of more than 1 MiB end the reading.
 *
 * @throws {BulkError} `csv_unreadable` from the iteration: before the first row if there is no header, if it lacks a
 *   column that `columns` or the template names, or if two columns have one title; later at an open quote, and at a row that is too long
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
  const settings = readOptions(options);
  const template = settings.template === undefined ? undefined : readTemplate(settings.template);
  return readRows(source, { ...settings, template });
}

type CsvLayout = Omit<ReturnType<typeof readOptions>, 'template'> & {
  readonly template: FillTemplate | undefined;
};

function checkTemplate(template: unknown): string {
  if (typeof template === 'string' && template.trim() !== '') return template;
  throw invalidOption('template must be text.');
}

function checkDelimiter(delimiter: unknown): string {
  if (typeof delimiter === 'string' && /^[^"\r\n]$/.test(delimiter)) return delimiter;
  throw invalidOption('delimiter must be one character, and neither a quote nor a line break.');
}

async function* readRows(source: CsvSource, options: CsvLayout): AsyncGenerator<BulkRow, void, undefined> {
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
    // Otherwise the parser stops at a misplaced quote, which the reader reports.
    relax_quotes: true,
  });
  // An error of the source ends the loop.
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

/** The parser would keep a line of delimiters of any length. */
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

interface ParsedRow {
  readonly record: readonly string[];
  /** With the line break after it; of `\r\n` only the `\r`. */
  readonly raw: string;
}

type LineReader = ReturnType<typeof lineReader>;

function lineReader({ columns, template, delimiter }: CsvLayout) {
  let layout: Layout | undefined;
  let line = 0;
  return {
    get line(): number {
      return line;
    },

    /** `undefined` for the header and for an empty line. */
    read({ record, raw }: ParsedRow): BulkRow | undefined {
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
      // The key in such a line cannot be trusted.
      if (damage !== undefined) return { key: String(line), invalid: `${place}: ${damage}` };
      if (record.length !== layout.width) {
        return { key, invalid: `${place}: ${record.length} columns instead of ${layout.width}` };
      }
      const { text: message, empty } = layout.message(record);
      if (empty !== undefined) return { key, invalid: `${place}: the column ${empty} is empty` };
      return { key, to_phone: record[layout.phoneAt] ?? '', message };
    },

    end(): void {
      if (layout === undefined) throw unreadableFile('it has no header');
    },
  };
}

/** Damage that makes all fields of a row doubtful. */
function damageOf(text: string, record: readonly string[], delimiter: string): string | undefined {
  // The parser replaces bytes that are not UTF-8 by U+FFFD, which no customer should get.
  if (text.includes('\uFFFD')) return 'not UTF-8';
  return isWrittenAs(text, record, delimiter) ? undefined : 'a quote is in the wrong place';
}

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
  readonly message: (record: readonly string[]) => FilledText;
}

/** The text of a message. */
interface FilledText {
  readonly text: string;
  /** The quoted title of a column without a value, which the template needs. */
  readonly empty?: string | undefined;
}

function readHeader(
  header: readonly string[],
  { columns, template }: Pick<CsvLayout, 'columns' | 'template'>,
): Layout {
  const titles = header.map((title) => title.trim());
  const find = (column: string): number => {
    const index = titles.indexOf(column);
    if (index === -1) throw missingColumn(column, titles);
    return index;
  };
  const phoneAt = find(columns.to_phone ?? 'to_phone');
  // Only after that column was found: before, the first line may be a customer's data.
  refuseRepeated(titles);
  const keyAt = columns.key === undefined ? titles.indexOf('key') : find(columns.key);
  const layout = { width: titles.length, phoneAt, keyAt };
  if (template !== undefined) return { ...layout, message: template(find, titles) };
  const messageAt = find(columns.message ?? 'message');
  return { ...layout, message: (record) => ({ text: record[messageAt] ?? '' }) };
}

/** Without a header the first line is a customer's data, and is not shown. */
function missingColumn(column: string, titles: readonly string[]): BulkError {
  const missing = `it has no column "${column}"`;
  if (titles.some((title) => /\d{5}|@/.test(title))) {
    return unreadableFile(
      `${missing}: its first line holds no titles, but data`,
      'Add a line of titles above it.',
    );
  }
  const [only = '', ...others] = titles;
  const used = [';', '\t', '|'].find((each) => only.includes(each));
  if (others.length === 0 && used !== undefined) {
    return unreadableFile(
      `${missing}, and its columns are not separated by the delimiter`,
      `Set the delimiter to ${JSON.stringify(used)}.`,
    );
  }
  const shown = titles.slice(0, maxTitles).map((title) => `"${printableText(title).slice(0, 40)}"`);
  const more = titles.length > maxTitles ? ` and ${titles.length - maxTitles} more` : '';
  return unreadableFile(
    `${missing}: its columns are ${shown.join(', ')}${more}`,
    'Name the column that you mean.',
  );
}

const maxTitles = 12;

/** Either of two columns with one title could be meant. Columns without a title cannot be used. */
function refuseRepeated(titles: readonly string[]): void {
  const repeated = titles.find((title, index) => title !== '' && titles.indexOf(title) !== index);
  if (repeated === undefined) return;
  throw unreadableFile(
    `two of its columns have the title "${printableText(repeated).slice(0, 40)}"`,
    'Give each a title of its own.',
  );
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

function unreadableFile(problem: string, remedy?: Text): BulkError {
  return new BulkError('csv_unreadable', `The CSV file cannot be read: ${problem}.`, { remedy });
}

/** Looks up the columns of a template; then fills it in with a line. */
type FillTemplate = (
  indexOf: (column: string) => number,
  titles: readonly string[],
) => (record: readonly string[]) => FilledText;

interface Placeholder {
  readonly title: string;
  readonly at: number;
  /** What stands for an empty value. */
  readonly otherwise: string | undefined;
}

/**
 * Reads `Dear {name}`: a column in braces, with a default behind `|`; `{{` and `}}` are braces. Values are inserted as
 * they are.
 *
 * @throws {ConfigurationError} `invalid_option` for a brace without its other half
 */
function readTemplate(template: string): FillTemplate {
  const parts = template.match(/\{\{|\}\}|\{[^{}]+\}|[{}]|[^{}]+/g) ?? [];
  if (parts.some((part) => part === '{' || part === '}')) {
    throw invalidOption('template has a brace without its other half: write {{ or }} for a brace.');
  }
  return (indexOf, titles) => {
    const pieces = parts.map((part): string | Placeholder => {
      if (part === '{{' || part === '}}') return part.slice(1);
      return part.startsWith('{') ? readPlaceholder(part.slice(1, -1), { indexOf, titles }) : part;
    });
    return (record) => {
      const values = pieces.map((piece) => (typeof piece === 'string' ? piece : valueIn(record, piece)));
      const missing = pieces.find((piece, index) => typeof piece !== 'string' && values[index] === undefined);
      const empty =
        typeof missing === 'object' ? `"${printableText(missing.title).slice(0, 40)}"` : undefined;
      return { text: values.join(''), empty };
    };
  };
}

/** A title may hold a bar itself. */
function readPlaceholder(
  inner: string,
  { indexOf, titles }: { indexOf: (column: string) => number; titles: readonly string[] },
): Placeholder {
  const whole = inner.trim();
  const bar = titles.includes(whole) ? -1 : inner.indexOf('|');
  const title = bar === -1 ? whole : inner.slice(0, bar).trim();
  return { title, at: indexOf(title), otherwise: bar === -1 ? undefined : inner.slice(bar + 1).trim() };
}

function valueIn(record: readonly string[], { at, otherwise }: Placeholder): string | undefined {
  const value = record[at] ?? '';
  return value.trim() === '' ? otherwise : value;
}
