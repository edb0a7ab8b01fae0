/** Colours and cursor moves of a terminal (ECMA-48), removed whole: `[31m` would stay otherwise. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const terminalSequence = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g;

const breaking = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
/** Invisible characters: marks that reorder text or have no width, lone surrogates, private use. */
const invisible = /[\p{Cf}\p{Cs}\p{Co}]/gu;

/** Makes a foreign text one line that cannot break a log, set colours, or change the reading order. */
export function printableText(text: string): string {
  return text.replace(terminalSequence, '').replace(invisible, '').replace(breaking, ' ').trim();
}

/** Short, in quotes, and safe as {@link printableText}. */
export function quotedName(name: string): string {
  return printableText(JSON.stringify(name.slice(0, 100)));
}
