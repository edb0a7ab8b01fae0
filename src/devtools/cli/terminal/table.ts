import truncatedWidth from 'fast-string-truncated-width';
import { printableText } from '../../../internal/printable-text.ts';
import type { CliContext } from './context.ts';
import type { Paint, Style } from './terminal-text.ts';

/** A column of a table: its title, and what it shows of a row. */
export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  /** Whether the column is never cut: a part of a link or an id is of no use. */
  readonly isWhole?: boolean;
  readonly style?: (row: Row) => Style | undefined;
}

const gap = '  ';
/** A column that is cut keeps at least this much. */
const leastWidth = 6;

/**
 * Rows below their titles. On a terminal the widest columns are cut so that a row is one line; a cell that is never cut
 * and too long for its column stands on a line of its own before the rest of its row.
 */
export function tableLines<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { stdout, paint }: Pick<CliContext, 'stdout'> & { paint: Paint },
): string[] {
  const cells = rows.map((row) => columns.map(({ text }) => printableText(text(row))));
  const natural = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((line) => widthOf(line[index] ?? ''))),
  );
  // A terminal without a size says 0.
  const room = stdout.isTTY ? stdout.columns || 80 : Number.POSITIVE_INFINITY;
  const widths = narrow(natural, columns, room - gap.length * (columns.length - 1));
  const line = (texts: readonly string[], paintCell: (text: string, index: number) => string) => {
    let start = 0;
    const shown = texts.map((text, index) => {
      const width = widths[index] ?? 0;
      const cell = columns[index]?.isWhole ? text : cut(text, width);
      const isLast = index === texts.length - 1;
      const excess = widthOf(cell) - width;
      start += width + gap.length;
      if (excess > 0 && !isLast) return `${paintCell(cell, index)}\n${' '.repeat(start)}`;
      return paintCell(cell, index) + (isLast ? '' : ' '.repeat(-excess) + gap);
    });
    return shown.join('').trimEnd();
  };
  return [
    line(
      columns.map(({ title }) => title),
      (text) => paint('dim', text),
    ),
    ...cells.map((texts, row) =>
      line(texts, (text, index) => {
        // Sound: a line of cells for each row.
        const style = columns[index]?.style?.(rows[row] as Row);
        return style === undefined ? text : paint(style, text);
      }),
    ),
  ];
}

/** Narrows the widest columns that may be cut, until all fit or none can become narrower. */
function narrow(natural: readonly number[], columns: readonly Column<never>[], room: number): number[] {
  const widths = [...natural];
  if (sum(widths) > room) {
    // One long id would push every other column off the terminal.
    const most = Math.max(leastWidth, Math.floor(room / 3));
    for (const [index, width] of natural.slice(0, -1).entries()) {
      if (columns[index]?.isWhole) widths[index] = Math.min(width, most);
    }
  }
  for (let excess = sum(widths) - room; excess > 0; excess--) {
    const [widest] = [...widths.entries()]
      .filter(([index, width]) => columns[index]?.isWhole !== true && width > leastWidth)
      .toSorted(([, one], [, other]) => other - one);
    if (widest === undefined) break;
    widths[widest[0]] = widest[1] - 1;
  }
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function widthOf(text: string): number {
  return truncatedWidth(text).width;
}

function cut(text: string, width: number): string {
  const { index, ellipsed } = truncatedWidth(text, { limit: width, ellipsis: '…' });
  return ellipsed ? `${text.slice(0, index)}…` : text;
}
