import { printableText } from '../internal/printable-text.ts';
import type { CliContext } from './context.ts';
import { emptyLine } from './secret-guard.ts';
import { type Paint, paintFor, visibleText } from './terminal-text.ts';

/** Results as lines for people, or as JSON for programs. */
export type Format = 'text' | 'json';

/** Where a command prints: results on stdout, status messages on stderr. */
export interface Output {
  readonly format: Format;
  /** Prints the one result of a command: the value as JSON, or the lines that describe it. */
  result(value: object, describe: (paint: Paint) => readonly string[]): void;
  /** Prints one of many results: a line of JSON, or a line of text. */
  item(value: object, describe: (paint: Paint) => string): void;
  /** Prints exactly this on stdout, unless that is a terminal. */
  raw(text: string): void;
  /** Prints a text whose every byte counts, such as one that is signed; as JSON the value. */
  exact(text: string, value: object): void;
  status(describe: string | ((paint: Paint) => string)): void;
  warn(text: string): void;
}

export function openOutput(context: CliContext, { format }: { format?: Format | undefined } = {}): Output {
  const paintResult = paintFor(context, context.stdout);
  const paintStatus = paintFor(context, context.stderr);
  return {
    format: format ?? 'text',
    result(value, describe) {
      if (format === 'json') context.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
      else
        context.stdout.write(
          describe(paintResult)
            .map((line) => `${line}\n`)
            .join(''),
        );
    },
    item(value, describe) {
      context.stdout.write(`${format === 'json' ? JSON.stringify(value) : describe(paintResult)}\n`);
    },
    raw(text) {
      if (!context.stdout.isTTY) {
        context.stdout.writeExact(text);
        return;
      }
      context.stdout.write(text);
      if (visibleText(text) !== text)
        this.warn(
          'Some characters are invisible and shown as \\u…: write it to a file to get the exact text.',
        );
    },
    exact(text, value) {
      if (format === 'json') this.result(value, () => []);
      // In a file, a line break would become part of the body that is posted.
      else this.raw(context.stdout.isTTY ? `${text}\n` : text);
    },
    status(describe) {
      context.stderr.write(`${typeof describe === 'string' ? describe : describe(paintStatus)}\n`);
    },
    warn: (text) =>
      void context.stderr.write(`${paintStatus('yellow', 'warning:')} ${printableText(text)}\n`),
  };
}

/** Shows the progress of a long command: on a terminal in one line that changes, otherwise a line every ten seconds. */
export interface Progress {
  readonly isTerminal: boolean;
  update(text: string): void;
  stop(): void;
}

const plainIntervalMs = 10_000;

export function startProgress({ stderr, now, env }: CliContext): Progress {
  const isTerminal = stderr.isTTY === true && env.TERM !== 'dumb';
  let lastAt = now();
  return {
    isTerminal,
    update(text) {
      if (isTerminal) {
        // Cut: a line that wrapped could not be cleared.
        stderr.write(`${emptyLine}${text.slice(0, Math.max(0, (stderr.columns || 80) - 1))}`);
        return;
      }
      if (now() - lastAt < plainIntervalMs) return;
      lastAt = now();
      stderr.write(`${text}\n`);
    },
    stop() {
      if (isTerminal) stderr.write(emptyLine);
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
