/** Colours and cursor moves of a terminal (ECMA-48): taken out whole, or `[31m` would stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const terminalSequence = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g;

/** Control characters, and what breaks a line. */
const breaking = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
/** What is not seen: marks that reorder text or have no width, halves of characters, private ones. */
const invisible = /[\p{Cf}\p{Cs}\p{Co}]/gu;

/**
 * A text of somebody else's as one line that is safe in a log and on a terminal: it cannot start a new line, colour
 * what follows, or change the order in which it is read.
 */
export function printableText(text: string): string {
  return text.replace(terminalSequence, '').replace(invisible, '').replace(breaking, ' ').trim();
}
