import { printableText } from '../../../internal/printable-text.ts';
import type { CliContext } from './context.ts';
import { type Paint, paintFor, visibleText } from './terminal-text.ts';

export type Output = ReturnType<typeof openOutput>;

/** Opens the output of a command: results on stdout, as lines for people or JSON for programs; status messages on stderr. */
export function openOutput(
  context: CliContext,
  { format = 'text' }: { readonly format?: 'text' | 'json' | undefined } = {},
) {
  const paintResult = paintFor(context, context.stdout);
  const paintStatus = paintFor(context, context.stderr);
  return {
    format,
    /** Prints the one result of a command: the value as JSON, or the lines that describe it. */
    result(value: object, describe: (paint: Paint) => readonly string[]): void {
      const lines = format === 'json' ? [JSON.stringify(value, null, 2)] : describe(paintResult);
      context.stdout.write(lines.map((line) => `${line}\n`).join(''));
    },
    /** Prints one of many results: a line of JSON, or a line of text. */
    item(value: object, describe: (paint: Paint) => string): void {
      context.stdout.write(`${format === 'json' ? JSON.stringify(value) : describe(paintResult)}\n`);
    },
    /** Prints a text whose every byte counts, such as one that is signed; as JSON the value. */
    exact(text: string, value: object): void {
      if (format === 'json') {
        this.result(value, () => []);
        return;
      }
      if (!context.stdout.isTTY) {
        // In a file, a line break would become part of the body that is posted.
        context.stdout.writeExact(text);
        return;
      }
      context.stdout.write(`${text}\n`);
      if (visibleText(text) !== text)
        this.warn(
          'Some characters are invisible and shown as \\u…: write it to a file to get the exact text.',
        );
    },
    status(describe: string | ((paint: Paint) => string)): void {
      context.stderr.write(`${typeof describe === 'string' ? describe : describe(paintStatus)}\n`);
    },
    warn(text: string): void {
      context.stderr.write(`${paintStatus('yellow', 'warning:')} ${printableText(text)}\n`);
    },
  };
}

/** Counts items by the value of a member: `12 ok, 1 fail`. */
export function countBy<Name extends string>(
  items: readonly Readonly<Record<Name, string>>[],
  name: Name,
): string {
  const groups = Map.groupBy(items, (item) => item[name]);
  return [...groups].map(([value, group]) => `${group.length} ${value}`).join(', ');
}
