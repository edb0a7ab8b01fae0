/** Colours and cursor moves of a terminal (ECMA-48). Removed whole, since `[31m` would stay otherwise. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const terminalSequence = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g;

/** Control characters and line breaks. */
const breaking = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
/** Invisible characters: marks that reorder text or have no width, lone surrogates, private use. */
const invisible = /[\p{Cf}\p{Cs}\p{Co}]/gu;

/**
 * Makes a foreign text one line that is safe in a log and on a terminal: it cannot break the line, set colours or change
 * the reading order.
 */
export function printableText(text: string): string {
  return text.replace(terminalSequence, '').replace(invisible, '').replace(breaking, ' ').trim();
}

/** A foreign name in quotes, short, and safe in a log and on a terminal. */
export function quotedName(name: string): string {
  return printableText(JSON.stringify(name.slice(0, 100)));
}
