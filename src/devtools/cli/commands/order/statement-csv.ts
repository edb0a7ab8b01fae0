import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { printableText } from '../../../../internal/printable-text.ts';
import type { StatementRow } from '../../../../orders/reconcile.ts';
import { CliError } from '../../terminal/context.ts';

/** The columns of a statement: the id of an order is one of them. */
export const columnNames = ['id', 'amount', 'hash'] as const;
/** The title of each column. */
export type ColumnTitles = Partial<Record<(typeof columnNames)[number], string>>;

/** An unclosed quote would otherwise collect the rest of the file. */
const maxLength = 1024 * 1024;

/**
 * Reads the rows of a statement of the service from CSV (RFC 4180, UTF-8, with a header), without keeping it in memory. A
 * row that cannot be read, or names no order, ends the reading: a statement that is half read proves nothing.
 *
 * @throws {CliError} from the iteration: it is not UTF-8, a column is missing or there twice, or a row cannot be read
 */
export async function* readStatement(
  source: AsyncIterable<Uint8Array>,
  { id: idTitle = 'partner_order_id', ...others }: ColumnTitles,
): AsyncGenerator<StatementRow, void, undefined> {
  const parser = parse({
    bom: true,
    max_record_size: maxLength,
    skip_empty_lines: true,
    trim: true,
  });
  const input = Readable.from(decoded(source));
  input.on('error', (error) => parser.destroy(error));
  input.pipe(parser);
  let places: number[] | undefined;
  let row = 0;
  try {
    // Sound: without `columns` the parser gives lists of texts.
    for await (const cells of parser as AsyncIterable<string[]>) {
      row++;
      if (places === undefined) {
        const titles = [idTitle, others.amount, others.hash];
        places = titles.map((title) => (title === undefined ? -1 : columnOf(title, cells)));
        continue;
      }
      const [id = '', amount, hash] = places.map((place) => cells[place]);
      if (id === '') throw unreadable(`row ${row} has no "${idTitle}"`);
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

async function* decoded(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Uint8Array) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw unreadable('it is not UTF-8: export it as UTF-8');
    }
  };
  for await (const chunk of source) yield decode(chunk);
  yield decode();
}

function columnOf(title: string, header: readonly string[]): number {
  const index = header.indexOf(title);
  if (index !== header.lastIndexOf(title)) throw unreadable(`it has the column "${title}" twice`);
  if (index !== -1) return index;
  const known = header.slice(0, 12).map((other) => `"${printableText(other).slice(0, 40)}"`);
  const hint = header.length === 1 ? ' (commas separate its columns)' : '';
  throw unreadable(`it has no column "${title}": its first line is ${known.join(', ')}${hint}`);
}

function unreadable(reason: string): CliError {
  return new CliError(`The statement cannot be used: ${reason}.`);
}
