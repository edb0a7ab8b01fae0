/**
 * Finds places in a JSON text that `JSON.parse` has accepted, in linear time. For any other text the result is
 * unspecified, but the scan still ends.
 */

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const space = 0x20;
/** The one bit in which a bracket differs from a brace. */
const braceBit = 0x20;

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A member of an object: where its name begins (at the quote), and its value. */
export interface MemberSpan {
  readonly start: number;
  readonly value: Span;
}

/**
 * The members with this name, in any spelling, of the object that begins at or after `from`; all of them without a
 * name.
 */
export function findMembers(text: string, name: string | undefined, from = 0): MemberSpan[] {
  const found: MemberSpan[] = [];
  let index = skipSpace(text, from) + 1;
  while (index < text.length) {
    index = skipSpace(text, index);
    if (text.charCodeAt(index) !== quote) break;
    const nameEnd = stringEnd(text, index);
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = valueEnd(text, start);
    if (name === undefined || spells(text, index + 1, nameEnd - 1, name)) {
      found.push({ start: index, value: { start, end } });
    }
    index = skipSpace(text, end);
    if (text.charCodeAt(index) !== comma) break;
    index++;
  }
  return found;
}

export function findElement(text: string, wanted: number, from = 0): Span | undefined {
  let index = skipSpace(text, skipSpace(text, from) + 1);
  for (let element = 0; index < text.length; element++) {
    if (text.charCodeAt(index) === closeBracket) return undefined;
    const end = valueEnd(text, index);
    if (element === wanted) return { start: index, end };
    index = skipSpace(text, end);
    if (text.charCodeAt(index) !== comma) return undefined;
    index = skipSpace(text, index + 1);
  }
  return undefined;
}

/** In JSON only white space is at or below U+0020. */
function skipSpace(text: string, index: number): number {
  let at = index;
  while (at < text.length && text.charCodeAt(at) <= space) at++;
  return at;
}

/** Where the string ends that begins at `open`. */
export function stringEnd(text: string, open: number): number {
  const { length } = text;
  // indexOf is faster than our own loop, and few strings hold an escaped quote.
  const first = text.indexOf('"', open + 1);
  if (text.charCodeAt(first - 1) !== backslash) return first === -1 ? length : first + 1;
  for (let index = open + 1; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === quote) return index + 1;
    if (unit === backslash) index++;
  }
  return length;
}

function valueEnd(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === quote) return stringEnd(text, start);
  if (first === openBrace || first === openBracket) return nestedEnd(text, start);
  let index = start;
  for (; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === comma || unit === closeBrace || unit === closeBracket || unit <= space) break;
  }
  return index;
}

/** Brackets need no matching: JSON.parse has checked them. */
function nestedEnd(text: string, start: number): number {
  const { length } = text;
  let depth = 0;
  for (let index = start; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === quote) {
      index = stringEnd(text, index) - 1;
    } else if (unit >= openBracket) {
      const brace = unit | braceBit;
      if (brace === openBrace) depth++;
      else if (brace === closeBrace && --depth === 0) return index + 1;
    }
  }
  return length;
}

const shortEscapes = new Map(
  Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', '/': '/' }),
);

/** Whether the inside of a string means `name`, escaped or not. */
function spells(text: string, start: number, end: number, name: string): boolean {
  let index = start;
  for (let position = 0; position < name.length; position++) {
    if (index >= end) return false;
    if (text.charCodeAt(index) !== backslash) {
      if (text.charCodeAt(index) !== name.charCodeAt(position)) return false;
      index++;
    } else if (text[index + 1] === 'u') {
      if (Number.parseInt(text.slice(index + 2, index + 6), 16) !== name.charCodeAt(position)) return false;
      index += 6;
    } else {
      if (shortEscapes.get(text[index + 1] ?? '') !== name[position]) return false;
      index += 2;
    }
  }
  return index === end;
}
