/** Colours and cursor moves of a terminal (ECMA-48), removed whole: `[31m` would stay otherwise. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const terminalSequence = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g;

const breaking = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
/** Invisible characters: marks that reorder text or have no width, lone surrogates, private use. */
const invisible = /[\p{Cf}\p{Cs}\p{Co}]/gu;

/** Control characters, marks that reorder text or have no width, lone surrogates, unassigned characters. */
export const hiddenCharacters = String.raw`[^\P{C}\n\t]|[\p{Zl}\p{Zp}]`;
const hiddenPattern = new RegExp(hiddenCharacters, 'gu');

/** Writes invisible characters as in JSON (`\u202e`): they cannot change how other text is shown. */
export function escapeInvisible(text: string, pattern = hiddenPattern): string {
  return text.replace(pattern, (match) =>
    Array.from({ length: match.length }, (_, unit) => escaped(match.charCodeAt(unit))).join(''),
  );
}

function escaped(unit: number): string {
  // The visible rest of a colour.
  if (unit >= 0x20 && unit < 0x7f) return String.fromCharCode(unit);
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

/**
 * Makes a foreign text, such as the name of a file, one line that cannot break a log, set colours, or change the
 * reading order. Blanks become one space; what is invisible is shown, as two different names must not look alike.
 */
export function printableText(text: string): string {
  return escapeInvisible(text.replace(/\s+/g, blanksOnly)).trim();
}

/** A byte order mark counts as a blank, and is invisible. */
function blanksOnly(blanks: string): string {
  return blanks.replace(/[^\ufeff]+/g, ' ');
}

/** Removes what is invisible, from a text of which no single character counts. */
export function plainLine(text: string): string {
  return text.replace(terminalSequence, '').replace(invisible, '').replace(breaking, ' ').trim();
}

/** Short, in quotes, and safe as {@link printableText}. */
export function quotedName(name: string): string {
  return printableText(JSON.stringify(name.slice(0, 100)));
}

/** Writes the decimal digits of all scripts as `0` to `9` (`٤٩٣` becomes `493`) and removes invisible characters. */
export function latinDigits(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\p{Nd}/gu, (digit) => String(digitValue(digit.codePointAt(0) ?? 0)));
}

/** Unicode has decimal digits only in whole rows from zero to nine (its stability policy). */
function digitValue(codePoint: number): number {
  let zero = codePoint;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return (codePoint - zero) % 10;
}
