import { tryParse } from './json.ts';

/** Finds places in a JSON text that `JSON.parse` has accepted, in linear time. On any other text the scan ends, too. */

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

/** The members with this name, in any spelling, of the object that begins at or after `from`. */
export function findMembers(text: string, name: string, from = 0): MemberSpan[] {
  const found: MemberSpan[] = [];
  let index = skipSpace(text, from) + 1;
  while (index < text.length) {
    index = skipSpace(text, index);
    if (text.charCodeAt(index) !== quote) break;
    const nameEnd = stringEnd(text, index);
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = valueEnd(text, start);
    if (spells(text, index + 1, nameEnd - 1, name)) {
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

/** Tests for white space: in JSON nothing else is at or below U+0020. */
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

/** Most characters of a number; more than any amount has. */
const maxLength = 100;

/**
 * The number at a path of a JSON text exactly as it is written, e.g. `15000.10`, `9007199254740993` or `1e2`: the
 * digits that `JSON.parse` rounds away are still there. Decimal libraries accept it. Its exponent may be of any size
 * (`1e999999999`): compare it with a limit before you write it out.
 *
 * It is as authentic as the text. Where the signature is over the parsed value (serializations `compact`, `sorted`
 * and their base64), only the double is signed: anyone with a signed event can write other digits that
 * round to the same double.
 *
 * @param text the verified text (`text` of `verifyBody`, or of a webhook handler's context)
 * @param path the member's name, or names and array indexes from the outermost inwards
 * @returns `undefined` when there is no such member, when it is not a number or longer than 100
 *   characters, or when the text is not JSON
 * @example
 * ```ts
 * decimalLiteral('{"fiat_amount_to_pay":15000.10}', 'fiat_amount_to_pay'); // '15000.10'
 * ```
 */
export function decimalLiteral(
  text: string,
  path: string | readonly (string | number)[],
): string | undefined {
  const literal = valueAt(text, path);
  return literal !== undefined && isDecimal(literal) ? literal : undefined;
}

/**
 * The number at a path in plain digits (`0.0000001`, never `1E-07`), also where it is a text that is a decimal (ledger:
 * `event-readings`). `undefined` as for {@link decimalLiteral}, and where the plain digits are longer than 100 characters.
 */
export function decimalDigits(text: string, path: string | readonly (string | number)[]): string | undefined {
  const value = valueAt(text, path);
  const digits = value?.startsWith('"') ? String(JSON.parse(value)) : value;
  return digits !== undefined && isDecimal(digits) ? plainDigits(digits) : undefined;
}

/** Writes a decimal without its exponent, which may be of any size. */
function plainDigits(decimal: string): string | undefined {
  const [number = '', exponent] = decimal.split(/e/i);
  if (exponent === undefined) return decimal;
  const sign = number.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = number.slice(sign.length).split('.');
  const digits = whole + fraction;
  if (/^0+$/.test(digits)) return `${sign}0`;
  const point = whole.length + Number(exponent);
  if (Math.abs(point) > maxLength) return undefined;
  const padded = digits.padEnd(point, '0').padStart(digits.length + Math.max(0, 1 - point), '0');
  const wholes = Math.max(1, point);
  const rest = padded.slice(wholes);
  const plain = `${sign}${padded.slice(0, wholes).replace(/^0+(?=\d)/, '')}${rest && `.${rest}`}`;
  return plain.length <= maxLength ? plain : undefined;
}

/** Whether a text is a number as JSON writes it, of at most 100 characters. It may be beyond the largest double. */
export function isDecimal(text: string): boolean {
  return text.length <= maxLength && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
}

/** The JSON text of the value at a path. */
function valueAt(text: string, path: string | readonly (string | number)[]): string | undefined {
  // The scanner only works on JSON, and a caller's text may be anything.
  if (tryParse(text) === undefined) return undefined;
  let at: Span | undefined = { start: text.length - text.trimStart().length, end: text.length };
  for (const segment of typeof path === 'string' ? [path] : path) {
    at = step(text, at, segment);
    if (at === undefined) return undefined;
  }
  return text.slice(at.start, at.end).trim();
}

function step(text: string, at: Span, segment: string | number): Span | undefined {
  const opening = text[at.start];
  if (typeof segment === 'number') return opening === '[' ? findElement(text, segment, at.start) : undefined;
  // Of a repeated name the last one counts, as in JSON.parse.
  return opening === '{' ? findMembers(text, segment, at.start).at(-1)?.value : undefined;
}
