import { printableText } from '../../redaction/printable-text.ts';
import type { CliContext } from '../context/cli-context.ts';
import { type Paint, paintFor } from './paint.ts';

/** Results as lines for people, or as JSON for programs. */
export type Format = 'text' | 'json';

/** Where a command's words go: results to stdout, talk to stderr. */
export interface Output {
  readonly format: Format;
  /** Prints the one result of a command: the value as JSON, or the lines that describe it. */
  result(value: object, describe: (paint: Paint) => readonly string[]): void;
  /** Prints one of many results: a line of JSON, or a line of text. */
  item(value: object, describe: (paint: Paint) => string): void;
  /** Prints exactly this on stdout. */
  raw(text: string): void;
  /** Says something beside the results. */
  say(describe: string | ((paint: Paint) => string)): void;
  warn(text: string): void;
}

export function openOutput(context: CliContext, { format }: { format?: Format | undefined } = {}): Output {
  const paintResult = paintFor(context, context.stdout);
  const paintTalk = paintFor(context, context.stderr);
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
    raw: (text) => void context.stdout.write(text),
    say(describe) {
      context.stderr.write(`${typeof describe === 'string' ? describe : describe(paintTalk)}\n`);
    },
    warn: (text) => void context.stderr.write(`${paintTalk('yellow', 'warning:')} ${printableText(text)}\n`),
  };
}
