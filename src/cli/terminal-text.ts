import type { OutputStream, Variables } from './context.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Colours a text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

export function paintFor({ env }: { readonly env: Variables }, stream: OutputStream): Paint {
  if (!hasColours(env, stream)) return (_, text) => text;
  // Not imported: loading it takes a tenth of the time that `--help` has.
  const { styleText } = process.getBuiltinModule('node:util');
  // styleText would decide by the streams of the process, not by this one.
  return (style, text) => styleText(style, text, { validateStream: false });
}

/** NO_COLOR beats FORCE_COLOR, which beats what the stream is (no-color.org, force-color.org). */
export function hasColours(env: Variables, stream: OutputStream): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return !['0', 'false'].includes(env.FORCE_COLOR);
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/** The colours that we and `--help` use; nothing that moves, hides or blinks. */
const colour = String.raw`\u001b\[(?:[1-4]|2[2-4]|3[1-79])(?:;(?:[1-4]|2[2-4]))?m`;
/** Control characters, marks that reorder text or have no width, lone surrogates, unassigned characters. */
const invisible = String.raw`[^\P{C}\n\t]|[\p{Zl}\p{Zp}]`;

const pattern = new RegExp(`${colour}|${invisible}`, 'gu');

/**
 * A text that cannot change how a terminal shows other text: invisible characters are written as in JSON (`\u202e`),
 * so JSON keeps its meaning.
 */
export function visibleText(text: string, { hasColours = false } = {}): string {
  return text.replace(pattern, (match) => {
    if (hasColours && match.startsWith('\u001b[')) return match;
    return Array.from({ length: match.length }, (_, unit) => escaped(match.charCodeAt(unit))).join('');
  });
}

function escaped(unit: number): string {
  // The visible rest of a colour.
  if (unit >= 0x20 && unit < 0x7f) return String.fromCharCode(unit);
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
