import { printableText } from './printable-text.ts';

/** A name of somebody else's in quotes, short, and safe in a log and on a terminal. */
export function quotedName(name: string): string {
  return printableText(JSON.stringify(name.slice(0, 100)));
}
