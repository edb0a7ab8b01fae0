import { escapeInvisible, hiddenCharacters } from '../../../internal/printable-text.ts';
import type { OutputStream, Variables } from './context.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

/** Colours a text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

export function paintFor({ env }: { readonly env: Variables }, stream: OutputStream): Paint {
  if (!hasColours(env, stream)) return (_, text) => text;
  // An import would take a tenth of the time that `--help` has.
  const { styleText } = process.getBuiltinModule('node:util');
  // styleText would decide by the streams of the process, not by this one.
  return (style, text) => styleText(style, text, { validateStream: false });
}

/** NO_COLOR beats FORCE_COLOR, which beats what the stream is; empty, both say nothing (no-color.org, force-color.org). */
export function hasColours(env: Variables, stream: OutputStream): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return !['0', 'false'].includes(env.FORCE_COLOR);
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/** A style that we and `--help` use; nothing that moves, hides or blinks. */
const style = '[1-4]|2[2-4]|3[1-79]';

/** The sequence that sets styles. A part may be empty: stricli writes italics as `ESC[;;3m`. */
const styleSequence = String.raw`\u001b\[(?:(?:${style})?;)*(?:${style})m`;

const pattern = new RegExp(`${styleSequence}|${hiddenCharacters}`, 'gu');

/**
 * A text that cannot change how a terminal shows other text: invisible characters are written as in JSON (`\u202e`),
 * so JSON keeps its meaning.
 */
export function visibleText(text: string, { hasColours = false } = {}): string {
  if (!hasColours) return escapeInvisible(text);
  return text.replace(pattern, (match) => (match.startsWith('\u001b[') ? match : escapeInvisible(match)));
}
