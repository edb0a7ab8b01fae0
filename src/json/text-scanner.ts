/**
 * Finds places in a JSON text that `JSON.parse` has already accepted. Each function reads the text once, from
 * left to right, without regular expressions; given a text that is not JSON the answer is unspecified, but the
 * scan still ends.
 */

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const space = 0x20;
const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Half-open range of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A member of an object: where its name begins (at the quote) and where its value lies. */
export interface MemberSpan {
  readonly start: number;
  readonly value: Span;
}

/**
 * The members with this name directly in the object that begins at or after `from`, however the name is
 * escaped. Names are ASCII letters, digits and underscores.
 */
export function findMembers(text: string, name: string, from = 0): MemberSpan[] {
  const found: MemberSpan[] = [];
  let index = skipSpace(text, from) + 1;
  while (index < text.length) {
    index = skipSpace(text, index);
    if (text.charCodeAt(index) !== quote) break;
    const nameEnd = stringEnd(text, index);
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = valueEnd(text, start);
    if (spells(text, index + 1, nameEnd - 1, name)) found.push({ start: index, value: { start, end } });
    index = skipSpace(text, end);
    if (text.charCodeAt(index) !== comma) break;
    index++;
  }
  return found;
}

/** The elements of the array that begins at or after `from`: where element `wanted` lies. */
export function findElement(text: string, wanted: number, from = 0): Span | undefined {
  let index = skipSpace(text, skipSpace(text, from) + 1);
  for (let element = 0; index < text.length; element++) {
    if (text.charCodeAt(index) === closeBracket) return undefined;
    const end = valueEnd(text, index);
    if (element === wanted) return { start: index, end };
    index = skipSpace(text, skipSpace(text, end) + 1);
  }
  return undefined;
}

/** The first index at or after `index` that is not JSON white space. */
export function skipSpace(text: string, index: number): number {
  let at = index;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** The end of the last character before `index` that is not JSON white space. */
export function skipSpaceBack(text: string, index: number): number {
  let at = index;
  while (at > 0 && isSpace(text.charCodeAt(at - 1))) at--;
  return at;
}

/** The end of the string that opens at `open`. */
export function stringEnd(text: string, open: number): number {
  for (let index = open + 1; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === quote) return index + 1;
    if (unit === backslash) index++;
  }
  return text.length;
}

function valueEnd(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === quote) return stringEnd(text, start);
  if (first === openBrace || first === openBracket) return nestedEnd(text, start);
  let index = start;
  for (; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === comma || unit === closeBrace || unit === closeBracket || isSpace(unit)) break;
  }
  return index;
}

function nestedEnd(text: string, start: number): number {
  let depth = 0;
  for (let index = start; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === quote) index = stringEnd(text, index) - 1;
    else if (unit === openBrace || unit === openBracket) depth++;
    else if ((unit === closeBrace || unit === closeBracket) && --depth === 0) return index + 1;
  }
  return text.length;
}

/** Whether the inside of a string is `name`, with any of its characters written as `\u00XX`. */
function spells(text: string, start: number, end: number, name: string): boolean {
  if (end - start === name.length) return text.startsWith(name, start);
  let index = start;
  for (let position = 0; position < name.length; position++) {
    const wanted = name.charCodeAt(position);
    if (index < end && text.charCodeAt(index) === wanted) {
      index++;
      continue;
    }
    if (index + 6 > end || !text.startsWith('\\u', index)) return false;
    if (Number.parseInt(text.slice(index + 2, index + 6), 16) !== wanted) return false;
    index += 6;
  }
  return index === end;
}

function isSpace(unit: number): boolean {
  return unit === space || unit === lineFeed || unit === carriageReturn || unit === tab;
}
