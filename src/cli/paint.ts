import type { OutputStream, Variables } from './context.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Colours a text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

/** How to colour what goes to a stream. */
export function paintFor({ env }: { readonly env: Variables }, stream: OutputStream): Paint {
  if (!hasColours(env, stream)) return (_, text) => text;
  // Not imported: loading it takes a tenth of the time that `--help` has.
  const { styleText } = process.getBuiltinModule('node:util');
  // Whether to colour is decided here, for the stream in hand; styleText would ask those of the process.
  return (style, text) => styleText(style, text, { validateStream: false });
}

/** NO_COLOR beats FORCE_COLOR, which beats what the stream is (no-color.org, force-color.org). */
export function hasColours(env: Variables, stream: OutputStream): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return !['0', 'false'].includes(env.FORCE_COLOR);
  return stream.isTTY === true && env.TERM !== 'dumb';
}
